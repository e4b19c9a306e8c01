/**
 * The part of the reconciliation that needs no peer: from the rows (objects, claims, fences) to the next epoch with every owner's configuration,
 * and to the ranges that are ready. It runs in the transaction of the change that made it necessary. So a crash leaves both or neither, and a
 * configuration is durable before it is pushed (rule 11). Repeating it changes nothing.
 */
import { leastOf } from "../../core/base/extremes";
import { OWNER_PREFIXES_MAX } from "../rpc/limits";
import { mergeSiblings } from "../topology/claim";
import { RETIRED } from "../topology/owner-content";
import type { CoordinatorSettings } from "./state/coordinator-settings";
import type { CoordinatorState, CoordinatorStorage } from "./state/coordinator-storage";
import { endTimes } from "./state/due-times";
import { isPointless, isWorthIt, rested } from "./state/handoff-rules";
import { writersOf } from "./state/topology-answer";
import { type TopologyView, viewOf } from "./state/topology-view";

/** Half of what an owner can be told of. */
const MERGE_EARLY_SEGMENTS = OWNER_PREFIXES_MAX / 2;

const RETIRED_CONTENT = JSON.stringify(RETIRED);

/** For states in which nothing is left to do: until when (ms). */
const settledUntil = new WeakMap<CoordinatorState, number>();

/** Brings the rows up to date; to be called inside a transaction, after every change of them. Answers the view of the rows as they are now. */
export function advance(storage: CoordinatorStorage, settings: Pick<CoordinatorSettings, "staticBands">, nowMs: number): TopologyView {
  const before = storage.load();
  let view = viewOf(before, settings);
  if (nowMs < (settledUntil.get(before) ?? 0)) return view;
  for (const step of [endFences, endClosings, endHandoffs, mergeClaims, nextEpoch, updateReadiness]) {
    if (step(view, storage, nowMs)) view = viewOf(storage.load(), settings);
  }
  const after = storage.load();
  const attemptEnds = after.handoffs.flatMap(({ phase, dueAt }) => (phase === "copying" ? [dueAt] : []));
  settledUntil.set(after, leastOf([...endTimes(after), ...attemptEnds]));
  return view;
}

/** Each step answers whether it wrote anything. */
function endFences(view: TopologyView, storage: CoordinatorStorage, nowMs: number): boolean {
  const over = [...view.cidrs.values()].filter((cidr) => cidr.fencedUntil > 0 && cidr.fencedUntil <= nowMs);
  for (const cidr of over) storage.cidrSave({ ...cidr, fencedUntil: 0 });
  return over.length > 0;
}

function endClosings(view: TopologyView, storage: CoordinatorStorage, nowMs: number): boolean {
  const over = view.closings().filter((owner) => owner.closedUntil <= nowMs);
  for (const owner of over) storage.ownerSave({ ...owner, closedUntil: 0 });
  return over.length > 0;
}

/** Ends activated hand-offs. One that is not committed in time, or has lost its reason, rests: its owners thaw and discard. */
function endHandoffs(view: TopologyView, storage: CoordinatorStorage, nowMs: number): boolean {
  let changed = false;
  for (const row of view.handoffs) {
    if (row.phase === "activating" && view.isActivated(row)) storage.handoffDelete(row);
    else if (row.phase === "copying" && !isWorthIt(view, row, nowMs)) storage.handoffSave(rested(row, nowMs));
    else if (row.phase === "resting" && isPointless(view, row)) storage.handoffDelete(row);
    else continue;
    changed = true;
  }
  return changed;
}

/**
 * Joins neighbouring segments of one owner, so that the pieces of hand-offs do not stay. The owner has to look at all their addresses then. So
 * joining waits for the last hand-off to this owner, unless there are too many segments. A committed segment stays alone until it is active: by
 * that segment the owner sees whether all rows have come.
 */
function mergeClaims(view: TopologyView, storage: CoordinatorStorage): boolean {
  let changed = false;
  const divided = view.ownerUids().filter((uid) => view.claimsOf(uid).length > 1 && !view.isLeaving(uid));
  if (divided.length === 0) return false;
  const expecting = new Set(
    view.ownerUids().flatMap((uid) => (view.isLeaving(uid) ? view.movesOf(uid).map((move) => move.targetUid) : [])),
  );
  for (const row of view.handoffs) expecting.add(row.targetUid);
  const coming = new Set(view.handoffs.flatMap(({ phase, prefixes }) => (phase === "activating" ? prefixes : [])));
  for (const uid of divided) {
    if (expecting.has(uid) && view.claimsOf(uid).length < MERGE_EARLY_SEGMENTS) continue;
    const claims = view.claimsOf(uid).filter((claim) => claim.seeded && !coming.has(claim.prefix));
    for (const { merged, parts } of mergeSiblings(claims)) {
      for (const prefix of parts) storage.claimDelete(prefix);
      storage.claimInsert({ prefix: merged, ownerUid: uid, seeded: true });
      changed = true;
    }
  }
  return changed;
}

/** Owners whose content changes get the new one under the next epoch; the others keep theirs, and nothing is pushed to them (rule 17). */
function nextEpoch(view: TopologyView, storage: CoordinatorStorage): boolean {
  const epoch = view.epoch + 1;
  let changed = false;
  let wrote = false;
  for (const [uid, content] of view.desiredContents()) {
    const owner = view.owners.get(uid);
    if (owner?.content !== content) {
      storage.ownerSave({ uid, epoch, content, ackedEpoch: owner?.ackedEpoch ?? 0, closedUntil: owner?.closedUntil ?? 0 });
      changed = true;
    } else if (content === RETIRED_CONTENT && owner.ackedEpoch === owner.epoch) {
      storage.ownerDelete(uid);
      wrote = true;
    }
  }
  if (changed) storage.epochSave(epoch);
  return changed || wrote;
}

/** A range becomes ready when its owners acknowledge it, and stays so until it is taken back, whatever its owners are told later. */
function updateReadiness(view: TopologyView, storage: CoordinatorStorage): boolean {
  let changed = false;
  for (const range of view.ranges) {
    // From the first range that is kept for some namespaces on, every owner refuses stores that do not know of any.
    const concerned = (): string[] => (view.cidrs.get(range.uid)?.tenancy ? writersOf(view) : view.ownersUnder([range]));
    const ready = view.isAllocatable(range) && (range.ready || view.areSettled(concerned()));
    if (ready === range.ready) continue;
    storage.rangeSave({ uid: range.uid, prefix: range.prefix, ready });
    changed = true;
  }
  return changed;
}
