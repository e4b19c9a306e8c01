/**
 * What the controller "proxy-health" tells a shard, which is one of the objects that keep the health of a cluster's nodes.
 *
 * A change says how each node in it is now, never what is different. So it may come twice, and one that overlaps another does no harm.
 */
import type { NodeFacts } from "../../api/meta/proxy-health";
import type { Family } from "../../core/net/family";

/** How much of the controller's knowledge somebody has. Cursors are ordered: first by epoch, then by sequence. */
export interface Cursor {
  /** when the controller's rows began, in ms since the epoch: larger once they were lost */
  readonly epoch: number;
  /** number of the controller's last change; it is on the controller's disk before anybody hears of it */
  readonly sequence: number;
}

/** A Service whose local endpoints load balancers ask for. */
export interface ServiceCheck {
  readonly namespace: string;
  readonly name: string;
  /** its healthCheckNodePort */
  readonly port: number;
  /** those of its ClusterIPs, in their order */
  readonly families: readonly Family[];
}

/** Distinct ready addresses on a node, by Service (`namespace/name`) and family. What is 0 is absent. */
export type LocalCounts = Readonly<Record<string, Readonly<Partial<Record<Family, number>>>>>;

export interface PushedNode {
  readonly facts: NodeFacts;
  readonly counts: LocalCounts;
}

export interface ShardChange {
  /** The change goes on from here. Absent: it is the whole state, and what it lacks is gone. */
  readonly from?: Cursor;
  readonly to: Cursor;
  /** by name; null = the API has no such Node any more */
  readonly nodes: Readonly<Record<string, PushedNode | null>>;
  /** all checks of the cluster; absent = those that the shard has */
  readonly checks?: readonly ServiceCheck[];
}

/** Negative: `a` is the older one. */
export function compareCursors(a: Cursor, b: Cursor): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}

/** Whether somebody with the cursor `own` can go on with the change. */
export function goesOnFrom(own: Cursor | undefined, { from }: Pick<ShardChange, "from">): boolean {
  return from === undefined || (own !== undefined && own.epoch === from.epoch && own.sequence >= from.sequence);
}
