/**
 * Gives up a retired owner that the rows here still name as the writer of addresses: the rows are older than what the owner was told, restored
 * from a backup. A tombstone never writes again, so the owner's claims are made anew, as if its ServiceCIDRs had just been created:
 *
 * - The ServiceCIDR of the owner is back with the backup. One of the same name under another uid replaces it and gets an owner of its own. A
 *   ServiceCIDR that was being deleted is gone: that is what the tombstone says.
 * - What other ServiceCIDRs cover becomes theirs.
 * - A segment that was on its way to the owner goes back to its source.
 *
 * All of it is seeded before it gives out an address. Repair takes the rows of Services again that went with the owner.
 */
import { containsPrefix, type Prefix } from "../../core/net/prefix";
import { PrefixIndex } from "../topology/prefix-index";
import { storedPrefix } from "../topology/stored-prefix";
import type { JobContext } from "./job-context";
import type { JobOutcome } from "./job-runner";
import { ownerLostReport } from "./state/service-cidr-object";
import { claimUnownedFor } from "./state/unowned-claims";

/** Everything happens in one transaction. `seenEpoch`: the tombstone's, for the log. */
export async function giveUpOwner(context: JobContext, ownerUid: string, seenEpoch: number): Promise<JobOutcome> {
  const name = context.view().cidrs.get(ownerUid)?.name ?? "";
  const forget = (): void => {
    takeClaimsAway(context, ownerUid);
    claimAgain(context, ownerUid);
  };
  if (name === "") {
    context.mutate(() => {
      forget();
      // This row stands for the configured ranges, and is made anew with them.
      context.storage.cidrDelete(ownerUid);
    });
  } else {
    const replaced = await context.objects.replaceInternal({ namespace: "", name }, ownerUid, forget);
    if (!replaced) return "failed";
    if (replaced !== "gone") context.reports.ofRange(ownerLostReport(replaced));
  }
  context.recorder.log("error", "an owner was given up", { owner: ownerUid, name, epoch: seenEpoch });
  return "done";
}

/** Segments that were on their way to the owner become their source's again; all its others become nobody's. */
function takeClaimsAway(context: JobContext, ownerUid: string): void {
  const { storage } = context;
  const view = context.view();
  const coming: { prefix: string; parsed: Prefix; sourceUid: string }[] = [];
  for (const row of view.handoffs) {
    if (row.sourceUid !== ownerUid && row.targetUid !== ownerUid) continue;
    if (row.phase === "activating" && row.targetUid === ownerUid) {
      for (const prefix of row.prefixes) coming.push({ prefix, parsed: storedPrefix(prefix), sourceUid: row.sourceUid });
    }
    storage.handoffDelete(row);
  }
  const index = new PrefixIndex(coming.map((value) => ({ prefix: value.parsed, value })));
  for (const { prefix, parsed } of view.claimsOf(ownerUid)) {
    storage.claimDelete(prefix);
    // The owner may have cut the segment since.
    for (const whole of index.intersecting(parsed)) {
      const back = containsPrefix(whole.parsed, parsed) ? prefix : whole.prefix;
      storage.claimInsert({ prefix: back, ownerUid: whole.sourceUid, seeded: true });
    }
  }
  storage.seedingsClear(ownerUid);
}

/** Every other ServiceCIDR that is not being deleted claims what nobody owns of its ranges. */
function claimAgain({ storage }: JobContext, givenUpUid: string): void {
  const { cidrs, ranges, claims } = storage.load();
  const owned = claims.map(({ prefix }) => storedPrefix(prefix));
  for (const { uid, deleting } of cidrs) {
    if (deleting || uid === givenUpUid) continue;
    const wanted = ranges.filter((range) => range.uid === uid).map(({ prefix }) => storedPrefix(prefix));
    owned.push(...claimUnownedFor(storage, uid, { wanted, owned }));
  }
}
