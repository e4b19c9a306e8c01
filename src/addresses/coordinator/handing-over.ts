/**
 * Handing segments over to new owners (DESIGN §4, PROTOCOL rules 12, 13 and 16). One attempt moves one lot to one owner: pieces of segments. A
 * source begins attempts to many owners together, with no more addresses than can be frozen without anybody noticing.
 *
 *     trim:  what only the ServiceCIDR that goes has, and is empty, is dropped: it would be thousands of segments between the pieces
 *     wake:  who does not answer rests, before anything is frozen for it
 *     begin: cut, freeze at the source, open at the targets     one transaction, then all confirm their configuration
 *     copy:  rows in chunks that carry the id, the last sealed   reads and writes of the two owners, safe to repeat
 *     commit: the claims are the target's                        one transaction; from here on it ends only forward
 *     activate at the target, then drop at the source            by their configurations (advance.ts)
 *
 * Freezing, opening, activating, dropping, and thawing what was given up, are nothing but configurations with an epoch. The Coordinator's
 * rows say which attempt counts: what an abandoned one still does finds another id at the target, and another row at the commit.
 */
import { assert } from "../../core/base/assert";
import { groupBy } from "../../core/base/group-by";
import { inParallel } from "../../core/base/in-parallel";
import { HANDOFF_TIMEOUT_MS, OWNER_PREFIXES_MAX, RPC_TIMEOUT_MS } from "../../core/base/limits";
import { isTimeout, withTimeout } from "../../core/base/timeout";
import { formatPrefix } from "../../core/net/prefix";
import { claimUnowned } from "../topology/claim";
import type { Move } from "../topology/moves";
import { PrefixIndex } from "../topology/prefix-index";
import { storedPrefix } from "../topology/stored-prefix";
import { isWorthIt, rested } from "./advance";
import type { JobContext } from "./context";
import type { HandoffRow } from "./coordinator-storage";
import type { JobOutcome } from "./job-runner";
import { trimClaims } from "./trimming";
import type { View } from "./view";

/** Owners that one source hands over to side by side: each costs four calls, and what is on its way takes and frees nothing. */
const TARGETS_TOGETHER = 50;
/** An attempt that is not over after this time does not keep its source from beginning others. */
const PATIENCE_MS = 2_000;

/** Whether the source may begin further attempts: its last ones are committed, or have had their time. */
export function mayBegin(view: View, sourceUid: string, nowMs: number): boolean {
  return view.handoffsOf(sourceUid).every(({ phase, dueAt }) => phase !== "copying" || nowMs >= dueAt - HANDOFF_TIMEOUT_MS + PATIENCE_MS);
}

/** When a hand-off is to be looked at although nothing happens to it (ms). */
export function lookTimes({ phase, dueAt }: HandoffRow): number[] {
  return phase === "copying" ? [dueAt, dueAt - HANDOFF_TIMEOUT_MS + PATIENCE_MS] : [dueAt];
}

/** The moves of a source to those that it is not handing over to already, and that did not fail just now. */
export function openMoves(view: View, sourceUid: string, nowMs: number): Move[] {
  const rows = view.handoffsOf(sourceUid).filter(({ phase, dueAt }) => phase !== "resting" || nowMs < dueAt);
  const busy = new Set(rows.map(({ targetUid }) => targetUid));
  return view.movesOf(sourceUid).filter((move) => !busy.has(move.targetUid));
}

/**
 * Begins to hand over the next lots. `stillHolds` tells, in the transaction that begins, whether what the decision rests on is still so.
 */
