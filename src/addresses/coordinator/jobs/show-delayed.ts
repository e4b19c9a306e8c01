/** Shows on a ServiceCIDR that is being deleted which other ServiceCIDRs its deletion waits for. */
import type { CidrRow } from "../state/coordinator-storage";
import { editObject } from "../edit-object";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import { delayed, withReadyCondition } from "../state/service-cidr-object";

export function showDelayed(context: JobContext, cidr: CidrRow): Promise<JobOutcome> {
  const { clock, view } = context;
  return editObject(context, cidr, (object) => {
    const waitsFor = view().awaited(cidr.uid, clock.now());
    return waitsFor.length > 0 ? withReadyCondition(object, delayed(waitsFor), clock.now()) : undefined;
  });
}
