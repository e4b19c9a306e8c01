/**
 * Keys of the directory of clusters in KV. Its shards are the directory (cluster-shard.ts), KV has copies. Cron finds shards with work by them, and
 * clusters that no shard has: a lost or late key delays work and changes no answer. Clusters that are older than records are found by them once
 * (cluster-record).
 */

/** One per cluster that was ever used. */
export const DIRECTORY_PREFIX = "cluster/";

/** How often a job looks at the clusters in which something happened. */
export type Rhythm = "minute" | "hour";

/**
 * How long a cluster counts as busy after a write, for jobs of each rhythm: half of it at least, because a younger note is not written again. It is
 * several runs long: one begins after the last write even if some come late or fail.
 */
export const BUSY_LIFETIME_SECONDS: Readonly<Record<Rhythm, number>> = { minute: 600, hour: 3 * 3600 };
/** Between two notes of one fact: far less than the life of a note. */
export const BUSY_INTERVAL_MS: Readonly<Record<Rhythm, number>> = { minute: 60_000, hour: 3600_000 };

/** Written to see whether the disk takes data; nobody reads it. */
export const DISK_PROBE_KEY = "probe/disk";

export function directoryKey(id: string): string {
  return DIRECTORY_PREFIX + id;
}

/** Notes of the release before, and of those whose shard did not answer. */
export const BUSY_PREFIX = "busy/";

export function busyKey(rhythm: Rhythm, id: string): string {
  return `${BUSY_PREFIX}${rhythm}/${id}`;
}

/** What a key says behind BUSY_PREFIX; undefined = it is no note. */
export function busyNoteIn(rest: string): { rhythm: Rhythm; id: string } | undefined {
  const [, rhythm, id] = /^(minute|hour)\/(.+)$/.exec(rest) ?? [];
  return id === undefined ? undefined : { rhythm: rhythm as Rhythm, id };
}

/** One per shard of the directory that has clusters. Beside it stands whether ticks have something to do there. */
export const SHARD_PREFIX = "shard/";

export function shardKey(shard: number): string {
  return SHARD_PREFIX + String(shard);
}
