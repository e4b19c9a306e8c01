/** What an object with the health of nodes tells its controller for /metrics: how it answered checks, and how its nodes are. */
import type { HealthPath } from "../../api/meta/proxy-health";

/** Of a node with an agent. `late`: a change waits too long, or the proxy itself says that it is not healthy. */
export const NODE_STATES = ["healthy", "late", "silent"] as const;
export type NodeState = (typeof NODE_STATES)[number];
export type NodeStates = Readonly<Record<NodeState, number>>;

/** `/healthz 200`, `/livez 503`, … */
export type AnswerKind = `${HealthPath} ${200 | 503}`;
/** A kind that has not occurred is absent. */
export type AnswerCounts = Readonly<Partial<Record<AnswerKind, number>>>;

export interface HealthTally {
  /** when the memory of the object began, in ms since the epoch: tells its lives apart, and says which is later */
  readonly life: number;
  /** since then: told twice, it counts once */
  readonly answers: AnswerCounts;
  readonly nodes: NodeStates;
}

/** Of all objects of a cluster. */
export interface HealthCounts {
  readonly answers: AnswerCounts;
  readonly nodes: NodeStates;
}

export function addedAnswers(one: AnswerCounts, other: AnswerCounts): AnswerCounts {
  const sum: Partial<Record<AnswerKind, number>> = { ...one };
  for (const [kind, count] of Object.entries(other) as [AnswerKind, number][]) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}
