/** Copies the rows of a hand-off that both owners are ready for, and commits it. */
import { assert } from "../../../core/base/assert";
import { RPC_TIMEOUT_MS } from "../../../core/base/limits";
import { withTimeout } from "../../../core/base/timeout";
import type { HandoffRow } from "../state/coordinator-storage";
import { doubtOwner } from "../doubt-owner";
import { isWorthIt, rested } from "../state/handoff-rules";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";

/** `uid` is the source's; `id` names the attempt. */
export async function copyRows(context: JobContext, attempt: { uid: string; targetUid: string; id: number }): Promise<JobOutcome> {
  const { uid, targetUid, id } = attempt;
  const { clock, peers } = context;
  const current = (): HandoffRow | undefined =>
    context
      .view()
      .handoffsOf(uid)
      .find((row) => row.targetUid === targetUid && row.id === id && row.phase === "copying");
  for (let after = ""; ;) {
    const row = current();
    if (!row) return "done";
    const out = await withTimeout(clock, RPC_TIMEOUT_MS, peers.owner(uid).copyOut({ handoff: id, prefixes: row.prefixes }, after));
    if (!out.ok) {
      doubtOwner(context, uid);
      return "failed";
    }
    if (!current()) return "done";
    const taken = await withTimeout(clock, RPC_TIMEOUT_MS, peers.owner(targetUid).receive(id, out.chunk));
    if (!taken.ok && taken.reason === "stale") {
      doubtOwner(context, targetUid);
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

/** The claims change hands, unless the attempt has ended or lost its reason by now. To be called in a transaction. */
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
