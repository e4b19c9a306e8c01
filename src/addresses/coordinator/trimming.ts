/**
 * Dropping what an owner has left when its object is gone, or goes: the parts of its segments that no other ServiceCIDR names, once no Service
 * holds an address there. An owner left without segments is retired by the configuration that follows.
 *
 * What has no name gives out nothing, under the configuration that the count is asked with; as long as that is the newest, and the owner's,
 * nobody gets an address there, nor takes one back that it lost (counting.ts). IPAddress objects that others than the allocator made keep
 * nothing, as upstream.
 */
import { PrefixIndex } from "../topology/prefix-index";
import { parseAddress } from "../../core/net/address";
import type { JobContext } from "./context";
import { closeForCount, countTaken } from "./counting";
import type { JobOutcome } from "./job-runner";

/**
 * `waiting`: there are addresses in all of it, or nothing to trim. `done`: something was dropped, or will be when it is still empty under the
 * configuration that was made for that. `stillHolds` is asked in the transaction that drops.
 */
export async function trimClaims(context: JobContext, ownerUid: string, stillHolds: () => boolean = () => true): Promise<JobOutcome> {
  const before = context.view();
  const epoch = before.owners.get(ownerUid)?.epoch;
  const remainders = before.remaindersOf(ownerUid);
  if (epoch === undefined || remainders.length === 0) return "waiting";
  const gaps = remainders.flatMap((remainder) => remainder.gaps);
  const taken = await countTaken(context, { uid: ownerUid, epoch }, gaps);
  if (!taken) return "failed";
  let next = 0;
  const empty = remainders.filter((remainder) => taken.slice(next, (next += remainder.gaps.length)).every((count) => count === 0));
  if (empty.length === 0) return "waiting";
  if (!before.isClosed(ownerUid)) {
    closeForCount(context, [ownerUid]);
    return "done";
  }
  let dropped = false;
  context.mutate(() => {
    const now = context.view();
    if (now.owners.get(ownerUid)?.epoch !== epoch || !stillHolds()) return;
    const same = new Set(now.remaindersOf(ownerUid).map((remainder) => JSON.stringify(remainder)));
    const claims = new Map(now.claimsOf(ownerUid).map((claim) => [claim.prefix, claim]));
    for (const remainder of empty) {
      const claim = claims.get(remainder.claim);
      if (!claim || !same.has(JSON.stringify(remainder))) continue;
      context.storage.claimDelete(claim.prefix);
      for (const prefix of remainder.named) context.storage.claimInsert({ prefix, ownerUid, seeded: claim.seeded });
      dropped = true;
    }
    if (dropped) forgetSeedings(context, ownerUid);
  });
  return dropped ? "done" : "failed";
}

/** What was to be marked taken in a segment that is the owner's no more went with it. */
function forgetSeedings(context: JobContext, ownerUid: string): void {
  const index = new PrefixIndex(
    context
      .view()
      .claimsOf(ownerUid)
      .map(({ parsed }) => ({ prefix: parsed, value: parsed })),
  );
  for (const { token, address } of context.storage.seedingsOf(ownerUid)) {
    const parsed = parseAddress(address);
    if (!parsed.ok || index.containing(parsed.value.family, parsed.value.value).length === 0) context.storage.seedingDelete(token);
  }
}
