/**
 * An owner that is retired, and of which the rows here say that it writes addresses: they are older than what it was told, restored from a
 * backup. A tombstone never writes again, so the owner is given up, and what it had is claimed anew, as if its ServiceCIDRs had just been made:
 *
 * - the ServiceCIDR that the owner was made for is back with the backup; it is replaced by one of its name under another uid, which gets an
 *   owner of its own. One that was being deleted is gone: that is what the tombstone says;
 * - what others cover of it is theirs;
 * - a segment that was on its way to the owner is its source's.
 *
 * All of it is seeded before it gives out an address. Rows of Services that went with the owner are taken again by repair.
 */
import { SERVICE_CIDR_SEGMENTS_MAX } from "../../core/base/limits";
import { containsPrefix, formatPrefix, type Prefix } from "../../core/net/prefix";
import { claimUnowned, largestOf } from "../topology/claim";
import { PrefixIndex } from "../topology/prefix-index";
import { storedPrefix } from "../topology/stored-prefix";
import type { JobContext } from "./context";
import type { JobOutcome } from "./job-runner";
import { ownerLostReport } from "./service-cidr-object";

/** All in one transaction. `seenEpoch`: of the tombstone. */
export async function giveUpOwner(context: JobContext, ownerUid: string, seenEpoch: number): Promise<JobOutcome> {
  const name = context.view().cidrs.get(ownerUid)?.name ?? "";
  const forget = (): void => {
    dropClaims(context, ownerUid);
    claimAgain(context, ownerUid);
  };
  if (name === "") {
    context.mutate(() => {
      forget();
      // Stands for the configured ranges, and is made anew with them.
      context.storage.cidrDelete(ownerUid);
    });
  } else {
    const replaced = await context.objects.replaceInternal({ namespace: "", name }, ownerUid, forget);
    if (!replaced) return "failed";
    if (replaced !== "gone") context.events.report(ownerLostReport(replaced));
  }
  context.recorder.log("error", "coordinator.owner-given-up", { owner: ownerUid, name, epoch: seenEpoch });
  return "done";
}

/** What was on its way to the owner is its source's again, all else nobody's. */
function dropClaims(context: JobContext, ownerUid: string): void {
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

/** Whoever else may give out addresses claims what nobody owns of its ranges. */
function claimAgain(context: JobContext, givenUpUid: string): void {
  const { cidrs, ranges, claims } = context.storage.load();
  const owned = claims.map(({ prefix }) => storedPrefix(prefix));
  for (const { uid, deleting } of cidrs) {
    if (deleting || uid === givenUpUid) continue;
    const wanted = ranges.filter((range) => range.uid === uid).map(({ prefix }) => storedPrefix(prefix));
    for (const claim of largestOf(claimUnowned(wanted, owned), SERVICE_CIDR_SEGMENTS_MAX)) {
      context.storage.claimInsert({ prefix: formatPrefix(claim), ownerUid: uid, seeded: false });
      owned.push(claim);
    }
  }
}
