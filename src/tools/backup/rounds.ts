/**
 * Backups of all clusters of a deployment, by the clock. In each interval one round goes through the list of clusters, one cluster after the other,
 * in runs of bounded length. What a round has reached is kept in the bucket before each cluster and behind each run. So a death repeats the work on
 * one cluster: a file that is written again has the same name. Of two runs at once the later one to keep its progress finds that, and ends.
 *
 *   the bucket refuses         the run ends, and the next one begins with the same cluster
 *   a cluster does not answer  the round goes on with the others and comes back to it, three times in all
 *   a run dies                 the next one goes on with the same cluster, three times; then the round goes on with the others
 */
import type { Clock, Digest, Recorder } from "../../core/base/ports";
import { type BackupBucket, type BackupProgress, type BackupSource, beginBackup, continueBackup } from "./in-portions";

/** Attempts at a cluster in one round. */
const ATTEMPTS = 3;

/** The bucket does not take, or does not give, what it is asked for. */
export class BucketRefused extends Error {}

/** Where a round stands. */
export interface BackupRound {
  /** the beginning of its interval, in ms since the epoch: it names the files */
  beganMs: number;
  isOver: boolean;
  /** of the list of clusters; undefined = its end was reached */
  cursor: string | undefined;
  /** how often the list has not answered one after the other */
  silences: number;
  /** ids of clusters, listed and not yet begun */
  ids: string[];
  /** clusters that did not answer, and how often */
  again: { id: string; attempts: number }[];
  /** `begun`: runs that have begun work on it and have not told how far they came; without `progress` nothing of it is kept */
  current?: { id: string; attempts: number; begun?: number; progress?: BackupProgress };
}

/** What a run did. */
export interface RoundCounts {
  /** clusters whose file is whole */
  backedUp: number;
  /** attempts at clusters that did not answer or whose runs died, and files that contradict themselves */
  failed: number;
  /** 1: the bucket refused, and the run ended */
  refused: number;
}

export interface RoundPorts {
  bucket: BackupBucket & {
    /** Deletes all files of the cluster but the newest ones. */
    keepNewest(name: string, count: number): Promise<void>;
    /** undefined = no round was ever kept */
    load(): Promise<{ bytes: Uint8Array; tag: string } | undefined>;
    /** Answers the new tag; undefined: somebody else has kept a round since `tag` was read. */
    save(bytes: Uint8Array, tag: string | undefined): Promise<string | undefined>;
  };
  /** A page of ids; `cursor` "" = the first one. The answer's cursor undefined = it was the last. */
  clusters(cursor: string): Promise<{ ids: string[]; cursor: string | undefined }>;
  /** by which clients know the cluster of an id */
  nameOf(id: string): string;
  source(id: string): BackupSource;
  clock: Pick<Clock, "now">;
  digest: Digest;
  recorder: Recorder;
}

export interface RoundOptions {
  intervalMs: number;
  /** files of each cluster */
  kept: number;
  /** how long a run may take; a page that was begun is read to its end */
  runMs: number;
  /** pages that a run may read */
  pagesMax: number;
  serverVersion: string;
}

/** `default/2026-11-30T00-00Z.jsonl`: the interval's beginning, by the minute. Names of one cluster sort by time. */
function backupKey(name: string, beganMs: number): string {
  return `${name}/${new Date(beganMs).toISOString().slice(0, "2006-01-02T15:04".length).replace(":", "-")}Z.jsonl`;
}

/** Another run keeps the round now. */
class OtherRun extends Error {}

/** One run. Never rejects: what goes wrong is logged, counted, and tried again by a later run. */
export async function runRound(ports: RoundPorts, options: RoundOptions): Promise<RoundCounts> {
  const counts: RoundCounts = { backedUp: 0, failed: 0, refused: 0 };
  try {
    await goOn(ports, options, counts);
  } catch (error) {
    if (error instanceof OtherRun) {
      ports.recorder.log("warn", "another run of backups was under way");
      return counts;
    }
    if (error instanceof BucketRefused) counts.refused++;
    else counts.failed++;
    ports.recorder.log("error", "backups could not go on", { error: error instanceof Error ? error.message : String(error) });
  }
  return counts;
}

