/**
 * The rounds of a cron job through keys of the directory: a run visits one page, and leaves a cursor for the next run. The length of the rounds is
 * kept beside the cursor. By it readiness tells a cluster that waits for its turn from one that cron forgot.
 */
import type { DirectoryFacts } from "../../../durable-objects/peers/busy";
import type { Env } from "../../../durable-objects/platform/env";
import { log } from "../http/log";

/** Each job keeps the cursor of its busy clusters and that of all clusters apart. */
const CURSORS = "cron/cursor/";
/** The number of a round, and the directory's cursor in it; empty at its beginning. Older releases stored the cursor alone. */
const STORED_CURSOR = /^(?:(\d+) )?(.*)$/s;
const MINUTE_MS = 60_000;
/** Cursors of a few jobs, and of each place that shares them. */
const CURSORS_MAX = 1_000;

/** Stands beside a cursor. */
interface RoundTimes {
  /** when the round under way began, in milliseconds since the epoch; 0 = none is */
  begunMs: number;
  /** how long the round before took, in milliseconds; 0 = nobody knows */
  lastMs: number;
}

export interface RoundKeys {
  prefix: string;
  /** keys of one page, 1,000 at most */
  limit: number;
  cursorKey: string;
  /** of the job, in minutes */
  period: number;
  /** for how long the cursor is kept after the last run; undefined = for ever */
  expirationTtl?: number;
}

export interface DirectoryPage {
  /** `facts`: what a list of the cluster's own says; undefined = the variable counts there */
  clusters: { id: string; facts: DirectoryFacts | undefined }[];
  /** which one through the whole directory this is */
  round: number;
  /** whether the batch holds every cluster of the directory */
  isWhole: boolean;
  errors: number;
}

export const NOBODY: DirectoryPage = { clusters: [], round: 0, isWhole: true, errors: 0 };

/** Where a round through all clusters stands. */
export function idleCursorKey(job: string): string {
  return `${CURSORS}${job}/all`;
}

/** Where a round through the clusters with writes stands; each place that shares them has its own. */
export function busyCursorKey(job: string, place: string | undefined): string {
  return `${CURSORS}${job}/busy${place === undefined ? "" : `/${place}`}`;
}

/** Whether a round has begun and has pages left. Rejects when the directory does. */
export async function isUnderWay({ DIRECTORY }: Env, cursorKey: string): Promise<boolean> {
  const [, , cursor = ""] = STORED_CURSOR.exec((await DIRECTORY.get(cursorKey)) ?? "") ?? [];
  return cursor !== "";
}

/**
 * For how long a cluster with writes may wait for its turn, by job, in milliseconds: the round under way, and the one before. No entry: one run
 * visits all of them. Cursors of a cron that fires no more expire. Rejects when the directory does.
 */
export async function roundWaits({ DIRECTORY }: Env, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const { keys } = await DIRECTORY.list<RoundTimes>({ prefix: CURSORS, limit: CURSORS_MAX });
  const waits = new Map<string, number>();
  for (const { name, metadata } of keys) {
    const [job = "", which] = name.slice(CURSORS.length).split("/");
    if (which !== "busy" || !metadata) continue;
    const { begunMs, lastMs } = metadata;
    const waitMs = lastMs + (begunMs > 0 ? Math.max(0, nowMs - begunMs) : 0);
    waits.set(job, Math.max(waits.get(job) ?? 0, waitMs));
  }
  return waits;
}

/** The next clusters with a key under the prefix, in the directory's order, and the number of the round. Moves the cursor behind them. */
export async function pageOf(env: Env, { prefix, limit, cursorKey, period, expirationTtl }: RoundKeys): Promise<DirectoryPage> {
  let cursor = "";
  try {
    const { value, metadata } = await env.DIRECTORY.getWithMetadata<RoundTimes>(cursorKey);
    const stored = value ?? "";
    const [, digits, from = ""] = STORED_CURSOR.exec(stored) ?? [];
    cursor = from;
    const listed = await env.DIRECTORY.list<DirectoryFacts>({ prefix, limit, ...(cursor ? { cursor } : {}) });
    const isWhole = listed.list_complete && cursor === "";
    // One page is a whole round, so no cursor is stored: the time counts rounds.
    const nowMs = Date.now();
    const round = isWhole ? Math.floor(nowMs / (period * MINUTE_MS)) : Number(digits ?? 0);
    const next = isWhole ? "" : listed.list_complete ? `${String(round + 1)} ` : `${String(round)} ${listed.cursor}`;
    const begunMs = (cursor && metadata?.begunMs) || nowMs;
    const times = listed.list_complete ? { begunMs: 0, lastMs: nowMs - begunMs } : { begunMs, lastMs: metadata?.lastMs ?? 0 };
    const isKept =
      next === stored || (await keepCursor(env, cursorKey, next, { metadata: times, ...(expirationTtl && { expirationTtl }) }));
    const clusters = listed.keys.map(({ name, metadata: facts }) => ({ id: name.slice(prefix.length), facts: facts ?? undefined }));
    return { clusters, round, isWhole, errors: isKept ? 0 : 1 };
  } catch (error) {
    log("error", "the directory of clusters did not answer", { prefix, error: error instanceof Error ? error.message : String(error) });
    // A cursor that the directory has forgotten would fail in every run.
    if (cursor) await env.DIRECTORY.delete(cursorKey).catch(() => undefined);
    return { clusters: [], round: 0, isWhole: false, errors: 1 };
  }
}

/** Whether the cursor was stored. If not, the next run visits the same clusters. */
async function keepCursor({ DIRECTORY }: Env, cursorKey: string, cursor: string, options: KVNamespacePutOptions): Promise<boolean> {
  try {
    await (cursor ? DIRECTORY.put(cursorKey, cursor, options) : DIRECTORY.delete(cursorKey));
    return true;
  } catch (error) {
    log("error", "cursor of a cron job could not be kept", { cursorKey, error: String(error) });
    return false;
  }
}
