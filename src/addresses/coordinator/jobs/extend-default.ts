/** Adds the second configured family to the default ServiceCIDR. */
import { natDomainOf } from "../../../api/registry/ipam/ipam";
import type { CidrRow } from "../state/coordinator-storage";
import { upgraded, upgradeFailedReport } from "../default-range";
import { editObject } from "../edit-object";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";

export async function extendDefault(context: JobContext, cidr: CidrRow): Promise<JobOutcome> {
  const { objects, pools, reports, settings } = context;
  const before = objects.read(cidr.name);
  const report = (why: string): void => {
    if (before) reports.ofDefault(upgradeFailedReport(before, settings.defaultRanges, why));
  };
  try {
    // Pools that come from now on meet the second range already: it is configured.
    const met = before && (await pools?.met({ name: cidr.name, natDomain: natDomainOf(before), cidrs: settings.defaultRanges.slice(1) }));
    if (met === undefined) return await editObject(context, cidr, (object) => upgraded(object, settings.defaultRanges));
    report(met);
    return "failed";
  } catch (error) {
    report(String(error));
    throw error;
  }
}
