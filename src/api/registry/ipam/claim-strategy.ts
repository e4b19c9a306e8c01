/** IPAddressClaims: the CRD and the webhook of Cluster API 1.14. */
import { semanticEqual } from "../../meta/equality";
import { FIELD_IMMUTABLE, type FieldError, forbiddenField, invalidValue } from "../../meta/field-errors";
import { BASE_STRATEGY, dropStatus, keepStatus, takeStatusAlone } from "../base-strategy";
import type { Change, Strategy, StrategyContext } from "../resource";
import {
  type AddressClaim,
  CLAIM_FINALIZER,
  CLUSTER_CLAIMS_NAMESPACE,
  CLUSTER_CLAIMS_PREFIX,
  CLUSTER_RANGE_FINALIZER,
  CLUSTERS_MANAGER,
  holdWith,
  isPrefixPool,
  partsOfPoolKey,
  poolKeyOf,
  PREFIX_LENGTH,
  PREFIX_LENGTH_TEXT,
} from "./ipam";
import { checkLength, checkPoolReference } from "./references";

const CLUSTER_NAME_MAX = 63;
const LENGTH_FIELD = `metadata.annotations[${PREFIX_LENGTH}]`;

/** The address of a claim goes before the claim does. Claims on pools of other providers are theirs to hold. */
function hold(claim: AddressClaim): void {
  if (poolKeyOf(claim.spec?.poolRef, claim.metadata?.namespace) !== undefined) holdWith(claim, CLAIM_FINALIZER);
}

/** What keeps the range of a cluster that is there: its controller alone takes it away, also from a claim that is being deleted. */
function holdForCluster({ after, before }: Change<AddressClaim>, { controller }: StrategyContext): void {
  const { namespace, name, finalizers } = before.metadata ?? {};
  const isOfCluster = namespace === CLUSTER_CLAIMS_NAMESPACE && name?.startsWith(CLUSTER_CLAIMS_PREFIX);
  if (isOfCluster && controller !== CLUSTERS_MANAGER && finalizers?.includes(CLUSTER_RANGE_FINALIZER))
    holdWith(after, CLUSTER_RANGE_FINALIZER);
}

function validate(claim: AddressClaim, { requestVersion }: StrategyContext, before?: AddressClaim): FieldError[] {
  const errors: FieldError[] = [];
  const { spec } = claim;
  const { clusterName } = spec ?? {};
  if (clusterName !== undefined && clusterName !== "") checkLength("spec.clusterName", clusterName, CLUSTER_NAME_MAX, errors);
  // What is stored may have come in the other version.
  if (!before || !semanticEqual(before.spec?.poolRef, spec?.poolRef))
    checkPoolReference("spec.poolRef", spec?.poolRef, errors, requestVersion);
  if (!before) checkLengthAsked(claim, errors);
  return errors;
}

/** At a claim on a pool of somebody else the text says nothing. */
function checkLengthAsked({ metadata, spec }: AddressClaim, errors: FieldError[]): void {
  const text = metadata?.annotations?.[PREFIX_LENGTH];
  const pool = poolKeyOf(spec?.poolRef, metadata?.namespace);
  if (text === undefined || pool === undefined) return;
  if (!isPrefixPool(partsOfPoolKey(pool).kind)) errors.push(forbiddenField(LENGTH_FIELD, "a pool of addresses gives out no prefixes"));
  else if (!PREFIX_LENGTH_TEXT.test(text)) errors.push(invalidValue(LENGTH_FIELD, text, "must be a number from 1 to 128"));
}

function validateUpdate({ after, before }: Change<AddressClaim>): FieldError[] {
  const errors = semanticEqual(after.spec, before.spec) ? [] : [forbiddenField("spec", "IPAddressClaim spec is immutable")];
  const lengths = [after, before].map(({ metadata }) => metadata?.annotations?.[PREFIX_LENGTH]);
  const pool = poolKeyOf(before.spec?.poolRef, before.metadata?.namespace);
  if (pool !== undefined && lengths[0] !== lengths[1]) errors.push(invalidValue(LENGTH_FIELD, lengths[0] ?? "", FIELD_IMMUTABLE));
  return errors;
}

export const claimStrategy: Strategy<AddressClaim> = {
  ...BASE_STRATEGY,
  prepareForCreate(claim) {
    dropStatus(claim);
    hold(claim);
  },
  validate,
  prepareForUpdate(change, context) {
    keepStatus(change);
    if (!change.before.metadata?.deletionTimestamp) hold(change.after);
    holdForCluster(change, context);
  },
  validateUpdate,
  prepareForStatusUpdate: takeStatusAlone,
};
