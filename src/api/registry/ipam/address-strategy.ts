/** IPAddresses of pools: the CRD and the webhook of Cluster API 1.14. */
import { parseAddress } from "../../../core/net/address";
import { widthOf } from "../../../core/net/family";
import { semanticEqual } from "../../meta/equality";
import { type FieldError, forbiddenField, invalidValue, required } from "../../meta/field-errors";
import { BASE_STRATEGY } from "../base-strategy";
import type { Change, Strategy, StrategyContext } from "../resource";
import { holdForFleet, setRootRow } from "./fleet-rows";
import { ADDRESS_FINALIZER, holdWith, isPrefixPool, partsOfPoolKey, type PoolAddress, poolKeyOf } from "./ipam";
import { networkAround } from "./pool-ranges";
import { checkPoolReference, checkReferredName } from "./references";
import { holdForService } from "./service-row";

const NO_ADDRESS = "not a valid IP address";

function validate({ metadata, spec }: PoolAddress, { requestVersion }: StrategyContext, before?: PoolAddress): FieldError[] {
  const errors: FieldError[] = [];
  const { claimRef, poolRef, address = "", prefix, gateway = "" } = spec ?? {};
  checkReferredName("spec.claimRef.name", claimRef?.name, errors);
  if (!before || !semanticEqual(before.spec?.poolRef, poolRef)) checkPoolReference("spec.poolRef", poolRef, errors, requestVersion);
  const parsed = parseAddress(address);
  if (address === "") errors.push(required("spec.address"));
  else if (!parsed.ok) errors.push(invalidValue("spec.address", address, NO_ADDRESS));
  if (prefix === undefined) errors.push(required("spec.prefix"));
  else if (prefix < 0) errors.push(invalidValue("spec.prefix", prefix, "prefix cannot be negative"));
  else if (parsed.ok && prefix > widthOf(parsed.value.family))
    errors.push(invalidValue("spec.prefix", prefix, `prefix is too large for an ${parsed.value.family} address`));
  else if (prefix > widthOf("IPv6")) errors.push(invalidValue("spec.prefix", prefix, "prefix is too large for an IPv6 address"));
  else if (parsed.ok && !before && isOfPrefixPool({ metadata, spec })) {
    const { family, value } = parsed.value;
    if (networkAround(family, value, prefix).first !== value)
      errors.push(invalidValue("spec.address", address, "must be the first address of its prefix"));
  }
  if (gateway !== "" && !parseAddress(gateway).ok) errors.push(invalidValue("spec.gateway", gateway, NO_ADDRESS));
  return errors;
}

function validateUpdate({ after, before }: Change<PoolAddress>): FieldError[] {
  return semanticEqual(after.spec, before.spec) ? [] : [forbiddenField("spec", "IPAddress spec is immutable")];
}

function isOfPrefixPool({ metadata, spec }: Pick<PoolAddress, "metadata" | "spec">): boolean {
  const pool = poolKeyOf(spec?.poolRef, metadata?.namespace);
  return pool !== undefined && isPrefixPool(partsOfPoolKey(pool).kind);
}

/** Whether a claim has it. Addresses of pools of other providers are theirs to hold. */
function isClaimed({ metadata, spec }: PoolAddress): boolean {
  if (poolKeyOf(spec?.poolRef, metadata?.namespace) === undefined) return false;
  return metadata?.ownerReferences?.some(({ kind, controller }) => kind === "IPAddressClaim" && controller) ?? false;
}

export const addressStrategy: Strategy<PoolAddress> = {
  ...BASE_STRATEGY,
  // The store names the row where there is one.
  prepareForCreate: (address) => setRootRow(address, undefined),
  validate,
  prepareForUpdate({ after, before }) {
    holdForService(after, before);
    holdForFleet(after, before);
    // What a claim has is held: no client takes that away before its deletion.
    if (!before.metadata?.deletionTimestamp && (isClaimed(before) || isClaimed(after))) holdWith(after, ADDRESS_FINALIZER);
  },
  validateUpdate,
};
