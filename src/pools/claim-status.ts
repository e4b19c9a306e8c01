/** What the status of a claim says. Reasons: Cluster API's (api/ipam/v1beta2); a condition keeps the time of its last change. */
import type { Condition } from "../api/meta/kubernetes";
import { rfc3339Seconds } from "../api/meta/time";
import { type AddressClaim, type EarlierCondition, isPrefixPool, partsOfPoolKey, type PoolKey, poolText } from "../api/registry/ipam/ipam";
import { READY } from "./known-pools";

export type ClaimFinding = Pick<Condition, "status" | "reason" | "message">;

export const HAS_ADDRESS: ClaimFinding = { status: "True", reason: "Ready", message: "" };

/** Where the pool of a claim is that could be of two clusters. */
export type PoolPlace = "InThisCluster" | "AtRoot";

/** Its reason is a PoolPlace. */
const POOL_FOUND = "PoolFound";

/** The condition's `status/reason`, as facts have it. */
export function textOf({ status, reason }: ClaimFinding): string {
  return `${status}/${reason}`;
}

export function noPool(pool: PoolKey, isDeleted: boolean): ClaimFinding {
  const why = isDeleted ? "is being deleted" : "does not exist";
  return { status: "False", reason: "PoolNotReady", message: `${poolText(pool)} ${why}` };
}

/** @param length that the claim asks for */
export function exhausted(pool: PoolKey, length: number | undefined): ClaimFinding {
  const missing = isPrefixPool(partsOfPoolKey(pool).kind) ? (length === undefined ? "prefix" : `prefix of length ${length}`) : "address";
  return { status: "False", reason: "PoolExhausted", message: `no ${missing} available in ${poolText(pool)}` };
}

export function allRefused(pool: PoolKey): ClaimFinding {
  return failed(`the store of addresses refuses what is free in ${poolText(pool)}`);
}

export function tooLong(pool: PoolKey, length: number, unit: number): ClaimFinding {
  return failed(`${poolText(pool)} gives out prefixes of length ${unit}, and none of length ${length}`);
}

export function failed(message: string): ClaimFinding {
  return { status: "False", reason: "AllocationFailed", message };
}

/** `place`: absent = the claim can have one place alone, or nobody has found its pool */
export function claimStatus(
  claim: AddressClaim,
  finding: ClaimFinding,
  { address, place, now }: { address?: string | undefined; place?: PoolPlace | undefined; now: number },
): AddressClaim["status"] {
  const { conditions = [], deprecated } = claim.status ?? {};
  const conditionOf = (type: string, found: ClaimFinding): Condition => {
    const known = conditions.find((condition) => condition.type === type);
    const lastTransitionTime = known?.status === found.status ? known.lastTransitionTime : rfc3339Seconds(now);
    return { type, ...found, observedGeneration: claim.metadata?.generation ?? 0, lastTransitionTime };
  };
  const ready = conditionOf(READY, finding);
  const found = place && conditionOf(POOL_FOUND, { status: "True", reason: place, message: TEXT_OF_PLACE[place] });
  const earlier = deprecated?.v1beta1?.conditions ?? [];
  return {
    ...(address !== undefined && { addressRef: { name: address } }),
    conditions: [...conditions.filter(({ type }) => type !== READY && type !== POOL_FOUND), ready, ...(found ? [found] : [])],
    deprecated: { ...deprecated, v1beta1: { conditions: [...earlier.filter(({ type }) => type !== READY), earlierForm(ready)] } },
  };
}

const TEXT_OF_PLACE: Readonly<Record<PoolPlace, string>> = {
  InThisCluster: "the pool is one of this cluster",
  AtRoot: "the pool is one of the root, which serves this cluster",
};

/** For clients of v1beta1, which read conditions of their own. */
function earlierForm({ type, status, reason, message, lastTransitionTime }: Condition): EarlierCondition {
  if (status === "True") return { type, status, lastTransitionTime };
  return { type, status, severity: "Warning", lastTransitionTime, reason, message };
}
