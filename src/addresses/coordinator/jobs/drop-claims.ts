/**
 * Drops the remainders of an owner whose object is gone or being deleted: the parts of its segments that no other ServiceCIDR names, once no
 * Service holds an address there. An owner left without segments is retired by the configuration that follows.
 *
 * Parts without a name give out nothing under the configuration that the count is asked with. While that configuration is the newest, and the
 * owner's, nobody gets an address there, nor takes a lost one back (taken-count.ts). IPAddress objects that the allocator did not make keep
 * nothing alive, as upstream.
 */
import { parseAddress } from "../../../core/net/address";
import { PrefixIndex } from "../../topology/prefix-index";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import { closeForCount, countTaken } from "../taken-count";

/**
 * @param stillHolds asked in the transaction that drops: whether the reason for dropping still holds
 * @returns `waiting`: all remainders hold addresses, or there is none. `done`: something was dropped, or the owner is being closed so that a
 *   second count can decide
 */
export async function dropClaims(context: JobContext, ownerUid: string, stillHolds: () => boolean = () => true): Promise<JobOutcome> {
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

/** Forgets the seedings in segments that are no longer the owner's. */
function forgetSeedings({ storage, view }: JobContext, ownerUid: string): void {
  const claims = view().claimsOf(ownerUid);
  const index = new PrefixIndex(claims.map(({ parsed }) => ({ prefix: parsed, value: parsed })));
  for (const { token, address } of storage.seedingsOf(ownerUid)) {
    const parsed = parseAddress(address);
    if (!parsed.ok || index.containing(parsed.value.family, parsed.value.value).length === 0) storage.seedingDelete(token);
  }
}
