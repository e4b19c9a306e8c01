/**
 * Begins the hand-offs of segments to new owners (rules 12, 13 and 16). One attempt moves one lot, pieces of segments, to
 * one target. A source begins attempts to many targets together, with no more addresses than can be frozen without anybody noticing.
 *
 *     trim:  empty parts that only the leaving ServiceCIDR names are dropped: they would be thousands of segments between the pieces
 *     wake:  a target that does not answer rests, before anything is frozen for it
 *     begin: cut, freeze at the source, open at the targets      one transaction, then all confirm their configuration
 *     copy:  rows in chunks that carry the id, the last sealed    jobs/copy-rows.ts; reads and writes of the two owners, safe to repeat
 *     commit: the claims become the target's                     one transaction; from here on the hand-off ends only forward
 *     activate at the target, then drop at the source             by their configurations (advance.ts)
 *
 * Freezing, opening, activating, dropping and thawing are configurations with an epoch. The Coordinator's rows say which attempt counts: an
 * abandoned attempt finds another id at the target, and another row at the commit.
 */
import { inParallel } from "../../../core/base/in-parallel";
import { HANDOFF_TIMEOUT_MS } from "../../rpc/limits";
import { RPC_TIMEOUT_MS } from "../../../core/base/limits";
import { isTimeout, withTimeout } from "../../../core/base/timeout";
import type { Move } from "../../topology/moves";
import type { HandoffRow } from "../state/coordinator-storage";
import { cutOf, lotsOf, nextMoves, roomOf, sameMoves, TARGETS_TOGETHER } from "../handoff-lots";
import { rested } from "../state/handoff-rules";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import { dropClaims } from "./drop-claims";

/**
 * Begins the next attempts of a source.
 *
 * @param stillHolds asked in the transaction that begins: whether the reason for handing over still holds
 * @returns `done`: attempts were begun, something was trimmed, or there is nothing to do; `failed`: the world changed meanwhile
 */
export async function handOver(context: JobContext, sourceUid: string, stillHolds: () => boolean): Promise<JobOutcome> {
  const chosen = nextMoves(context.view(), sourceUid, context.clock.now());
  if (chosen.length === 0) return "done";
  if (chosen.some((move) => move.prefix !== move.claim)) {
    const trimmed = await dropClaims(context, sourceUid, stillHolds);
    if (trimmed !== "waiting") return trimmed;
  }
  const targetUids = chosen.map((move) => move.targetUid);
  const silent = await silentTargets(context, targetUids);
  const moves = chosen.filter((move) => !silent.has(move.targetUid));
  const prefixes = moves.map((move) => move.prefix);
  const call = context.peers.owner(sourceUid).partition(prefixes, context.handoffRowsMax);
  const { pieces } = await withTimeout(context.clock, RPC_TIMEOUT_MS, call);
  let begun = false;
  context.mutate(() => {
    if (!stillHolds() || !sameMoves(chosen, nextMoves(context.view(), sourceUid, context.clock.now()))) return;
    begun = begin(context, { sourceUid, moves, pieces, silent });
  });
  return begun ? "done" : "failed";
}

/** Cuts the source's segments and writes one row per target: an attempt, or a rest. To be called in a transaction. */
function begin(
  { storage, recorder, clock, handoffRowsMax, view: viewNow }: JobContext,
  attempts: { sourceUid: string; moves: readonly Move[]; pieces: { prefix: string; rows: number }[]; silent: ReadonlyMap<string, boolean> },
): boolean {
  const { sourceUid, moves, pieces, silent } = attempts;
  const view = viewNow();
  const now = clock.now();
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
  const lots = lotsOf(view, moves, { pieces, rowsMax: handoffRowsMax });
  const cut = cutOf(
    view.claimsOf(sourceUid),
    moves,
    pieces.map((piece) => piece.prefix),
  );
  const isRoom = roomOf(view, sourceUid) >= cut.come.length - cut.go.length;
  if (isRoom) {
    for (const prefix of cut.go) storage.claimDelete(prefix);
    for (const prefix of cut.come) storage.claimInsert({ prefix, ownerUid: sourceUid, seeded: true });
  }
  for (const [targetUid, isLost] of silent) storage.handoffSave(rested(attempt(targetUid), now, isLost));
  const crowded: string[] = [];
  for (const [targetUid, prefixes] of lots) {
    if (isRoom && prefixes.length > 0) storage.handoffSave({ ...attempt(targetUid), prefixes });
    else {
      storage.handoffSave(rested(attempt(targetUid), now));
      crowded.push(targetUid);
    }
  }
  if (crowded.length > 0) {
    recorder.log("warn", "a hand-off has no room", { source: sourceUid, full: isRoom ? "target" : "source", targets: crowded.join() });
  }
  return lots.size + silent.size > 0;
}

/**
 * The targets that do not answer, by uid. An object that is asleep or new takes time to start: nothing is frozen while it does, and nothing at
 * all for one that never starts. The value says whether the call was lost: that costs nothing and may not happen again, while a target that hangs
 * holds up the others each time.
 */
async function silentTargets(context: JobContext, targetUids: readonly string[]): Promise<Map<string, boolean>> {
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
