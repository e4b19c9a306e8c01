/**
 * The shards of the directory of clusters as KV shows them to cron, and what KV has for them: clusters of which they may not know. Nothing here rejects.
 */
import { inParallel } from "../../core/base/in-parallel";
import { clusterShard } from "../../../durable-objects/peers/peers";
import type { DirectoryFacts } from "../../../durable-objects/peers/busy";
import type { Env } from "../../../durable-objects/platform/env";
import { BUSY_PREFIX, busyNoteIn, DIRECTORY_PREFIX, type Rhythm, SHARD_PREFIX } from "../../tenancy/directory-keys";
import type { ShardWork } from "../../tenancy/cluster-shard";
import type { ShardEntry } from "../../tenancy/rpc";
import { clusterShardOf, shardNumberIn } from "../../tenancy/shards";
import { log } from "../http/log";
import { call } from "./call";

/** Where a round through the whole directory stands. */
const CURSOR_KEY = "cron/cursor/shards";
/** What one run takes from the directory: 100,000 clusters in 20 hours. KV lists no more keys at once. */
const PAGE = 1_000;
const PAGES_PER_RUN = 5;
const ENTERED_TOGETHER = 6;

export interface KnownShard extends ShardWork {
  number: number;
}

/** In the order of their numbers. */
export async function knownShards({ DIRECTORY }: Env): Promise<KnownShard[]> {
  try {
    const { keys } = await DIRECTORY.list<ShardWork>({ prefix: SHARD_PREFIX, limit: PAGE });
    return keys
      .flatMap(({ name, metadata }) => {
        const number = shardNumberIn(name, SHARD_PREFIX);
        return number === undefined ? [] : [{ number, ...workIn(metadata) }];
      })
      .sort((a, b) => a.number - b.number);
  } catch (error) {
    log("error", "the directory of clusters did not answer", { prefix: SHARD_PREFIX, error: String(error) });
    return [];
  }
}

/** Whoever says nothing has work: a poke for nothing costs a call. */
function workIn(metadata: Partial<ShardWork> | null | undefined): ShardWork {
  return { minute: metadata?.minute !== false, hour: metadata?.hour !== false };
}

/** Notes of the release before, and of those whose shard did not answer. They expire by themselves. The result are shards that know of them now. */
export async function enterNotes(env: Env): Promise<number[]> {
  const entries: ShardEntry[] = [];
  // One list for both rhythms: it costs as much as a write, in each minute.
  await eachKey(env, BUSY_PREFIX, undefined, (rest, facts) => {
    const note = busyNoteIn(rest);
    if (note) entries.push(entryOf(note.id, [note.rhythm], facts));
  });
  return enter(env, entries);
}

/**
 * The next clusters of the directory, for shards that do not know them: they are older than shards, or a shard was brought back in time. The round goes
 * on for ever.
 */
export async function enterClusters(env: Env): Promise<void> {
  const { DIRECTORY } = env;
  const entries: ShardEntry[] = [];
  const cursor = (await DIRECTORY.get(CURSOR_KEY).catch(() => null)) ?? "";
  const next = await eachKey(env, DIRECTORY_PREFIX, cursor, (id, facts) => entries.push(entryOf(id, [], facts)));
  await enter(env, entries);
  try {
    // The next run begins anew behind a list that failed: it may have been the cursor.
    if (next) await DIRECTORY.put(CURSOR_KEY, next);
    else if (cursor) await DIRECTORY.delete(CURSOR_KEY);
  } catch (error) {
    log("warn", "cursor of a cron job could not be kept", { key: CURSOR_KEY, error: String(error) });
  }
}

function entryOf(id: string, rhythms: Rhythm[], facts: DirectoryFacts | null | undefined): ShardEntry {
  return { id, rhythms, facts: facts ?? null };
}

/** The keys behind the prefix, of some pages. Answers the cursor behind them; undefined = there are no more, or the list failed. */
async function eachKey(
  { DIRECTORY }: Env,
  prefix: string,
  from: string | undefined,
  take: (rest: string, facts: DirectoryFacts | null | undefined) => void,
): Promise<string | undefined> {
  let cursor = from;
  try {
    for (let page = 0; page < PAGES_PER_RUN; page++) {
      const listed = await DIRECTORY.list<DirectoryFacts>({ prefix, limit: PAGE, ...(cursor ? { cursor } : {}) });
      for (const { name, metadata } of listed.keys) take(name.slice(prefix.length), metadata);
      if (listed.list_complete) return undefined;
      cursor = listed.cursor;
    }
    return cursor;
  } catch (error) {
    log("error", "the directory of clusters did not answer", { prefix, error: String(error) });
    return undefined;
  }
}

/** The shards that took their clusters. */
async function enter(env: Env, entries: readonly ShardEntry[]): Promise<number[]> {
  const byShard = new Map<number, ShardEntry[]>();
  for (const entry of entries) {
    const shard = clusterShardOf(entry.id);
    const before = byShard.get(shard);
    if (before) before.push(entry);
    else byShard.set(shard, [entry]);
  }
  const taken: number[] = [];
  await inParallel([...byShard], ENTERED_TOGETHER, async ([shard, some]) => {
    const [{ id }] = some as [ShardEntry];
    const done = await call(() => clusterShard(env, id).enter(some), { what: `shards/${String(shard)}.enter`, repeatable: true });
    if (done.ok) taken.push(shard);
  });
  return taken.sort((a, b) => a - b);
}
