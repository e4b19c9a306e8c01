/** Creates the default ServiceCIDR of a cluster that has none. */
import { createFailedReport } from "../default-range";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import { DEFAULT_SERVICE_CIDR, defaultServiceCIDR } from "../state/service-cidr-object";

export async function createDefault({ objects, pools, reports, settings, view }: JobContext): Promise<JobOutcome> {
  const { defaultRanges: cidrs } = settings;
  try {
    // The ranges may be others than before, and pools have them. In a cluster that begins there is none: pools ask for the ranges first.
    const isFirst = view().epoch === 0;
    const met = isFirst ? undefined : await pools?.met({ name: DEFAULT_SERVICE_CIDR, natDomain: "", cidrs });
    if (met === undefined) return (await objects.createInternal(defaultServiceCIDR(cidrs))) ? "done" : "failed";
    reports.ofDefault(createFailedReport(met));
    return "failed";
  } catch (error) {
    reports.ofDefault(createFailedReport());
    throw error;
  }
}
