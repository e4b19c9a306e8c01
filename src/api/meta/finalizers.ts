/**
 * What DELETE does to an object (upstream apiserver registry/rest/delete.go and generic/registry/store.go).
 *
 *   nothing holds it and its grace is over   -> remove
 *   finalizers, a kind's own hold, or grace  -> mark: deletionTimestamp is set, the object stays
 *   already marked, nothing new              -> keep
 */
import { type Int64, nearestInt64 } from "../../core/base/exact-json";
import type { ObjectMeta } from "./kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "./object-meta";
import { parseTime, rfc3339Seconds } from "./time";

export type PropagationPolicy = "" | "Background" | "Foreground" | "Orphan";

export interface DeletionRequest {
  propagationPolicy: PropagationPolicy;
  /** seconds that the kind grants (0 for all but pods) */
  graceSeconds: Int64;
  /** something besides metadata.finalizers keeps the object (a namespace's spec.finalizers) */
  held: boolean;
  /** milliseconds since the epoch */
  now: number;
}

/** The changes of metadata when an object is marked. */
export interface DeletionMark {
  finalizers: string[];
  deletionTimestamp: string;
  deletionGracePeriodSeconds: Int64;
  generation: number | undefined;
}

export type DeletionPlan = { action: "remove" } | { action: "keep" } | { action: "mark"; mark: DeletionMark };

/** The finalizers with the policy's own added and those of other policies removed; without a policy they stay as they are. */
function finalizersForPolicy(finalizers: readonly string[], policy: PropagationPolicy): string[] {
  if (policy === "") return [...finalizers];
  const others = finalizers.filter((finalizer) => finalizer !== FINALIZER_ORPHAN && finalizer !== FINALIZER_FOREGROUND);
  if (policy === "Orphan") return [...others, FINALIZER_ORPHAN];
  if (policy === "Foreground") return [...others, FINALIZER_FOREGROUND];
  return others;
}

/** The longest time that Go's durations hold, 2^63 ns: 292 years. */
const GRACE_SECONDS_MAX = 9_223_372_036;

function graceMs(seconds: Int64): number {
  return Math.min(Number(seconds), GRACE_SECONDS_MAX) * 1000;
}

function shorter(one: Int64, other: Int64): Int64 {
  return one < other ? one : other;
}

/** Decides what DELETE does to the object; changes nothing. */
export function planDeletion(metadata: ObjectMeta, request: DeletionRequest): DeletionPlan {
  const existing = metadata.finalizers ?? [];
  const finalizers = finalizersForPolicy(existing, request.propagationPolicy);
  const markedAt = parseTime(metadata.deletionTimestamp);
  const graceBefore = metadata.deletionGracePeriodSeconds ?? 0;
  // A later DELETE may only shorten the grace. Earlier code stored one that it had rounded to beyond 64 bits: each DELETE mends it.
  const grace = markedAt === undefined ? request.graceSeconds : shorter(nearestInt64(graceBefore), request.graceSeconds);
  if (finalizers.length === 0 && !request.held && grace === 0) return { action: "remove" };
  const known = new Set(existing);
  const sameFinalizers = finalizers.length === existing.length && finalizers.every((finalizer) => known.has(finalizer));
  if (markedAt !== undefined && grace === graceBefore && sameFinalizers) return { action: "keep" };
  const deletionMs = markedAt === undefined ? request.now + graceMs(grace) : markedAt - graceMs(graceBefore) + graceMs(grace);
  const generation = metadata.generation && metadata.generation > 0 ? metadata.generation + 1 : metadata.generation;
  return {
    action: "mark",
    mark: { finalizers, deletionTimestamp: rfc3339Seconds(deletionMs), deletionGracePeriodSeconds: grace, generation },
  };
}

export function applyDeletionMark(metadata: ObjectMeta, mark: DeletionMark): void {
  if (mark.finalizers.length > 0) metadata.finalizers = mark.finalizers;
  else delete metadata.finalizers;
  metadata.deletionTimestamp = mark.deletionTimestamp;
  metadata.deletionGracePeriodSeconds = mark.deletionGracePeriodSeconds;
  if (mark.generation !== undefined) metadata.generation = mark.generation;
}

/** After an update: whether a marked object has nothing left that holds it. */
export function isDeletionComplete(metadata: ObjectMeta, held: boolean): boolean {
  return Boolean(metadata.deletionTimestamp) && !metadata.finalizers?.length && !metadata.deletionGracePeriodSeconds && !held;
}
