/** The life of a hand-off: when its source may begin it, whether it may go on, and how long it rests after a failure. */
import { HANDOFF_TIMEOUT_MS } from "../../rpc/limits";
import type { Move } from "../../topology/moves";
import type { HandoffRow } from "./coordinator-storage";
import type { TopologyView } from "./topology-view";

/** An attempt that takes longer no longer keeps its source from beginning others. */
const PATIENCE_MS = 2_000;
/** Rests double. The first ones are short, for calls that were only lost; the later ones follow a freeze or a wait, which cost more. */
const SHORT_REST_FIRST_MS = 100;
const SHORT_RESTS = 6;
const REST_FIRST_MS = 5_000;
const REST_MAX_MS = 300_000;

/** Whether the source may begin further attempts: its last ones are committed, or have had their time. */
export function mayBegin(view: TopologyView, sourceUid: string, nowMs: number): boolean {
  return view.handoffsOf(sourceUid).every(({ phase, dueAt }) => phase !== "copying" || nowMs >= dueAt - HANDOFF_TIMEOUT_MS + PATIENCE_MS);
}

/** The moves of a source to targets that it is not handing over to yet, and that did not fail just now. */
export function openMoves(view: TopologyView, sourceUid: string, nowMs: number): Move[] {
  const rows = view.handoffsOf(sourceUid).filter(({ phase, dueAt }) => phase !== "resting" || nowMs < dueAt);
  const busy = new Set(rows.map(({ targetUid }) => targetUid));
  return view.movesOf(sourceUid).filter((move) => !busy.has(move.targetUid));
}

/** Whether a hand-off that is under way may go on: it is in time, and the target covers what comes (rules 12 and 16). */
export function isWorthIt(view: TopologyView, row: HandoffRow, nowMs: number): boolean {
  return nowMs < row.dueAt && row.prefixes.every((prefix) => view.covers(row.targetUid, prefix));
}

/** Whether nothing will ever go from this source to this target again. */
export function isPointless(view: TopologyView, { sourceUid, targetUid }: HandoffRow): boolean {
  return view.claimsOf(sourceUid).length === 0 || !view.cidrs.has(targetUid);
}

/**
 * The row of an attempt that is given up: nothing is frozen, and the next attempt may begin later the more have failed. `isLost`: a first call
 * to the target was lost before anything was frozen, so the rest is short.
 */
export function rested(row: HandoffRow, nowMs: number, isLost = false): HandoffRow {
  const failures = isLost ? row.failures : Math.max(row.failures, SHORT_RESTS);
  const isShort = failures < SHORT_RESTS;
  const restMs = isShort ? SHORT_REST_FIRST_MS * 2 ** failures : Math.min(REST_FIRST_MS * 2 ** (failures - SHORT_RESTS), REST_MAX_MS);
  return { ...row, phase: "resting", prefixes: [], dueAt: nowMs + restMs, failures: failures + 1 };
}

/** The times (ms) at which a hand-off has to be looked at although nothing happens to it. */
export function lookTimes({ phase, dueAt }: HandoffRow): number[] {
  return phase === "copying" ? [dueAt, dueAt - HANDOFF_TIMEOUT_MS + PATIENCE_MS] : [dueAt];
}
