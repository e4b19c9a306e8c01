/**
 * What Services hold at owners, counted before something is taken away for which it has to be nothing: a ServiceCIDR, or a part of a segment.
 *
 * Between the count and the transaction that acts on it lies an answer on its way. Nothing is given out meanwhile, under the configuration that
 * the count was asked with; but a Service that lost its row might take it again (row-repair.ts), and lose it once more. So the owners are closed
 * to that before the count that decides: by a configuration with an epoch, as all that an owner may do or not, so that the transaction sees in
 * the epochs whether it still is so. What is not empty is found by a count before, which closes nothing.
 */
import { OWNER_INTERVALS_MAX, RPC_TIMEOUT_MS } from "../../core/base/limits";
import { withTimeout } from "../../core/base/timeout";
import type { AddressInterval } from "../topology/coverage";
import type { JobContext } from "./context";

/** Enough for owners that are busy to confirm and to count; a Service that lost a row waits no longer for it than that. */
const CLOSED_MS = 6 * RPC_TIMEOUT_MS;

/**
 * Addresses of Services in each of the intervals; undefined when the owner does not have the configuration that the question assumes. Throws
 * when it does not answer.
 */
export async function countTaken(
  context: JobContext,
  owner: { uid: string; epoch: number },
  intervals: readonly AddressInterval[],
): Promise<number[] | undefined> {
  const counts: number[] = [];
  for (let start = 0; start < intervals.length; start += OWNER_INTERVALS_MAX) {
    const call = context.peers.owner(owner.uid).countTaken(intervals.slice(start, start + OWNER_INTERVALS_MAX));
    const answer = await withTimeout(context.clock, RPC_TIMEOUT_MS, call);
    if (answer.epoch !== owner.epoch) {
      context.doubt(owner.uid);
      return undefined;
    }
    counts.push(...answer.taken);
  }
  return counts;
}

/** Has the owners take back no lost rows for a while. The count that decides comes when they have confirmed that. */
export function closeForCount(context: JobContext, ownerUids: readonly string[]): void {
  const closedUntil = context.clock.now() + CLOSED_MS;
  context.mutate(() => {
    const { owners } = context.view();
    for (const uid of ownerUids) {
      const owner = owners.get(uid);
      if (owner) context.storage.ownerSave({ ...owner, closedUntil });
    }
  });
}
