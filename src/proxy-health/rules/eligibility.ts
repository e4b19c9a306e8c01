/** Which nodes should get new connections (KEP-3836; upstream pkg/proxy/node.go, release 1.36). */
import type { Node } from "../../api/meta/kubernetes";
import { parseTime } from "../../api/meta/time";

/** A taint with this key: the cluster autoscaler is deleting the node. */
const TAINT_TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler";

/** What of a Node decides whether it should get new connections. */
export interface NodeFacts {
  /** tells a Node from a later one of the same name; absent in rows of older releases */
  readonly uid?: string;
  /** its creationTimestamp, in ms since the epoch: whole seconds */
  readonly createdAt?: number;
  /** it has a deletionTimestamp */
  readonly isTerminating: boolean;
  /** keys of its taints */
  readonly taints: readonly string[];
}

export function nodeFacts({ metadata, spec }: Node): NodeFacts {
  const { uid, creationTimestamp, deletionTimestamp } = metadata ?? {};
  const createdAt = parseTime(creationTimestamp);
  return {
    ...(uid && { uid }),
    ...(createdAt !== undefined && { createdAt }),
    isTerminating: Boolean(deletionTimestamp),
    taints: spec?.taints?.map(({ key }) => key) ?? [],
  };
}

/**
 * Whether a node should get new connections. Nobody takes traffic away from a node that is only cordoned. undefined = no Node was seen yet.
 *
 * @param drainingTaints keys of further taints that say that a node is about to go
 */
export function isEligible(node: NodeFacts | undefined, drainingTaints: readonly string[] = []): boolean {
  if (!node || node.isTerminating) return false;
  return !node.taints.some((key) => key === TAINT_TO_BE_DELETED || drainingTaints.includes(key));
}
