/** A job that changes one ServiceCIDR object and nothing else. */
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import type { CidrRow } from "./state/coordinator-storage";
import type { JobContext } from "./job-context";
import type { JobOutcome } from "./job-runner";

/** `edit` runs in the transaction that commits; undefined = no change, which counts as a failure: what was planned is no longer so. */
export async function editObject(
  { objects }: Pick<JobContext, "objects">,
  cidr: CidrRow,
  edit: (object: ServiceCIDR) => ServiceCIDR | undefined,
): Promise<JobOutcome> {
  return (await objects.updateInternal({ namespace: "", name: cidr.name }, cidr.uid, edit)) ? "done" : "failed";
}
