/**
 * Keys of the directory of clusters in KV. Cron finds its work by them: a lost or late key delays work until the
 * next visit and changes no answer. Clusters that are older than records are found by them once (cluster-record).
 */

/** One per cluster that was ever used. */
export const DIRECTORY_PREFIX = "cluster/";

/** How often a job looks at the clusters in which something happened. */
export type Rhythm = "minute" | "hour";

/**
 * How long a cluster counts as busy after a write, for jobs of each rhythm. It is several runs long: one begins after the last write even if some
 * come late or fail. The note expires by itself; taking it back could lose a write that came meanwhile (hazard 20).
 */
export const BUSY_LIFETIME_SECONDS: Readonly<Record<Rhythm, number>> = { minute: 600, hour: 3 * 3600 };
/** Between two notes of one fact: far less than the life of a note. */
export const BUSY_INTERVAL_MS: Readonly<Record<Rhythm, number>> = { minute: 60_000, hour: 3600_000 };

/** Written to see whether the disk takes data; nobody reads it. */
export const DISK_PROBE_KEY = "probe/disk";

export function directoryKey(id: string): string {
  return DIRECTORY_PREFIX + id;
}

export function busyPrefix(rhythm: Rhythm): string {
  return `busy/${rhythm}/`;
}

export function busyKey(rhythm: Rhythm, id: string): string {
  return busyPrefix(rhythm) + id;
}
