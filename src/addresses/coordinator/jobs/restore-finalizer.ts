/** Puts the finalizer back on a ServiceCIDR that has lost it. */
import type { CidrRow } from "../state/coordinator-storage";
import { editObject } from "../edit-object";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import { addFinalizer } from "../state/service-cidr-object";

export function restoreFinalizer(context: JobContext, cidr: CidrRow): Promise<JobOutcome> {
  return editObject(context, cidr, (object) => {
    const after = { ...object };
    addFinalizer(after);
    return after;
  });
}