async function goOn(ports: RoundPorts, options: RoundOptions, counts: RoundCounts): Promise<void> {
  const { bucket, clock, recorder } = ports;
  const startedMs = clock.now();
  const dueMs = Math.floor(startedMs / options.intervalMs) * options.intervalMs;
  const stored = await bucket.load();
  let round = stored && keptRound(stored.bytes, recorder);
  if (!round || (round.isOver && round.beganMs < dueMs))
    round = { beganMs: dueMs, isOver: false, cursor: "", silences: 0, ids: [], again: [] };
  if (round.isOver) return;
  const kept = round;
  let tag = stored?.tag;
  const save = async (): Promise<void> => {
    tag = await bucket.save(encodeRound(kept), tag);
    if (tag === undefined) throw new OtherRun();
  };
  let pages = 0;
  const counted = (source: BackupSource): BackupSource => ({
    ...source,
    page: (type, token) => {
      pages++;
      return source.page(type, token);
    },
  });
  const mayGoOn = (): boolean => clock.now() - startedMs < options.runMs && pages < options.pagesMax;
  // Those that fail in this run wait for the next one.
  let retried = round.again.length;
  try {
    while (mayGoOn()) {
      const next = round.current ?? (await nextOf(round, ports, () => retried-- > 0));
      if (!next) break;
      if ((next.begun ?? 0) < ATTEMPTS) await backUp(round, next, ports, options, { counts, counted, mayGoOn, save });
      else {
        delete round.current;
        counts.failed++;
        recorder.log("error", "a cluster was not backed up", { cluster: next.id, error: "the runs that began it have died" });
      }
    }
    round.isOver = !round.current && round.cursor === undefined && round.ids.length === 0 && round.again.length === 0;
  } catch (error) {
    // What was done before a refusal is not done again.
    if (!(error instanceof OtherRun)) await save().catch(() => undefined);
    throw error;
  }
  await save();
}

/** undefined: it cannot be read, and a round begins anew. */
function keptRound(bytes: Uint8Array, recorder: Recorder): BackupRound | undefined {
  try {
    return decodeRound(bytes);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    recorder.log("error", "what is kept of a round of backups cannot be read: it begins anew", { error: text });
    return undefined;
  }
}

/** The next cluster; undefined = there is none for this run. */
async function nextOf(round: BackupRound, { clusters }: RoundPorts, mayRetry: () => boolean): Promise<BackupRound["current"]> {
  while (round.ids.length === 0 && round.cursor !== undefined) {
    // A cursor that the list has forgotten would fail in every run.
    if (round.silences >= ATTEMPTS) round.cursor = "";
    round.silences++;
    const page = await clusters(round.cursor);
    Object.assign(round, page, { silences: 0 });
  }
  const id = round.ids.shift();
  if (id !== undefined) return { id, attempts: 0 };
  return round.again.length > 0 && mayRetry() ? round.again.shift() : undefined;
}

interface Run {
  counts: RoundCounts;
  counted(source: BackupSource): BackupSource;
  mayGoOn(): boolean;
  /** keeps the round */
  save(): Promise<void>;
}

/** Leaves the cluster as the current one, or behind it. Rejects where the bucket refuses; then the cluster is the next one, from its beginning. */
async function backUp(
  round: BackupRound,
  { id, attempts, begun = 0, progress: before }: NonNullable<BackupRound["current"]>,
  ports: RoundPorts,
  { serverVersion, kept }: RoundOptions,
  { counts, counted, mayGoOn, save }: Run,
): Promise<void> {
  const { bucket, clock, digest, recorder } = ports;
  const own = { bucket, digest, source: counted(ports.source(id)) };
  const name = ports.nameOf(id);
  const key = backupKey(name, round.beganMs);
  round.current = { id, attempts, begun: begun + 1, ...(before && { progress: before }) };
  // A cluster of which runs die would be begun for ever, if no run kept that it was begun.
  await save();
  delete round.current;
  try {
    const createdAtMs = clock.now();
    const beginning = { key, id: `${id} ${createdAtMs}`, createdAtMs, server: `/clusters/${name}`, serverVersion };
    const progress = before ?? (await beginBackup(own, beginning));
    const outcome = await continueBackup(progress, own, mayGoOn);
    if (outcome === "underWay") {
      round.current = { id, attempts, progress };
      return;
    }
    if (outcome === "contradictory") {
      counts.failed++;
      recorder.log("error", "a backup contradicts itself: no older one is deleted for it", { cluster: id, key });
      return;
    }
    counts.backedUp++;
    recorder.log("info", "cluster backed up", { cluster: id, key, objects: progress.objects });
  } catch (error) {
    if (error instanceof BucketRefused) {
      round.ids.unshift(id);
      throw error;
    }
    counts.failed++;
    const isLast = attempts + 1 >= ATTEMPTS;
    if (!isLast) round.again.push({ id, attempts: attempts + 1 });
    const text = error instanceof Error ? error.message : String(error);
    recorder.log(isLast ? "error" : "warn", isLast ? "a cluster was not backed up" : "a cluster is backed up later", {
      cluster: id,
      error: text,
    });
    return;
  }
  await bucket.keepNewest(name, kept);
}

/** One line of JSON, and the bytes that no part has yet. */
export function encodeRound(round: BackupRound): Uint8Array {
  const { current, ...others } = round;
  const { rest = new Uint8Array(), ...progress } = current?.progress ?? {};
  const plain = current ? { ...others, current: { ...current, ...(current.progress && { progress }) } } : others;
  const line = new TextEncoder().encode(`${JSON.stringify(plain)}\n`);
  const bytes = new Uint8Array(line.length + rest.length);
  bytes.set(line);
  bytes.set(rest, line.length);
  return bytes;
}

export function decodeRound(bytes: Uint8Array): BackupRound {
  const end = bytes.indexOf("\n".charCodeAt(0));
  const round = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as BackupRound;
  if (round.current?.progress) round.current.progress.rest = bytes.slice(end + 1);
  return round;
}
