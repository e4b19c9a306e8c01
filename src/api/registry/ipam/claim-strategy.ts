/** IPAddressClaims: the CRD and the webhook of Cluster API 1.14. */
import { semanticEqual } from "../../meta/equality";
import { type FieldError, forbiddenField } from "../../meta/field-errors";
import { BASE_STRATEGY, dropStatus, keepStatus, takeStatusAlone } from "../base-strategy";
import type { Change, Strategy, StrategyContext } from "../resource";
import { type AddressClaim, CLAIM_FINALIZER, holdWith, poolKeyOf } from "./ipam";
import { checkLength, checkPoolReference } from "./references";

const CLUSTER_NAME_MAX = 63;

/** The address of a claim goes before the claim does. Claims on pools of other providers are theirs to hold. */
function hold(claim: AddressClaim): void {
  if (poolKeyOf(claim.spec?.poolRef, claim.metadata?.namespace) !== undefined) holdWith(claim, CLAIM_FINALIZER);
}

function validate({ spec }: AddressClaim, { requestVersion }: StrategyContext, before?: AddressClaim): FieldError[] {
  const errors: FieldError[] = [];
  const { clusterName } = spec ?? {};
  if (clusterName !== undefined && clusterName !== "") checkLength("spec.clusterName", clusterName, CLUSTER_NAME_MAX, errors);
  // What is stored may have come in the other version.
  if (!before || !semanticEqual(before.spec?.poolRef, spec?.poolRef))
    checkPoolReference("spec.poolRef", spec?.poolRef, errors, requestVersion);
  return errors;
}

function validateUpdate({ after, before }: Change<AddressClaim>): FieldError[] {
  return semanticEqual(after.spec, before.spec) ? [] : [forbiddenField("spec", "IPAddressClaim spec is immutable")];
}

export const claimStrategy: Strategy<AddressClaim> = {
  ...BASE_STRATEGY,
  prepareForCreate(claim) {
    dropStatus(claim);
    hold(claim);
  },
  validate,
  prepareForUpdate(change) {
    keepStatus(change);
    if (!change.before.metadata?.deletionTimestamp) hold(change.after);
  },
  validateUpdate,
  prepareForStatusUpdate: takeStatusAlone,
};
