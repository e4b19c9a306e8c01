/**
 * The end of a ServiceCIDR. Nothing new can appear in what it alone covers: the owners have confirmed that before. Each step looks
 * at the world again in the transaction that acts, because an await lies between the count and the decision.
 */
import type { ServiceCIDR } from "../../../api/meta/kubernetes";
import { inParallel } from "../../../core/base/in-parallel";
import type { AddressInterval } from "../../rpc/service-cidr";
import type { CidrRow } from "../state/coordinator-storage";
import { editObject } from "../edit-object";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import { delayed, TERMINATING, withoutFinalizer, withReadyCondition } from "../state/service-cidr-object";
import { closeForCount, countTaken } from "../taken-count";
import type { TopologyView } from "../state/topology-view";
import { handOver } from "./hand-over";

/** Owners that are asked at once. */
const COUNTS_TOGETHER = 100;

/**
 * Lets the object go when it alone covers no address of a Service, and others have taken over the segments that its owner writes. Before that,
 * it begins to hand these over, or says on the object what the deletion waits for.
 */
export async function deleteObject(context: JobContext, cidr: CidrRow): Promise<JobOutcome> {
  const before = context.view();
  const evidence = gather(before, cidr.uid);
  const taken = await isAnyTaken(context, evidence);
  if (taken === undefined) return "failed";
  const show = (condition: typeof TERMINATING): Promise<JobOutcome> =>
    editObject(context, cidr, (object) => withReadyCondition(object, condition, context.clock.now()));
  if (taken) {
    await show(TERMINATING);
    return "waiting";
  }
  const stillHolds = (): boolean => sameEvidence(evidence, gather(context.view(), cidr.uid));
  if (context.view().movesOf(cidr.uid).length > 0) {
    const waitsFor = context.view().awaited(cidr.uid, context.clock.now());
    if (waitsFor.length > 0) await show(delayed(waitsFor));
    return handOver(context, cidr.uid, stillHolds);
  }
  if (!evidence.every(({ uid }) => before.isClosed(uid))) {
    closeForCount(
      context,
      evidence.map(({ uid }) => uid),
    );
    return "done";
  }
  // Asked in the transaction: a cover may have come that has to take segments over first, or one may have gone.
  const free = (object: ServiceCIDR): ServiceCIDR | undefined =>
    stillHolds() && context.view().movesOf(cidr.uid).length === 0 ? withoutFinalizer(object) : undefined;
  return editObject(context, cidr, free);
}

/**
 * What the decision to let an object go rests on. While these are the epochs, the owners give out nothing in the intervals; and when they are
 * closed under these epochs, they take back nothing.
 */
type Evidence = { uid: string; epoch: number; intervals: AddressInterval[] }[];

function gather(view: TopologyView, cidrUid: string): Evidence {
  return [...view.onlyCoveredBy(cidrUid)].map(([uid, intervals]) => ({ uid, epoch: view.owners.get(uid)?.epoch ?? 0, intervals }));
}

function sameEvidence(a: Evidence, b: Evidence): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether a Service has an address there; undefined when an owner does not have the configuration that the question assumes. */
async function isAnyTaken(context: JobContext, evidence: Evidence): Promise<boolean | undefined> {
  let isTaken: boolean | undefined = false;
  await inParallel(evidence, COUNTS_TOGETHER, async ({ intervals, ...owner }) => {
    const taken = await countTaken(context, owner, intervals);
    if (!taken) isTaken = undefined;
    else if (taken.some((count) => count > 0) && isTaken === false) isTaken = true;
  });
  return isTaken;
}
