/**
 * Seeds new segments: before they give out addresses, the owner takes the addresses of the IPAddress objects that lie inside (rule 15). The
 * ipaddresses store first acknowledges the segments; from then on, creates go through the owner. Then rounds of listing and taking follow, until a
 * list brings nothing new and misses nothing that was taken. The address of an object that was deleted in between is taken back by its token.
 */
import { chunksOf } from "../../../core/base/chunks";
import { RPC_TIMEOUT_MS } from "../../../core/base/limits";
import { withTimeout } from "../../../core/base/timeout";
import type { SeedRow } from "../../rpc/ip-addresses";
import { doubtOwner } from "../doubt-owner";
import type { JobContext } from "../job-context";
import type { JobOutcome } from "../job-runner";
import type { ParsedClaim } from "../state/row-index";

/** Rounds of one job. More rounds mean that IPAddress objects come and go all the time; the job has its next turn later. */
const ROUNDS_MAX = 8;
/** Rows of one call to the owner. */
const CALL_ROWS_MAX = 1_000;

/** Seeds the new segments of one owner, which has confirmed that it owns them. */
export async function seedOwner(context: JobContext, ownerUid: string): Promise<JobOutcome> {
  const taken = new Set<string>();
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const view = context.view();
    const segments = view.claimsOf(ownerUid).filter((claim) => !claim.seeded);
    const owner = view.owners.get(ownerUid);
    if (segments.length === 0 || !owner || owner.ackedEpoch !== owner.epoch) return "done";
    const inside = await context.listing.inside(segments.map((segment) => segment.prefix));
    const fresh = inside.filter((row) => !taken.has(row.token));
    const present = new Set(inside.map((row) => row.token));
    const gone = context.storage.seedingsOf(ownerUid).filter((row) => !present.has(row.token));
    if (fresh.length === 0 && gone.length === 0) {
      await context.mutateTogether(() => finish(context, ownerUid, segments));
      return "done";
    }
    await takeBack(context, ownerUid, gone);
    if (!(await take(context, { ownerUid, epoch: owner.epoch, rows: fresh }))) return "failed";
    for (const row of fresh) taken.add(row.token);
  }
  return "waiting";
}

/** The intention is durable before the call: the next attempt finds what a crash leaves at the owner. */
async function take(context: JobContext, seed: { ownerUid: string; epoch: number; rows: readonly SeedRow[] }): Promise<boolean> {
  const { ownerUid, epoch, rows } = seed;
  context.storage.transaction(() => {
    for (const { token, address } of rows) context.storage.seedingSave({ token, address, ownerUid });
  });
  for (const chunk of chunksOf(rows, CALL_ROWS_MAX)) {
    const call = context.peers.owner(ownerUid).seed(epoch, chunk);
    if ((await withTimeout(context.clock, RPC_TIMEOUT_MS, call)) === "stale") {
      doubtOwner(context, ownerUid);
      return false;
    }
  }
  return true;
}

async function takeBack(context: JobContext, ownerUid: string, gone: readonly { address: string; token: string }[]): Promise<void> {
  for (const chunk of chunksOf(gone, CALL_ROWS_MAX)) {
    const items = chunk.map(({ address, token }) => ({ address, token }));
    const answers = await withTimeout(context.clock, RPC_TIMEOUT_MS, context.peers.owner(ownerUid).release(items));
    context.storage.transaction(() => {
      answers.forEach((answer, i) => {
        const item = items[i];
        if (item && answer === "released") context.storage.seedingDelete(item.token);
      });
    });
  }
}

/** Those segments of the last list that are still this owner's are seeded; to be called in a transaction. */
function finish({ storage, view }: JobContext, ownerUid: string, segments: readonly ParsedClaim[]): void {
  const now = new Set(
    view()
      .claimsOf(ownerUid)
      .map((claim) => claim.prefix),
  );
  for (const { prefix } of segments) if (now.has(prefix)) storage.claimSeeded(prefix);
  storage.seedingsClear(ownerUid);
}
