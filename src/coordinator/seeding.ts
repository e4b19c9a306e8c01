/**
 * Before a new segment gives out addresses, the IPAddress objects that already lie inside it are marked taken at its owner (PROTOCOL rule
 * 15). The ipaddresses store first acknowledges the segments, so that from then on creates go through the owner; then list, mark, list
 * again, until a list brings nothing new and misses nothing that was marked: an object deleted in between is taken back by its token.
 */
import { RPC_TIMEOUT_MS } from "../base/limits";
import { withTimeout } from "../base/timeout";
import { parseAddress } from "../net/address";
import type { SeedRow } from "../rpc/ip-addresses";
import { PrefixIndex } from "../topology/prefix-index";
import type { JobContext } from "./context";
import type { JobOutcome } from "./job-runner";
import type { Claim } from "./view";

/** Rounds of one job; more means that IPAddress objects come and go all the time, and the job has its turn again later. */
const ROUNDS_MAX = 8;
/** Rows of one call to the owner. */
const CALL_ROWS_MAX = 1_000;

/** Seeds the new segments of one owner, which has confirmed that it owns them. */
export async function seedOwner(context: JobContext, ownerUid: string): Promise<JobOutcome> {
  const marked = new Set<string>();
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const view = context.view();
    const segments = view.claimsOf(ownerUid).filter((claim) => !claim.seeded);
    const owner = view.owners.get(ownerUid);
    if (segments.length === 0 || !owner || owner.ackedEpoch !== owner.epoch) return "done";
    const listed = await list(context, segments);
    const inside = listedInside(segments, listed);
    const fresh = inside.filter((row) => !marked.has(row.token));
    const present = new Set(inside.map((row) => row.token));
    const gone = context.storage.seedingsOf(ownerUid).filter((row) => !present.has(row.token));
    if (fresh.length === 0 && gone.length === 0) {
      finish(context, ownerUid, segments);
      return "done";
    }
    await takeBack(context, ownerUid, gone);
    if (!(await mark(context, { ownerUid, epoch: owner.epoch, rows: fresh }))) return "failed";
    for (const row of fresh) marked.add(row.token);
  }
  return "waiting";
}

/** All pages. What is created between two of them takes its row at the owner, because the first one made the claims known. */
async function list(context: JobContext, segments: readonly Claim[]): Promise<SeedRow[]> {
  const rows: SeedRow[] = [];
  const within = segments.map((segment) => segment.prefix);
  for (let after = ""; ;) {
    const view = context.view();
    const prefixes = view.claims.map((claim) => claim.prefix);
    const call = context.peers.ipAddresses().claimPrefixes(view.epoch, prefixes, { within, after });
    const page = await withTimeout(context.clock, RPC_TIMEOUT_MS, call);
    rows.push(...page.rows);
    if (page.next === "") return rows;
    after = page.next;
  }
}

function listedInside(segments: readonly Claim[], listed: readonly SeedRow[]): SeedRow[] {
  const index = new PrefixIndex(segments.map((segment) => ({ prefix: segment.parsed, value: segment.prefix })));
  return listed.filter(({ address }) => {
    const parsed = parseAddress(address);
    return parsed.ok && index.containing(parsed.value.family, parsed.value.value).length > 0;
  });
}

/** The intention is durable before the call: what a crash leaves at the owner is found by the next attempt. */
async function mark(context: JobContext, seed: { ownerUid: string; epoch: number; rows: readonly SeedRow[] }): Promise<boolean> {
  const { ownerUid, epoch, rows } = seed;
  context.storage.transaction(() => {
    for (const { token, address } of rows) context.storage.seedingSave({ token, address, ownerUid });
  });
  for (let start = 0; start < rows.length; start += CALL_ROWS_MAX) {
    const call = context.peers.owner(ownerUid).seed(epoch, rows.slice(start, start + CALL_ROWS_MAX));
    if ((await withTimeout(context.clock, RPC_TIMEOUT_MS, call)) === "stale") return false;
  }
  return true;
}

async function takeBack(context: JobContext, ownerUid: string, gone: readonly { address: string; token: string }[]): Promise<void> {
  for (let start = 0; start < gone.length; start += CALL_ROWS_MAX) {
    const items = gone.slice(start, start + CALL_ROWS_MAX).map(({ address, token }) => ({ address, token }));
    const answers = await withTimeout(context.clock, RPC_TIMEOUT_MS, context.peers.owner(ownerUid).release(items));
    context.storage.transaction(() => {
      answers.forEach((answer, i) => {
        const item = items[i];
        if (item && answer === "released") context.storage.seedingDelete(item.token);
      });
    });
  }
}

/** Marks the segments of the last list as seeded, those that are still this owner's. */
function finish(context: JobContext, ownerUid: string, segments: readonly Claim[]): void {
  context.mutate(() => {
    const now = new Set(
      context
        .view()
        .claimsOf(ownerUid)
        .map((claim) => claim.prefix),
    );
    for (const { prefix } of segments) if (now.has(prefix)) context.storage.claimSeeded(prefix);
    context.storage.seedingsClear(ownerUid);
  });
}