export async function handOver(context: JobContext, sourceUid: string, stillHolds: () => boolean): Promise<JobOutcome> {
  const chosen = nextMoves(context.view(), sourceUid, context.clock.now());
  if (chosen.length === 0) return "done";
  if (chosen.some((move) => move.prefix !== move.claim)) {
    const trimmed = await trimClaims(context, sourceUid, stillHolds);
    if (trimmed !== "waiting") return trimmed;
  }
  const silent = await silentOnes(
    context,
    chosen.map((move) => move.targetUid),
  );
  const moves = chosen.filter((move) => !silent.has(move.targetUid));
  const call = context.peers.owner(sourceUid).partition(
    moves.map((move) => move.prefix),
    context.handoffRowsMax,
  );
  const { pieces } = await withTimeout(context.clock, RPC_TIMEOUT_MS, call);
  let begun = false;
  context.mutate(() => {
    const view = context.view();
    const now = context.clock.now();
    if (!stillHolds() || !sameMoves(chosen, nextMoves(view, sourceUid, now))) return;
    const attempt = (targetUid: string): HandoffRow => ({
      sourceUid,
      targetUid,
      // The epoch of the configurations that this transaction is about to make: the source freezes, so there are some.
      id: view.epoch + 1,
      prefixes: [],
      phase: "copying",
      dueAt: now + HANDOFF_TIMEOUT_MS,
      failures: view.handoffsOf(sourceUid).find((row) => row.targetUid === targetUid)?.failures ?? 0,
    });
    const lots = lotsOf(view, moves, nextPieces(pieces, context.handoffRowsMax));
    const cut = cutOf(
      view.claimsOf(sourceUid),
      moves,
      pieces.map((piece) => piece.prefix),
    );
    const isRoom = roomOf(view, sourceUid) >= cut.come.length - cut.go.length;
    if (isRoom) {
      for (const prefix of cut.go) context.storage.claimDelete(prefix);
      for (const prefix of cut.come) context.storage.claimInsert({ prefix, ownerUid: sourceUid, seeded: true });
    }
    const crowded = isRoom ? [...lots.keys()].filter((targetUid) => lots.get(targetUid)?.length === 0) : [...lots.keys()];
    for (const [targetUid, isLost] of silent) context.storage.handoffSave(rested(attempt(targetUid), now, isLost));
    for (const targetUid of crowded) context.storage.handoffSave(rested(attempt(targetUid), now));
    if (crowded.length > 0) {
      context.recorder.log("warn", "handoff.noRoom", { source: sourceUid, full: isRoom ? "target" : "source", targets: crowded.join() });
    }
    for (const [targetUid, prefixes] of lots) {
      if (!crowded.includes(targetUid)) context.storage.handoffSave({ ...attempt(targetUid), prefixes });
    }
    begun = lots.size + silent.size > 0;
  });
  return begun ? "done" : "failed";
}

/**
 * Those that do not answer. An object that is not awake, or has never been, takes its time to be: nothing is frozen for that, and nothing at
 * all for one that does not come. By uid, and whether the call was lost: that costs nothing and may not happen again, while one that hangs holds
 * up the others each time.
 */
async function silentOnes(context: JobContext, targetUids: readonly string[]): Promise<Map<string, boolean>> {
  const silent = new Map<string, boolean>();
  await inParallel([...new Set(targetUids)], TARGETS_TOGETHER, async (uid) => {
    try {
      await withTimeout(context.clock, RPC_TIMEOUT_MS, context.peers.owner(uid).free());
    } catch (error) {
      silent.set(uid, !isTimeout(error));
    }
  });
  return silent;
}

/** Moves the rows of a hand-off that both owners are ready for, and commits it. */
export async function copyRows(context: JobContext, attempt: { uid: string; targetUid: string; id: number }): Promise<JobOutcome> {
  const { uid, targetUid, id } = attempt;
  const current = (): HandoffRow | undefined =>
    context
      .view()
      .handoffsOf(uid)
      .find((row) => row.targetUid === targetUid && row.id === id && row.phase === "copying");
  for (let after = ""; ;) {
    const row = current();
    if (!row) return "done";
    const { clock, peers } = context;
    const handoff = { handoff: id, prefixes: row.prefixes };
    const out = await withTimeout(clock, RPC_TIMEOUT_MS, peers.owner(uid).copyOut(handoff, after));
    if (!out.ok) {
      context.doubt(uid);
      return "failed";
    }
    if (!current()) return "done";
    const taken = await withTimeout(clock, RPC_TIMEOUT_MS, peers.owner(targetUid).receive(id, out.chunk));
    if (!taken.ok && taken.reason === "stale") {
      context.doubt(targetUid);
      return "failed";
    }
    if (!taken.ok) {
      context.mutate(() => {
        const still = current();
        if (still) context.storage.handoffSave(rested(still, clock.now()));
      });
      return "done";
    }
    if (taken.sealed) break;
    after = taken.through;
  }
  await context.mutateTogether(() => commit(context, current()));
  return "done";
}

