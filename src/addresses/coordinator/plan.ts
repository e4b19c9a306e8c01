/** From the Coordinator's rows to what there is to do: level-based, so it makes no difference what was attempted before a crash. */
import { DEFAULT_SERVICE_CIDR, delayed, READY, sameCondition } from "./service-cidr-object";
import type { CidrRow } from "./coordinator-storage";
import { compareDefault } from "./default-range";
import { mayBegin, openMoves } from "./handing-over";
import type { View } from "./view";

export type Action =
  /** the default ServiceCIDR does not exist */
  | { kind: "bootstrap" }
  /** the default ServiceCIDR has the first of two configured ranges */
  | { kind: "extendDefault"; cidr: CidrRow }
  /** the owner has not confirmed the configuration of this epoch */
  | { kind: "configure"; uid: string; epoch: number }
  /** IPAddress objects inside new segments are not yet marked taken */
  | { kind: "seed"; uid: string }
  | { kind: "addFinalizer"; cidr: CidrRow }
  /** gives out addresses, and the object does not say so */
  | { kind: "showReady"; cidr: CidrRow }
  /** the owner's object is gone, or goes and has begun to hand over, and others cover what it writes */
  | { kind: "handOver"; uid: string }
  /** the owners have frozen and opened the segments of a hand-off: its rows can move */
  | { kind: "copyRows"; uid: string; targetUid: string; id: number }
  /** is being deleted, and waits for somebody who is to take addresses over */
  | { kind: "showDelayed"; cidr: CidrRow }
  /** may the object go? */
  | { kind: "release"; cidr: CidrRow }
  /** no object names these segments any more: are they empty? */
  | { kind: "dropClaims"; uid: string };

/** Names the job of an action; two actions with one key are the same work. */
export function actionKey(action: Action): string {
  switch (action.kind) {
    case "bootstrap":
      return action.kind;
    case "configure":
      // A new epoch neither waits for a call that hangs with the old one, nor for its backoff.
      return `${action.kind}/${action.uid}/${action.epoch}`;
    case "copyRows":
      return `${action.kind}/${action.uid}/${action.targetUid}/${action.id}`;
    case "seed":
    case "handOver":
    case "dropClaims":
      return `${action.kind}/${action.uid}`;
    case "extendDefault":
    case "addFinalizer":
    case "showReady":
    case "showDelayed":
    case "release":
      return `${action.kind}/${action.cidr.uid}`;
  }
}

/** `defaultRanges`: canonical texts of SERVICE_CLUSTER_IP_RANGE, primary family first. Objects are let be while others than theirs count. */
export function planActions(view: View, defaultRanges: readonly string[], nowMs: number): Action[] {
  const objects = view.configured ? [] : [...planDefault(view, defaultRanges), ...planObjects(view, nowMs)];
  return [...objects, ...planOwners(view), ...planHandoffs(view, nowMs)];
}

function planDefault(view: View, defaultRanges: readonly string[]): Action[] {
  const cidr = [...view.cidrs.values()].find((row) => row.name === DEFAULT_SERVICE_CIDR);
  if (!cidr) return [{ kind: "bootstrap" }];
  const stored = view.rangesOf(cidr.uid).map((range) => range.prefix);
  return compareDefault(stored, defaultRanges) === "lacksSecond" && !cidr.deleting ? [{ kind: "extendDefault", cidr }] : [];
}

function planOwners(view: View): Action[] {
  const actions: Action[] = [];
  for (const owner of view.owners.values()) {
    const { uid } = owner;
    if (!view.areSettled([uid])) {
      actions.push({ kind: "configure", uid, epoch: owner.epoch });
      continue;
    }
    const claims = view.claimsOf(uid);
    if (claims.some((claim) => !claim.seeded && view.isNamed(claim))) actions.push({ kind: "seed", uid });
    if (claims.some((claim) => !view.isNamed(claim))) actions.push({ kind: "dropClaims", uid });
  }
  return actions;
}

/** Owners without an object; for one that is being deleted, `release` begins the hand-offs when nothing blocks the deletion any more. */
function planHandoffs(view: View, nowMs: number): Action[] {
  const actions: Action[] = [];
  for (const { sourceUid: uid, targetUid, id, phase } of view.handoffs) {
    if (phase === "copying" && view.hasConfirmed(uid, id) && view.hasConfirmed(targetUid, id)) {
      actions.push({ kind: "copyRows", uid, targetUid, id });
    }
  }
  for (const uid of view.owners.keys()) if (!view.cidrs.has(uid)) actions.push(...planHandOver(view, uid, nowMs));
  return actions;
}

function planHandOver(view: View, uid: string, nowMs: number): Action[] {
  // It is to be trimmed first, by a count that the owner has to be ready for.
  if (view.isClosed(uid) && !view.areSettled([uid])) return [];
  return mayBegin(view, uid, nowMs) && openMoves(view, uid, nowMs).length > 0 ? [{ kind: "handOver", uid }] : [];
}

/** The count that lets the hand-offs begin is not repeated between them. */
function planDeletion(view: View, cidr: CidrRow, nowMs: number): Action[] {
  const { uid } = cidr;
  if (view.handoffsOf(uid).some(({ phase }) => phase !== "resting")) {
    const waitsFor = view.awaited(uid, nowMs);
    const isUntold = waitsFor.length > 0 && !sameCondition(cidr.condition, delayed(waitsFor));
    return [...planHandOver(view, uid, nowMs), ...(isUntold ? [{ kind: "showDelayed", cidr } as const] : [])];
  }
  const isResting = view.movesOf(uid).length > 0 && openMoves(view, uid, nowMs).length === 0;
  return !isResting && view.areSettled(view.ownersUnder(view.rangesOf(uid))) ? [{ kind: "release", cidr }] : [];
}

function planObjects(view: View, nowMs: number): Action[] {
  const actions: Action[] = [];
  for (const cidr of view.cidrs.values()) {
    const ranges = view.rangesOf(cidr.uid);
    if (cidr.deleting) {
      if (cidr.finalizer) actions.push(...planDeletion(view, cidr, nowMs));
      continue;
    }
    if (!cidr.finalizer) actions.push({ kind: "addFinalizer", cidr });
    if (ranges.every((range) => range.ready) && !sameCondition(cidr.condition, READY)) actions.push({ kind: "showReady", cidr });
  }
  return actions;
}
