/** What the status of a claim says. Reasons: Cluster API's (api/ipam/v1beta2); a condition keeps the time of its last change. */
import type { Condition } from "../api/meta/kubernetes";
import { rfc3339Seconds } from "../api/meta/time";
import { type AddressClaim, type EarlierCondition, isPrefixPool, partsOfPoolKey, type PoolKey, poolText } from "../api/registry/ipam/ipam";
import { READY } from "./known-pools";

export type ClaimFinding = Pick<Condition, "status" | "reason" | "message">;

export const HAS_ADDRESS: ClaimFinding = { status: "True", reason: "Ready", message: "" };

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

export function claimStatus(claim: AddressClaim, finding: ClaimFinding, address: string | undefined, now: number): AddressClaim["status"] {
  const { conditions = [], deprecated } = claim.status ?? {};
  const known = conditions.find(({ type }) => type === READY);
  const lastTransitionTime = known?.status === finding.status ? known.lastTransitionTime : rfc3339Seconds(now);
  const observedGeneration = claim.metadata?.generation ?? 0;
  const ready: Condition = { type: READY, ...finding, observedGeneration, lastTransitionTime };
  const earlier = deprecated?.v1beta1?.conditions ?? [];
  return {
    ...(address !== undefined && { addressRef: { name: address } }),
    conditions: [...conditions.filter(({ type }) => type !== READY), ready],
    deprecated: { ...deprecated, v1beta1: { conditions: [...earlier.filter(({ type }) => type !== READY), earlierForm(ready)] } },
  };
}

/** For clients of v1beta1, which read conditions of their own. */
function earlierForm({ type, status, reason, message, lastTransitionTime }: Condition): EarlierCondition {
  if (status === "True") return { type, status, lastTransitionTime };
  return { type, status, severity: "Warning", lastTransitionTime, reason, message };
}