/** The claims change hands, if nothing speaks against it at this very moment. */
function commit(context: JobContext, row: HandoffRow | undefined): void {
  const view = context.view();
  if (!row || !isWorthIt(view, row, context.clock.now())) return;
  const claims = new Map(view.claimsOf(row.sourceUid).map((claim) => [claim.prefix, claim]));
  for (const prefix of row.prefixes) {
    assert(claims.get(prefix)?.seeded, "what is handed over is a seeded segment of the source");
    context.storage.claimDelete(prefix);
    context.storage.claimInsert({ prefix, ownerUid: row.targetUid, seeded: true });
  }
  context.storage.handoffSave({ ...row, phase: "activating", failures: 0 });
}

/**
 * The next moves from the front to as many owners as go together, and no more than the source can be told of when they are cut out of its
 * segments: the pieces in between that are empty are dropped before the next ones come to be cut.
 */
function nextMoves(view: View, sourceUid: string, nowMs: number): Move[] {
  const targets = new Set<string>();
  const moves: Move[] = [];
  for (const move of openMoves(view, sourceUid, nowMs)) {
    if (targets.size === TARGETS_TOGETHER && !targets.has(move.targetUid)) continue;
    targets.add(move.targetUid);
    moves.push(move);
  }
  const room = roomOf(view, sourceUid);
  while (moves.length > 1 && leftOf(moves).reduce((sum, { left }) => sum + left.length, moves.length) > room) {
    moves.length = Math.ceil(moves.length / 2);
  }
  return moves;
}

/** What remains of each segment that is cut. */
function leftOf(moves: readonly Move[]): { claim: string; left: string[] }[] {
  const cut = groupBy(
    moves.filter((move) => move.prefix !== move.claim),
    (move) => move.claim,
  );
  return [...cut].map(([claim, parts]) => ({
    claim,
    left: claimUnowned(
      [storedPrefix(claim)],
      parts.map((move) => move.parsed),
    ).map(formatPrefix),
  }));
}

/** The segments of an owner that go and come when those that move, wholly or in part, become pieces and what is left of them. */
function cutOf(claims: View["claims"], moves: readonly Move[], pieces: readonly string[]): { go: string[]; come: string[] } {
  const isPiece = new Set(pieces);
  const go = [...new Set(moves.map((move) => move.claim))].filter((claim) => !isPiece.has(claim));
  const gone = new Set(go);
  const isClaim = new Set(claims.map(({ prefix }) => prefix).filter((prefix) => !gone.has(prefix)));
  const left = leftOf(moves).flatMap((cut) => cut.left);
  return { go, come: [...pieces, ...left].filter((prefix) => !isClaim.has(prefix)) };
}

/** How many segments more the owner can be told of, besides its own, those that it still gives and those that are on their way to it. */
function roomOf(view: View, ownerUid: string): number {
  const onTheirWay = view.handoffs.filter(
    ({ sourceUid, targetUid, phase }) =>
      (phase === "activating" && sourceUid === ownerUid) || (phase === "copying" && targetUid === ownerUid),
  );
  return onTheirWay.reduce((room, { prefixes }) => room - prefixes.length, OWNER_PREFIXES_MAX - view.claimsOf(ownerUid).length);
}

/** Pieces from the front, as many as may be frozen at once; at least one. */
function nextPieces(pieces: readonly { prefix: string; rows: number }[], rowsMax: number): string[] {
  let rows = 0;
  const lot: string[] = [];
  for (const piece of pieces) {
    rows += piece.rows;
    if (lot.length > 0 && rows > rowsMax) break;
    lot.push(piece.prefix);
  }
  return lot;
}

/** Which pieces go to whom; an owner is given no more than it can be told of, which may be none. */
function lotsOf(view: View, moves: readonly Move[], pieces: readonly string[]): Map<string, string[]> {
  const index = new PrefixIndex(moves.map((move) => ({ prefix: move.parsed, value: move.targetUid })));
  const lots = groupBy(pieces, (piece) => index.intersecting(storedPrefix(piece))[0] ?? "");
  for (const [targetUid, lot] of lots) lot.length = Math.min(lot.length, Math.max(roomOf(view, targetUid), 0));
  return lots;
}

function sameMoves(a: readonly Move[], b: readonly Move[]): boolean {
  const texts = (moves: readonly Move[]): string => JSON.stringify(moves.map(({ claim, prefix, targetUid }) => [claim, prefix, targetUid]));
  return texts(a) === texts(b);
}
