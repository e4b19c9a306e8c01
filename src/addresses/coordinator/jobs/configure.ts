/** Pushes one configuration to one owner until the owner confirms it (rules 9, 11 and 17). */
import { assert } from "../../../core/base/assert";
import { RPC_TIMEOUT_MS } from "../../../core/base/limits";
import { withTimeout } from "../../../core/base/timeout";
import type { ConfigureResult } from "../../rpc/service-cidr";
import type { OwnerContent } from "../../topology/owner-content";
import { giveUpOwner } from "../give-up-owner";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";

/** Pushes the configuration of `epoch`, unless a newer one was persisted meanwhile. */
export async function configureOwner(context: JobContext, target: { uid: string; epoch: number }): Promise<JobOutcome> {
  const { uid, epoch } = target;
  // Its free count changes with its configuration.
  context.hints.forget(uid);
  const row = context.view().owners.get(uid);
  if (row?.epoch !== epoch) return "done";
  const content = JSON.parse(row.content) as OwnerContent;
  const result = await withTimeout(context.clock, RPC_TIMEOUT_MS, context.peers.owner(uid).configure({ epoch, ...content }));
  if (!result.ok) return refused(context, target, result);
  await context.mutateTogether(() => {
    const now = context.view().owners.get(uid);
    if (now && now.ackedEpoch < epoch) context.storage.ownerSave({ ...now, ackedEpoch: epoch });
  });
  return "done";
}

/**
 * The owner has another configuration. A call with an older epoch is ignored. Otherwise this object's rows are older than what it sent: they were
 * restored from a backup. The same content goes out again under an epoch that the owner has not seen, and a retired owner is given up.
 */
async function refused(
  context: JobContext,
  target: { uid: string; epoch: number },
  result: Extract<ConfigureResult, { ok: false }>,
): Promise<JobOutcome> {
  const row = context.view().owners.get(target.uid);
  if (row?.epoch !== target.epoch) return "done";
  context.recorder.log("error", "an owner refused its configuration", {
    owner: target.uid,
    epoch: target.epoch,
    reason: result.reason,
    seen: result.epoch,
  });
  if (result.reason === "retired") return giveUpOwner(context, target.uid, result.epoch);
  context.mutate(() => {
    const epoch = Math.max(context.view().epoch, result.epoch) + 1;
    assert(epoch > target.epoch, "an epoch is never used twice");
    context.storage.epochSave(epoch);
    context.storage.ownerSave({ ...row, epoch });
  });
  return "done";
}
