/** What the status of a Cluster says. Conditions keep the time of their last change (upstream: apimachinery's SetStatusCondition). */
import type { Condition } from "../api/meta/kubernetes";
import { rfc3339Seconds } from "../api/meta/time";
import { type Cluster, type ClusterObjectStatus, pathOfCluster } from "../api/registry/clusters/cluster";
import type { ClusterState } from "../tenancy/rpc";
import { locationOf } from "../tenancy/cluster-id";

const READY = "Ready";
const DELETING = "Deleting";

type Finding = Pick<Condition, "status" | "reason" | "message">;

const ACTIVE: Finding = { status: "True", reason: "ClusterActive", message: "the cluster can be used" };
const BEING_DELETED: Finding = { status: "False", reason: "ClusterDeleting", message: "the cluster is being deleted" };

/**
 * The status of a cluster that can be used as its spec says.
 *
 * @param given the range out of its pool; undefined = the spec says its ranges
 * @param begun with which ranges the cluster has begun; undefined = the status says so, or nobody has looked
 */
export function activeStatus(
  object: Cluster,
  state: ClusterState,
  now: number,
  begun: readonly string[] | undefined,
  given?: string,
): ClusterObjectStatus {
  const { location = "", serviceCIDRs: said = [] } = object.spec ?? {};
  const serviceCIDRs = given === undefined ? said : [given];
  const actual = state.phase === "absent" ? "" : (locationOf(state.id) ?? "");
  const own = (state.phase === "active" && state.serviceRanges) || undefined;
  const isSaid = state.phase !== "absent" && object.status?.id === state.id;
  // What was found at the beginning counts: an object of the release before knows no ranges of its own, and begins with the server's.
  const ranges = begun ?? (isSaid ? object.status?.serviceCIDRs : undefined) ?? own;
  const elsewhere: Finding = {
    status: "False",
    reason: "OtherLocation",
    message: `the cluster was there before its object: it is ${actual === "" ? "near its first callers" : `in ${actual}`}, and does not move`,
  };
  const otherwise: Finding = {
    status: "False",
    reason: "OtherServiceCIDRs",
    message: `the cluster has begun with ${ranges ? ranges.join(", ") : "the ranges of the server"}, and keeps them`,
  };
  const hasOthers = serviceCIDRs.length > 0 && serviceCIDRs.join() !== ranges?.join();
  const ready = location !== "" && location !== actual ? elsewhere : hasOthers ? otherwise : ACTIVE;
  const facts: ClusterObjectStatus = {
    phase: "Active",
    ...(state.phase !== "absent" && { id: state.id }),
    ...(actual !== "" && { location: actual }),
    ...(ranges && { serviceCIDRs: [...ranges] }),
  };
  return status(object, facts, { [READY]: ready }, now);
}

/** The status of a cluster whose name is still that of another one, which is being deleted. */
export function waitingStatus(object: Cluster, now: number): ClusterObjectStatus {
  return pendingStatus(object, { status: "False", reason: "NameInUse", message: "an earlier cluster of this name is being deleted" }, now);
}

/** The status of a cluster whose pool has given it no range yet. */
export function rangelessStatus(object: Cluster, because: string, now: number): ClusterObjectStatus {
  return pendingStatus(object, { status: "False", reason: "WaitingForRange", message: because }, now);
}

function pendingStatus(object: Cluster, ready: Finding, now: number): ClusterObjectStatus {
  const { observedGeneration: _, ...pending } = status(object, { phase: "Pending" }, { [READY]: ready }, now);
  return pending;
}

/** The status of a cluster that is being deleted, with how far that is. */
export function deletingStatus(object: Cluster, state: ClusterState & { phase: "deleting" }, now: number): ClusterObjectStatus {
  const { objects, wiped, id } = state;
  const deleting: Finding = { status: "True", reason: "Wiping", message: `${wiped} of ${objects} parts of the cluster are empty` };
  const location = locationOf(id);
  const facts = { phase: "Terminating", id, objects, wiped, ...(location !== undefined && { location }) } as const;
  return status(object, facts, { [READY]: BEING_DELETED, [DELETING]: deleting }, now);
}

function status(
  { metadata, status: before }: Cluster,
  facts: ClusterObjectStatus,
  findings: Readonly<Record<string, Finding>>,
  now: number,
): ClusterObjectStatus {
  const observedGeneration = metadata?.generation ?? 0;
  const others = (before?.conditions ?? []).filter(({ type }) => !Object.hasOwn(findings, type));
  const conditions = Object.entries(findings).map(([type, finding]): Condition => {
    const known = before?.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = known?.status === finding.status ? known.lastTransitionTime : rfc3339Seconds(now);
    return { type, ...finding, observedGeneration, lastTransitionTime };
  });
  return { ...facts, url: pathOfCluster(metadata?.name ?? ""), observedGeneration, conditions: [...others, ...conditions] };
}
