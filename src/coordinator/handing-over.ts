/**
 * Handing segments over to a new owner (DESIGN §4 step 3, PROTOCOL rules 12, 13 and 16). One attempt moves one lot: pieces of segments with no
 * more addresses than can be frozen without anybody noticing.
 *
 *     begin: cut, freeze at the source, open at the target      one transaction, then both confirm their configuration
 *     copy:  rows in chunks that carry the id, the last sealed   reads and writes of the two owners, safe to repeat
 *     commit: the claims are the target's                        one transaction; from here on it ends only forward
 *     activate at the target, then drop at the source            by their configurations (advance.ts)
 *
 * Freezing, opening, activating, dropping, and thawing what was given up, are nothing but configurations with an epoch. The Coordinator's
 * rows say which attempt counts: what an abandoned one still does finds another id at the target, and another row at the commit.
 */
import { assert } from "../base/assert";
import { HANDOFF_TIMEOUT_MS, OWNER_PREFIXES_MAX, RPC_TIMEOUT_MS } from "../base/limits";
import { withTimeout } from "../base/timeout";
import { containsPrefix, formatPrefix } from "../net/prefix";
import { claimUnowned } from "../topology/claim";
import type { Move } from "../topology/moves";
import { storedPrefix } from "../topology/stored-prefix";
import { isWorthIt, rested } from "./advance";
import type { JobContext } from "./context";
import type { HandoffRow } from "./coordinator-storage";
import type { JobOutcome } from "./job-runner";

/** Begins to hand over the next lot. `stillHolds` tells, in the transaction that begins, whether what the decision rests on is still so. */
export async function handOver(context: JobContext, sourceUid: string, stillHolds: () => boolean): Promise<JobOutcome> {
  const before = context.view();
  const [first] = before.movesOf(sourceUid);
  const epoch = before.owners.get(sourceUid)?.epoch;
  if (!first || epoch === undefined) return "done";
  const moves = before.movesOf(sourceUid).filter((move) => move.targetUid === first.targetUid);
  const source = context.peers.owner(sourceUid);
  const answer = await withTimeout(
    context.clock,
    RPC_TIMEOUT_MS,
    source.partition(
      moves.map((move) => move.prefix),
      context.handoffRowsMax,
    ),
  );
  if (answer.epoch !== epoch) return "failed";
  const lot = nextLot(answer.pieces, context.handoffRowsMax);
  let begun = false;
  context.mutate(() => {
    const view = context.view();
    const now = view.movesOf(sourceUid).filter((move) => move.targetUid === first.targetUid);
    if (view.owners.get(sourceUid)?.epoch !== epoch || !sameMoves(moves, now) || !stillHolds()) return;
    if (view.handoffs.get(sourceUid)?.phase === "copying" || view.handoffs.get(sourceUid)?.phase === "activating") return;
    const failures = view.handoffs.get(sourceUid)?.failures ?? 0;
    cutClaims(context, sourceUid, { moves, pieces: answer.pieces.map((piece) => piece.prefix) });
    // Undone and tried again later: an owner that cannot be told of what it has would stop all that needs its word.
    const segments = Math.max(context.view().claimsOf(sourceUid).length, view.claimsOf(first.targetUid).length + lot.length);
    if (segments > OWNER_PREFIXES_MAX) throw new Error(`the hand-off would leave an owner with ${segments} segments`);
    context.storage.handoffSave({
      sourceUid,
      targetUid: first.targetUid,
      // The epoch of the configurations that this transaction is about to make: the source freezes, so there are some.
      id: view.epoch + 1,
      prefixes: lot,
      phase: "copying",
      dueAt: context.clock.now() + HANDOFF_TIMEOUT_MS,
      failures,
    });
    begun = true;
  });
  return begun ? "done" : "failed";
}

/** Moves the rows of a hand-off that both owners are ready for, and commits it. */
export async function copyRows(context: JobContext, { uid, id }: { uid: string; id: number }): Promise<JobOutcome> {
  const current = (): HandoffRow | undefined => {
    const row = context.view().handoffs.get(uid);
    return row?.id === id && row.phase === "copying" ? row : undefined;
  };
  for (let after = ""; ;) {
    const row = current();
    if (!row) return "done";
    const { clock, peers } = context;
    const handoff = { handoff: id, prefixes: row.prefixes };
    const out = await withTimeout(clock, RPC_TIMEOUT_MS, peers.owner(uid).copyOut(handoff, after));
    if (!out.ok) return "failed";
    if (!current()) return "done";
    const taken = await withTimeout(clock, RPC_TIMEOUT_MS, peers.owner(row.targetUid).receive(id, out.chunk));
    if (!taken.ok && taken.reason === "stale") return "failed";
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
  commit(context, current);
  return "done";
}

/** The claims change hands, if nothing speaks against it at this very moment. */
function commit(context: JobContext, current: () => HandoffRow | undefined): void {
  context.mutate(() => {
    const row = current();
    const view = context.view();
    if (!row || !isWorthIt(view, row, context.clock.now())) return;
    const claims = new Map(view.claimsOf(row.sourceUid).map((claim) => [claim.prefix, claim]));
    for (const prefix of row.prefixes) {
      assert(claims.get(prefix)?.seeded, "what is handed over is a seeded segment of the source");
      context.storage.claimDelete(prefix);
      context.storage.claimInsert({ prefix, ownerUid: row.targetUid, seeded: true });
    }
    context.storage.handoffSave({ ...row, phase: "activating", failures: 0 });
  });
}

/** Replaces the segments that move, wholly or in part, by the pieces and what is left of them. */
function cutClaims(context: JobContext, ownerUid: string, cut: { moves: readonly Move[]; pieces: readonly string[] }): void {
  const pieces = new Set(cut.pieces);
  for (const claim of new Set(cut.moves.map((move) => move.claim))) {
    if (pieces.has(claim)) continue;
    const moving = cut.moves.filter((move) => move.claim === claim).map((move) => move.parsed);
    const left = claimUnowned([storedPrefix(claim)], moving).map(formatPrefix);
    const inside = cut.pieces.filter((piece) => containsPrefix(storedPrefix(claim), storedPrefix(piece)));
    context.storage.claimDelete(claim);
    for (const prefix of [...inside, ...left]) context.storage.claimInsert({ prefix, ownerUid, seeded: true });
  }
}

/** Pieces from the front, as many as may be frozen at once; at least one. */
function nextLot(pieces: readonly { prefix: string; rows: number }[], rowsMax: number): string[] {
  let rows = 0;
  const lot: string[] = [];
  for (const piece of pieces) {
    rows += piece.rows;
    if (lot.length > 0 && rows > rowsMax) break;
    lot.push(piece.prefix);
  }
  return lot;
}

function sameMoves(a: readonly Move[], b: readonly Move[]): boolean {
  const texts = (moves: readonly Move[]): string => JSON.stringify(moves.map(({ claim, prefix, targetUid }) => [claim, prefix, targetUid]));
  return texts(a) === texts(b);
}
