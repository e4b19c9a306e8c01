/**
 * The part of the reconciliation that needs nobody else: from what is (objects, claims, fences) to the next epoch with the configuration of
 * every owner, and which ranges are ready. Runs in the same transaction as the change that made it necessary, so a crash leaves either
 * neither or both, and a configuration is durable before it can be pushed (PROTOCOL rule 11). Repeating it changes nothing.
 */
import { OWNER_PREFIXES_MAX } from "../../core/base/limits";
import { mergeSiblings } from "../topology/claim";
import { RETIRED } from "../topology/owner-content";
import type { CoordinatorState, CoordinatorStorage, HandoffRow } from "./coordinator-storage";
import type { CoordinatorSettings } from "./settings";
import { type View, viewOf } from "./view";

/** Rests double: so many short ones, after calls that were only lost, and then those after what cost a freeze or a wait. */
const SHORT_REST_FIRST_MS = 100;
const SHORT_RESTS = 6;
const REST_FIRST_MS = 5_000;
const REST_MAX_MS = 300_000;
/** Half of what an owner can be told of. */
const MERGE_EARLY_SEGMENTS = OWNER_PREFIXES_MAX / 2;

const RETIRED_CONTENT = JSON.stringify(RETIRED);

/** States in which nothing is left to do before a time (ms). */
const settledUntil = new WeakMap<CoordinatorState, number>();

/** To be called inside a transaction, after every change of the rows. Answers the view of the rows as they are now. */
export function advance(storage: CoordinatorStorage, settings: Pick<CoordinatorSettings, "staticBands">, nowMs: number): View {
  const before = storage.load();
  let view = viewOf(before, settings);
  if (nowMs < (settledUntil.get(before) ?? 0)) return view;
  for (const step of [endFences, endClosings, endHandoffs, mergeClaims, nextEpoch, updateReadiness]) {
    if (step(view, storage, nowMs)) view = viewOf(storage.load(), settings);
  }
  settledUntil.set(storage.load(), nextTime(view));
  return view;
}

/** When time alone changes something. */
function nextTime(view: View): number {
  const fences = [...view.cidrs.values()].flatMap(({ fencedUntil }) => (fencedUntil > 0 ? [fencedUntil] : []));
  const attempts = view.handoffs.flatMap(({ phase, dueAt }) => (phase === "copying" ? [dueAt] : []));
  return Math.min(Infinity, ...fences, ...view.closings().map(({ closedUntil }) => closedUntil), ...attempts);
}

/** Each step answers whether it wrote anything. */
function endFences(view: View, storage: CoordinatorStorage, nowMs: number): boolean {
  const over = [...view.cidrs.values()].filter((cidr) => cidr.fencedUntil > 0 && cidr.fencedUntil <= nowMs);
  for (const cidr of over) storage.cidrSave({ ...cidr, fencedUntil: 0 });
  return over.length > 0;
}

function endClosings(view: View, storage: CoordinatorStorage, nowMs: number): boolean {
  const over = view.closings().filter((owner) => owner.closedUntil <= nowMs);
  for (const owner of over) storage.ownerSave({ ...owner, closedUntil: 0 });
  return over.length > 0;
}

/** What is activated is over; what is not committed in time, or has lost its reason, rests: the owners thaw and discard under the next epoch. */
function endHandoffs(view: View, storage: CoordinatorStorage, nowMs: number): boolean {
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

/** Whether a hand-off that is under way may go on: in time, and to somebody who covers what comes (PROTOCOL rules 12 and 16). */
export function isWorthIt(view: View, row: HandoffRow, nowMs: number): boolean {
  return nowMs < row.dueAt && row.prefixes.every((prefix) => view.covers(row.targetUid, prefix));
}

/** Nothing will ever go from this source to this target. */
function isPointless(view: View, { sourceUid, targetUid }: HandoffRow): boolean {
  return view.claimsOf(sourceUid).length === 0 || !view.cidrs.has(targetUid);
}

/**
 * A given up attempt: nothing is frozen, and the next may begin later the more have failed; soon when nothing was frozen for it either, because
 * a first call to the target was lost (`isLost`).
 */
export function rested(row: HandoffRow, nowMs: number, isLost = false): HandoffRow {
  const failures = isLost ? row.failures : Math.max(row.failures, SHORT_RESTS);
  const isShort = failures < SHORT_RESTS;
  const restMs = isShort ? SHORT_REST_FIRST_MS * 2 ** failures : Math.min(REST_FIRST_MS * 2 ** (failures - SHORT_RESTS), REST_MAX_MS);
  return { ...row, phase: "resting", prefixes: [], dueAt: nowMs + restMs, failures: failures + 1 };
}

/**
 * Neighbours of one owner become one segment, so that what hand-offs cut does not stay in pieces; not before the last one that goes to this
 * owner has come, because joining costs the owner a look at all of their addresses; sooner when there are too many. What has been committed to
 * it stays by itself until it is active, so that the owner sees by its segment whether all rows of it have come.
 */
function mergeClaims(view: View, storage: CoordinatorStorage): boolean {
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

/** Owners whose content changes get it under the next epoch; the others keep theirs, and nothing is pushed to them (rule 17). */
function nextEpoch(view: View, storage: CoordinatorStorage): boolean {
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

/** A range becomes ready with its owners' acknowledgement and stays so until it is taken back, whatever else its owners are told later. */
function updateReadiness(view: View, storage: CoordinatorStorage): boolean {
  let changed = false;
  for (const range of view.ranges) {
    const ready = view.isAllocatable(range) && (range.ready || view.areSettled(view.ownersUnder([range])));
    if (ready === range.ready) continue;
    storage.rangeSave({ uid: range.uid, prefix: range.prefix, ready });
    changed = true;
  }
  return changed;
}
