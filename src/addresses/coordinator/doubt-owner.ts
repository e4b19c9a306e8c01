/** An owner that answers under another configuration than the one that it confirmed last. */
import type { JobContext } from "./job-context";

/**
 * Has the owner told its configuration again (rule 11). The rows here, or the owner's, are of another time (restored from a backup);
 * the owner's answer decides what follows. An answer older than the last confirmation only causes a repeat.
 */
export function doubtOwner(
  { storage, recorder, view, mutate }: Pick<JobContext, "storage" | "recorder" | "view" | "mutate">,
  uid: string,
): void {
  const row = view().owners.get(uid);
  if (!row || row.ackedEpoch !== row.epoch) return;
  recorder.log("warn", "an owner differs from its Coordinator", { owner: uid, epoch: row.epoch });
  mutate(() => storage.ownerSave({ ...row, ackedEpoch: 0 }));
}
