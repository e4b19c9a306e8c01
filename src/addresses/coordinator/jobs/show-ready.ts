/** Shows on a ServiceCIDR that it gives out addresses. */
import type { CidrRow } from "../state/coordinator-storage";
import { defaultReadyFailedReport } from "../default-range";
import { editObject } from "../edit-object";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import { DEFAULT_SERVICE_CIDR, READY, readyFailedReport, withReadyCondition } from "../state/service-cidr-object";

export async function showReady(context: JobContext, cidr: CidrRow): Promise<JobOutcome> {
  const { clock, objects, reports, view } = context;
  try {
    return await editObject(context, cidr, (object) =>
      view().isReady(cidr.uid) ? withReadyCondition(object, READY, clock.now()) : undefined,
    );
  } catch (error) {
    const object = objects.read(cidr.name);
    if (object && cidr.name === DEFAULT_SERVICE_CIDR) reports.ofDefault(defaultReadyFailedReport(object));
    else if (object) reports.ofRange(readyFailedReport(object));
    throw error;
  }
}
