/** What an object with the health of nodes tells its controller for /metrics: how it answered checks, and how its nodes are. */
import { leastOf } from "../../core/base/extremes";
import type { HealthPath } from "../rules/health-answer";
import { FAMILIES, type Family } from "../../core/net/family";

/** States of a node with an agent. `late`: a change waits too long, or the proxy itself says that it is not healthy. */
export const NODE_STATES = ["healthy", "late", "silent"] as const;
export type AgentState = (typeof NODE_STATES)[number];
export type NodeStates = Readonly<Record<AgentState, number>>;

/** One family on the nodes whose agents are not silent, as they reported last. All times are ms since the epoch, of the server's clock. */
export interface FamilyState {
  /** nodes where it is late */
  readonly late: number;
  /** the oldest change that waits; absent = no node says that one does */
  readonly queuedSince?: number;
  /** the oldest of the last syncs; absent = no node says when it was */
  readonly syncedAt?: number;
}

/** A family that no node reports is absent. */
export type FamilyStates = Readonly<Partial<Record<Family, FamilyState>>>;

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
  /** absent in rows of an earlier release */
  readonly families?: FamilyStates;
}

/** The sums of all objects of a cluster. */
export interface HealthCounts {
  readonly answers: AnswerCounts;
  readonly nodes: NodeStates;
  /** absent from an object of an earlier release */
  readonly families?: FamilyStates;
}

export function addedAnswers(one: AnswerCounts, other: AnswerCounts): AnswerCounts {
  const sum: Partial<Record<AnswerKind, number>> = { ...one };
  for (const [kind, count] of Object.entries(other) as [AnswerKind, number][]) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}

export function joinedFamilies(one: FamilyStates, other: FamilyStates): FamilyStates {
  const joined = FAMILIES.flatMap((family) => {
    const found = [one[family], other[family]].filter((state) => state !== undefined);
    if (found.length === 0) return [];
    const queuedSince = leastOf(found.map((state) => state.queuedSince ?? Infinity));
    const syncedAt = leastOf(found.map((state) => state.syncedAt ?? Infinity));
    const late = found.reduce((sum, state) => sum + state.late, 0);
    return [[family, { late, ...(queuedSince < Infinity && { queuedSince }), ...(syncedAt < Infinity && { syncedAt }) }] as const];
  });
  return Object.fromEntries(joined);
}
