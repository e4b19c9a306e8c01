/**
 * What the controller "proxy-health" tells a shard, which is one of the objects that keep the health of a cluster's nodes.
 *
 * A change says how each node in it is now, never what is different. So it may come twice, and one that overlaps another does no harm.
 */
import type { NodeFacts } from "../rules/eligibility";
import type { Family } from "../../core/net/family";

/**
 * How much of the controller's knowledge somebody has. Cursors are ordered: first by epoch, then by sequence. No two changes have the same cursor, also
 * where the controller's rows went back to an earlier time.
 */
export interface Cursor {
  /** when the life of the controller's memory began that made the change, in ms since the epoch */
  readonly epoch: number;
  /** number of the change; it is on the controller's disk before anybody hears of it */
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
  /** absent = not known yet: those that the shard has go on */
  readonly counts?: LocalCounts;
}

export interface ShardChange {
  /** Only a shard with this cursor can go on with the change. Absent: it is the whole state, and what it lacks is gone. */
  readonly from?: Cursor;
  readonly to: Cursor;
  /** by name; null = the API has no such Node any more */
  readonly nodes: Readonly<Record<string, PushedNode | null>>;
  /** all checks of the cluster; absent = they did not change, or are not known yet: those that the shard has go on */
  readonly checks?: readonly ServiceCheck[];
}

/** Negative: `a` is the older one. */
export function compareCursors(a: Cursor, b: Cursor): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}

export function sameCursor(a: Cursor, b: Cursor): boolean {
  return compareCursors(a, b) === 0;
}
