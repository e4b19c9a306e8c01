/**
 * The end of a ServiceCIDR (DESIGN §4). By now nothing new can appear in what it alone covers: the owners have confirmed. Each step looks at
 * the world again in the transaction that acts, because an await lies between the count and the decision.
 */
import { RPC_TIMEOUT_MS } from "../base/limits";
import { withTimeout } from "../base/timeout";
import { lastOf } from "../net/prefix";
import { formatAddress } from "../net/address";
import type { ServiceCIDR } from "../meta/kubernetes";
import type { AddressInterval } from "../topology/coverage";
import type { JobContext } from "./context";
import type { CidrRow } from "./coordinator-storage";
import { handOver } from "./handing-over";
import type { JobOutcome } from "./job-runner";
import { TERMINATING, withoutFinalizer, withReadyCondition } from "./service-cidr-object";
import type { View } from "./view";

/**
 * Lets the object go when no address of a Service is covered by it alone, and others have taken over what its owner writes for them; before,
 * begins to hand that over, or says on the object why it waits.
 */
export async function releaseObject(context: JobContext, cidr: CidrRow): Promise<JobOutcome> {
  const evidence = gather(context.view(), cidr.uid);
  const taken = await countTaken(context, evidence.owners, evidence.intervals);
  if (taken === undefined) return "failed";
  const key = { namespace: "", name: cidr.name };
  if (taken > 0) {
    await context.objects.updateInternal(key, cidr.uid, (object) => withReadyCondition(object, TERMINATING, context.clock.now()));
    return "waiting";
  }
  const stillHolds = (): boolean => sameEvidence(evidence, gather(context.view(), cidr.uid));
  if (context.view().movesOf(cidr.uid).length > 0) return handOver(context, cidr.uid, stillHolds);
  // Looked at again in the transaction: a cover may have come that is to take segments over first, or one may have gone.
  const free = (object: ServiceCIDR): ServiceCIDR | undefined =>
    stillHolds() && context.view().movesOf(cidr.uid).length === 0 ? withoutFinalizer(object) : undefined;
  return (await context.objects.updateInternal(key, cidr.uid, free)) ? "done" : "failed";
}

/**
 * Drops the segments that no ServiceCIDR object names any more once no Service holds an address in them. An owner left without segments is
 * retired by the configuration that follows.
 */
export async function dropUnnamedClaims(context: JobContext, ownerUid: string): Promise<JobOutcome> {
  const before = context.view();
  const owner = before.owners.get(ownerUid);
  const unnamed = before.claimsOf(ownerUid).filter((claim) => !before.isNamed(claim));
  if (!owner || unnamed.length === 0) return "done";
  const intervals = unnamed.map(({ parsed }) => ({
    first: formatAddress(parsed.family, parsed.base),
    last: formatAddress(parsed.family, lastOf(parsed)),
  }));
  const taken = await countTaken(context, new Map([[ownerUid, owner.epoch]]), intervals);
  if (taken === undefined) return "failed";
  if (taken > 0) return "waiting";
  context.mutate(() => {
    const now = context.view();
    if (now.owners.get(ownerUid)?.epoch !== owner.epoch) return;
    for (const claim of unnamed) if (!now.isNamed(claim)) context.storage.claimDelete(claim.prefix);
    if (now.claimsOf(ownerUid).every((claim) => claim.seeded || unnamed.some((gone) => gone.prefix === claim.prefix))) {
      context.storage.seedingsClear(ownerUid);
    }
  });
  return "done";
}

/** What the decision to let an object go rests on. */
interface Evidence {
  intervals: AddressInterval[];
  /** owner uid -> epoch: as long as it stays, the owner gave out nothing in the intervals */
  owners: Map<string, number>;
}

function gather(view: View, cidrUid: string): Evidence {
  const owners = view.ownersUnder(view.rangesOf(cidrUid));
  return { intervals: view.onlyCoveredBy(cidrUid), owners: new Map(owners.map((uid) => [uid, view.owners.get(uid)?.epoch ?? 0])) };
}

function sameEvidence(a: Evidence, b: Evidence): boolean {
  return JSON.stringify([a.intervals, [...a.owners]]) === JSON.stringify([b.intervals, [...b.owners]]);
}

/** Addresses of Services in the intervals; undefined when an owner does not have the configuration that the question assumes. */
async function countTaken(
  context: JobContext,
  owners: ReadonlyMap<string, number>,
  intervals: AddressInterval[],
): Promise<number | undefined> {
  if (intervals.length === 0) return 0;
  const answers = await Promise.all(
    [...owners].map(async ([uid, epoch]) => {
      const answer = await withTimeout(context.clock, RPC_TIMEOUT_MS, context.peers.owner(uid).countTaken(intervals));
      return answer.epoch === epoch ? answer.taken : undefined;
    }),
  );
  let total = 0;
  for (const taken of answers) {
    if (taken === undefined) return undefined;
    total += taken;
  }
  return total;
}
