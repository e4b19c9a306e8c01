/** Adds the second configured family to the default ServiceCIDR. */
import type { CidrRow } from "../state/coordinator-storage";
import { upgraded, upgradeFailedReport } from "../default-range";
import { editObject } from "../edit-object";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";

export async function extendDefault(context: JobContext, cidr: CidrRow): Promise<JobOutcome> {
  const { objects, reports, settings } = context;
  const before = objects.read(cidr.name);
  try {
    return await editObject(context, cidr, (object) => upgraded(object, settings.defaultRanges));
  } catch (error) {
    if (before) reports.ofDefault(upgradeFailedReport(before, settings.defaultRanges, String(error)));
    throw error;
  }
}
