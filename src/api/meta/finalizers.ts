/**
 * What DELETE does to an object (upstream apiserver registry/rest/delete.go and generic/registry/store.go).
 *
 *   nothing holds it and it has no grace     -> remove
 *   finalizers, a kind's own hold, or grace  -> mark: deletionTimestamp is set, the object stays
 *   marked, its grace is pending             -> only a shorter grace counts, no policy; without one keep
 *   marked, its grace is over                -> the finalizers of the policy; nothing new: keep
 */
import { type Int64, nearestInt64 } from "../../core/encoding/exact-json";
import type { ObjectMeta } from "./kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "./object-meta";
import { parseTime, rfc3339Seconds } from "./time";

export type PropagationPolicy = "" | "Background" | "Foreground" | "Orphan";

export interface DeletionRequest {
  propagationPolicy: PropagationPolicy;
  /** seconds that the client names, undefined = none */
  requestedSeconds: Int64 | undefined;
  /** seconds that the kind grants to an object that is not marked yet (0 for all but pods) */
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
  /** undefined = it is left as it is */
  deletionGracePeriodSeconds: Int64 | undefined;
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

/** Decides what DELETE does to the object; changes nothing. */
export function planDeletion(metadata: ObjectMeta, request: DeletionRequest): DeletionPlan {
  const markedAt = parseTime(metadata.deletionTimestamp);
  if (markedAt === undefined) return firstMark(metadata, request);
  // Upstream's REST of namespaces answers a repeated DELETE with the object as it is.
  if (request.held) return { action: "keep" };
  return metadata.deletionGracePeriodSeconds ? shortenedGrace(metadata, markedAt, request) : repeatedMark(metadata, markedAt, request);
}

function firstMark(metadata: ObjectMeta, { propagationPolicy, graceSeconds, held, now }: DeletionRequest): DeletionPlan {
  const finalizers = finalizersForPolicy(metadata.finalizers ?? [], propagationPolicy);
  if (finalizers.length === 0 && !held && graceSeconds === 0) return { action: "remove" };
  const { generation } = metadata;
  return {
    action: "mark",
    mark: {
      finalizers,
      deletionTimestamp: rfc3339Seconds(now + graceMs(graceSeconds)),
      // as upstream's REST of namespaces
      deletionGracePeriodSeconds: held ? undefined : graceSeconds,
      generation: generation && generation > 0 ? generation + 1 : generation,
    },
  };
}

/** DELETE while the grace is pending. Its end never moves before now, where a second is left to whoever ends the object. */
function shortenedGrace(metadata: ObjectMeta, markedAt: number, { requestedSeconds, now }: DeletionRequest): DeletionPlan {
  const { finalizers = [], deletionGracePeriodSeconds: stored = 0, generation } = metadata;
  const pending = nearestInt64(stored);
  const mark = (deletionMs: number, deletionGracePeriodSeconds: Int64): DeletionPlan => ({
    action: "mark",
    mark: { finalizers, deletionTimestamp: rfc3339Seconds(deletionMs), deletionGracePeriodSeconds, generation },
  });
  if (requestedSeconds === undefined || requestedSeconds >= pending) {
    // Earlier code stored a grace that it had rounded to beyond 64 bits: each DELETE mends it.
    return pending === stored ? { action: "keep" } : mark(markedAt, pending);
  }
  if (requestedSeconds === 0 && finalizers.length === 0) return { action: "remove" };
  const deletionMs = markedAt - graceMs(pending) + graceMs(requestedSeconds);
  if (deletionMs >= now) return mark(deletionMs, requestedSeconds);
  return mark(now, requestedSeconds === 0 ? 0 : 1);
}

/** DELETE of what finalizers alone hold. */
function repeatedMark(metadata: ObjectMeta, markedAt: number, { propagationPolicy, now }: DeletionRequest): DeletionPlan {
  const { finalizers: existing = [], deletionGracePeriodSeconds, generation } = metadata;
  const finalizers = finalizersForPolicy(existing, propagationPolicy);
  if (finalizers.length === 0) return { action: "remove" };
  const known = new Set(existing);
  const sameFinalizers = finalizers.length === existing.length && finalizers.every((finalizer) => known.has(finalizer));
  if (sameFinalizers && deletionGracePeriodSeconds === 0 && markedAt <= now) return { action: "keep" };
  const deletionTimestamp = rfc3339Seconds(Math.min(markedAt, now));
  return { action: "mark", mark: { finalizers, deletionTimestamp, deletionGracePeriodSeconds: 0, generation } };
}

export function applyDeletionMark(metadata: ObjectMeta, mark: DeletionMark): void {
  if (mark.finalizers.length > 0) metadata.finalizers = mark.finalizers;
  else delete metadata.finalizers;
  metadata.deletionTimestamp = mark.deletionTimestamp;
  if (mark.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds = mark.deletionGracePeriodSeconds;
  if (mark.generation !== undefined) metadata.generation = mark.generation;
}

/** After an update: whether a marked object has nothing left that holds it. */
export function isDeletionComplete(metadata: ObjectMeta, held: boolean): boolean {
  return Boolean(metadata.deletionTimestamp) && !metadata.finalizers?.length && !metadata.deletionGracePeriodSeconds && !held;
}
