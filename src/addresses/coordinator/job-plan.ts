/**
 * The plan: which actions the Coordinator's rows call for. It looks at the rows alone, so it makes no difference what was attempted before a
 * crash. Each kind of action has its file in jobs/.
 */
import type { CidrRow } from "./state/coordinator-storage";
import { compareDefault } from "./default-range";
import { mayBegin, openMoves } from "./state/handoff-rules";
import { DEFAULT_SERVICE_CIDR, delayed, READY, sameCondition } from "./state/service-cidr-object";
import type { TopologyView } from "./state/topology-view";

export type Action =
  /** The default ServiceCIDR does not exist. */
  | { kind: "createDefault" }
  /** The default ServiceCIDR has the first of two configured ranges. */
  | { kind: "extendDefault"; cidr: CidrRow }
  /** The owner has not confirmed the configuration of this epoch. */
  | { kind: "configure"; uid: string; epoch: number }
  /** The addresses of IPAddress objects inside new segments are not yet taken. */
  | { kind: "seed"; uid: string }
  /** The object has lost the Coordinator's finalizer. */
  | { kind: "restoreFinalizer"; cidr: CidrRow }
  /** The object gives out addresses and does not say so. */
  | { kind: "showReady"; cidr: CidrRow }
  /** The owner's object is gone, or is being deleted and handing over, and other ranges cover its segments. */
  | { kind: "handOver"; uid: string }
  /** Both owners have confirmed a hand-off's freeze and opening: its rows can move. */
  | { kind: "copyRows"; uid: string; targetUid: string; id: number }
  /** The object is being deleted, and waits for ServiceCIDRs that are to take its addresses over. */
  | { kind: "showDelayed"; cidr: CidrRow }
  /** The object is being deleted: may it go? */
  | { kind: "delete"; cidr: CidrRow }
  /** No object names these segments any more: are they empty? */
  | { kind: "dropClaims"; uid: string };

/** Names the job of an action; two actions with one key are the same work. */
export function actionKey(action: Action): string {
  switch (action.kind) {
    case "createDefault":
      return action.kind;
    case "configure":
      // A new epoch waits neither for a call that hangs with the old one, nor for its backoff.
      return `${action.kind}/${action.uid}/${action.epoch}`;
    case "copyRows":
      return `${action.kind}/${action.uid}/${action.targetUid}/${action.id}`;
    case "seed":
    case "handOver":
    case "dropClaims":
      return `${action.kind}/${action.uid}`;
    case "extendDefault":
    case "restoreFinalizer":
    case "showReady":
    case "showDelayed":
    case "delete":
      return `${action.kind}/${action.cidr.uid}`;
  }
}

/**
 * Everything there is to do. While the configured ranges alone count, objects are left alone.
 *
 * @param defaultRanges canonical texts of SERVICE_CLUSTER_IP_RANGE, primary family first
 */
export function planActions(view: TopologyView, defaultRanges: readonly string[], nowMs: number): Action[] {
  const objects = view.configured ? [] : [...planDefault(view, defaultRanges), ...planObjects(view, nowMs)];
  return [...objects, ...planOwners(view), ...planHandoffs(view, nowMs)];
}

function planDefault(view: TopologyView, defaultRanges: readonly string[]): Action[] {
  const cidr = [...view.cidrs.values()].find((row) => row.name === DEFAULT_SERVICE_CIDR);
  if (!cidr) return [{ kind: "createDefault" }];
  const stored = view.rangesOf(cidr.uid).map((range) => range.prefix);
  return compareDefault(stored, defaultRanges) === "lacksSecond" && !cidr.deleting ? [{ kind: "extendDefault", cidr }] : [];
}

function planObjects(view: TopologyView, nowMs: number): Action[] {
  const actions: Action[] = [];
  for (const cidr of view.cidrs.values()) {
    if (cidr.deleting) {
      if (cidr.finalizer) actions.push(...planDeletion(view, cidr, nowMs));
      continue;
    }
    if (!cidr.finalizer) actions.push({ kind: "restoreFinalizer", cidr });
    if (view.isReady(cidr.uid) && !sameCondition(cidr.condition, READY)) actions.push({ kind: "showReady", cidr });
  }
  return actions;
}

/** `delete` counts once, and begins the hand-offs; the count is not repeated between them. */
function planDeletion(view: TopologyView, cidr: CidrRow, nowMs: number): Action[] {
  const { uid } = cidr;
  if (view.handoffsOf(uid).some(({ phase }) => phase !== "resting")) {
    const waitsFor = view.awaited(uid, nowMs);
    const isUnsaid = waitsFor.length > 0 && !sameCondition(cidr.condition, delayed(waitsFor));
    return [...planHandOver(view, uid, nowMs), ...(isUnsaid ? [{ kind: "showDelayed", cidr } as const] : [])];
  }
  const isResting = view.movesOf(uid).length > 0 && openMoves(view, uid, nowMs).length === 0;
  return !isResting && view.areSettled(view.ownersUnder(view.rangesOf(uid))) ? [{ kind: "delete", cidr }] : [];
}

function planOwners(view: TopologyView): Action[] {
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

/** The hand-offs of owners without an object. Where an object is being deleted, `delete` begins them when nothing blocks it any more. */
function planHandoffs(view: TopologyView, nowMs: number): Action[] {
  const actions: Action[] = [];
  for (const { sourceUid: uid, targetUid, id, phase } of view.handoffs) {
    if (phase === "copying" && view.hasConfirmed(uid, id) && view.hasConfirmed(targetUid, id)) {
      actions.push({ kind: "copyRows", uid, targetUid, id });
    }
  }
  for (const uid of view.owners.keys()) if (!view.cidrs.has(uid)) actions.push(...planHandOver(view, uid, nowMs));
  return actions;
}

function planHandOver(view: TopologyView, uid: string, nowMs: number): Action[] {
  // The source is trimmed first, by a count that it has to be ready for.
  if (view.isClosed(uid) && !view.areSettled([uid])) return [];
  return mayBegin(view, uid, nowMs) && openMoves(view, uid, nowMs).length > 0 ? [{ kind: "handOver", uid }] : [];
}
