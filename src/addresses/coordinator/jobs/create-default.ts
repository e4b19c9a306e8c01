/** Creates the default ServiceCIDR of a cluster that has none. */
import { createFailedReport } from "../default-range";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import { defaultServiceCIDR } from "../state/service-cidr-object";

export async function createDefault({ objects, reports, settings }: JobContext): Promise<JobOutcome> {
  try {
    return (await objects.createInternal(defaultServiceCIDR(settings.defaultRanges))) ? "done" : "failed";
  } catch (error) {
    reports.ofDefault(createFailedReport());
    throw error;
  }
}
