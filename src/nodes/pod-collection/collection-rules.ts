/**
 * Which Pods the collector deletes: upstream's four classes (pkg/controller/podgc), and one that is this server's own.
 *
 * A Pod that is being deleted waits for the kubelet of its Node. A Node that is only a name has no kubelet, so the Pod would stay for ever, and
 * `kubectl delete pod` would hang. Such a Pod is deleted when its grace period is over and Ready of its Node is Unknown. The node lifecycle
 * controller makes Ready Unknown for each Node without a heartbeat. It alone can tell a Node without a kubelet from one whose kubelet only renews its
 * Lease.
 */
import { objectKey } from "../../api/store/state/keys";
import type { CollectedNodes } from "./collected-nodes";
import type { CollectedPod, CollectedPods } from "./collected-pods";

export type CollectionClass = "terminated" | "out-of-service" | "silent-node" | "orphaned" | "unscheduled";

export interface CollectionFacts {
  pods: Pick<CollectedPods, "get" | "on" | "terminating" | "terminated">;
  nodes: Pick<CollectedNodes, "get">;
  /** Nodes that are known to be gone */
  goneNodes: readonly string[];
}

export interface CollectionSetting {
  /** Pods that have ended are kept up to this number; 0 = all of them */
  terminatedThreshold: number;
}

export interface Collection {
  /** by key; a Pod of several classes has the first of upstream's order */
  readonly due: ReadonlyMap<string, CollectionClass>;
  /** when the next Pod may become due with nothing changed, in milliseconds since the epoch; undefined = none will */
  readonly againAt: number | undefined;
}

export function collectionOf({ pods, nodes, goneNodes }: CollectionFacts, setting: CollectionSetting, nowMs: number): Collection {
  const due = new Map<string, CollectionClass>();
  const collect = (key: string, why: CollectionClass): void => {
    if (!due.has(key) && !pods.get(key)?.isDone) due.set(key, why);
  };
  let againAt = Infinity;
  for (const key of surplus(pods, setting.terminatedThreshold)) collect(key, "terminated");
  for (const key of pods.terminating) {
    const { node: name = "", deletedAt = 0, isDone } = pods.get(key) ?? {};
    const node = nodes.get(name);
    if (isDone || !node) continue;
    if (node.isOutOfService && node.ready !== "True") {
      collect(key, "out-of-service");
      continue;
    }
    if (node.ready !== "Unknown") continue;
    if (deletedAt <= nowMs) collect(key, "silent-node");
    else againAt = Math.min(againAt, deletedAt);
  }
  for (const name of goneNodes) for (const key of pods.on(name)) collect(key, "orphaned");
  for (const key of pods.terminating) if (pods.get(key)?.node === "") collect(key, "unscheduled");
  return { due, againAt: againAt === Infinity ? undefined : againAt };
}

/** The ended Pods beyond the threshold: evicted ones first, then the oldest (upstream byEvictionAndCreationTimestamp). */
function surplus(pods: CollectionFacts["pods"], threshold: number): string[] {
  const count = pods.terminated.size - threshold;
  if (threshold === 0 || count <= 0) return [];
  const ended = [...pods.terminated].map((key) => ({ key, name: objectKey(key).name, ...pods.get(key)?.terminated }));
  ended.sort(
    (a, b) =>
      Number(b.isEvicted ?? false) - Number(a.isEvicted ?? false) ||
      (a.createdAt ?? 0) - (b.createdAt ?? 0) ||
      (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
  return ended.slice(0, count).map(({ key }) => key);
}

/** Whether both say the same of a Pod. */
export function isSamePod(a: CollectedPod | undefined, b: CollectedPod | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
