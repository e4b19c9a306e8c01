/**
 * Counts what Services hold at owners, before something is taken away that has to be empty: a ServiceCIDR, or a part of a segment.
 *
 * An answer is on its way between the count and the transaction that acts on it. Nothing is given out meanwhile, under the configuration that the
 * count was asked with. But a Service that lost its row might take it again (ledger/row-repair.ts), and lose it once more. So the owners are closed
 * to that before the deciding count, by a configuration with an epoch. The transaction sees in the epochs whether the owners still are closed. An
 * earlier count, which closes nothing, finds what is not empty.
 */
import { chunksOf } from "../../core/base/chunks";
import { OWNER_INTERVALS_MAX } from "../rpc/limits";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { withTimeout } from "../../core/base/timeout";
import type { AddressInterval } from "../rpc/service-cidr";
import { doubtOwner } from "./doubt-owner";
import type { JobContext } from "./job-context";

/** Enough for busy owners to confirm and to count; a Service that lost a row waits no longer than that for it. */
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
  for (const chunk of chunksOf(intervals, OWNER_INTERVALS_MAX)) {
    const answer = await withTimeout(context.clock, RPC_TIMEOUT_MS, context.peers.owner(owner.uid).countTaken(chunk));
    if (answer.epoch !== owner.epoch) {
      doubtOwner(context, owner.uid);
      return undefined;
    }
    counts.push(...answer.taken);
  }
  return counts;
}

/** Has the owners take back no lost rows for a while. The deciding count comes when they have confirmed that. */
export function closeForCount({ clock, storage, view, mutate }: JobContext, ownerUids: readonly string[]): void {
  const closedUntil = clock.now() + CLOSED_MS;
  mutate(() => {
    const { owners } = view();
    for (const uid of ownerUids) {
      const owner = owners.get(uid);
      if (owner) storage.ownerSave({ ...owner, closedUntil });
    }
  });
}
