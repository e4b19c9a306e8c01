/** What the store of addresses of a cluster says to the controller of pools where the root gives no address: the cause is the reason of the claim's condition. */
import { conflict, type Status } from "../api/meta/status";
import { poolAddressesDefinition } from "../api/registry/ipam/definitions";
import { keyAtRoot, keyOfPool, type PoolKey, poolText } from "../api/registry/ipam/ipam";
import type { FleetAnswer } from "../api/rpc/fleet-pools";
import { type ClaimFinding, exhausted, failed, noPool } from "./claim-status";

const FIELD = "spec.poolRef";

/** The claim waits, and is told nothing. */
const SILENT = "Paused";

function findingOf(pool: PoolKey, kind: Exclude<FleetAnswer["kind"], "given">): ClaimFinding | undefined {
  switch (kind) {
    case "noPool":
      return noPool(pool, false);
    case "full":
      return exhausted(keyAtRoot(pool), undefined);
    case "comparing":
      return failed(`the pools of the root are being compared with all clusters`);
    case "taken":
      return failed(`the address of ${poolText(keyAtRoot(pool))} is somebody else's`);
    case "paused":
      return undefined;
  }
}

export function refusedByRoot(name: string, kind: Exclude<FleetAnswer["kind"], "given">): Status {
  const { reason = SILENT, message = "" } = findingOf(keyOfPool("GlobalInClusterIPPool", { metadata: { name } }), kind) ?? {};
  const status = conflict(poolAddressesDefinition, name, message);
  return { ...status, details: { ...status.details, causes: [{ reason, message, field: FIELD }] } };
}

/** `finding`: what the claim is told; absent = nothing. undefined = the answer is no refusal of the root's. */
export function refusalByRoot({ code, details }: Status): { finding?: ClaimFinding } | undefined {
  const cause = code === 409 ? details?.causes?.find(({ field }) => field === FIELD) : undefined;
  if (!cause) return undefined;
  const { reason = SILENT, message = "" } = cause;
  return reason === SILENT ? {} : { finding: { status: "False", reason, message } };
}

/** Whether the root has such a pool for the cluster, as far as its refusal says. */
export function isFoundAtRoot({ reason }: ClaimFinding): boolean {
  return reason !== "PoolNotReady";
}
