/**
 * For how long clients have been writing, through this isolate, resources of a cluster that repair looks at. The stores of these resources note each
 * change. So cron visits the cluster from the first such change until some minutes after the last one. Other writes, such as renewals of Leases,
 * cause no visit.
 */

/** Whose stores note every change for cron. */
const VISITED: ReadonlySet<string> = new Set(["services", "ipaddresses", "servicecidrs"]);

/** Longer without a write ends a streak. Shorter than the life of a note for cron, so that all of a streak has one. */
const PAUSE_MS_MAX = 5 * 60_000;
/** Beyond it the memory starts over. */
const CLUSTERS_MAX = 10_000;

export class WriteStreaks {
  readonly #streaks = new Map<string, { sinceMs: number; lastMs: number }>();

  /** A write of the resource in the cluster of this id succeeded. */
  note(cluster: string, resource: string, nowMs: number): void {
    if (!VISITED.has(resource)) return;
    if (this.#streaks.size >= CLUSTERS_MAX && !this.#streaks.has(cluster)) this.#streaks.clear();
    const streak = this.#now(cluster, nowMs);
    this.#streaks.set(cluster, { sinceMs: streak?.sinceMs ?? nowMs, lastMs: nowMs });
  }

  /** How long the streak is that goes on; 0 = none does. In milliseconds. */
  lengthMs(cluster: string, nowMs: number): number {
    const streak = this.#now(cluster, nowMs);
    return streak ? nowMs - streak.sinceMs : 0;
  }

  #now(cluster: string, nowMs: number): { sinceMs: number } | undefined {
    const streak = this.#streaks.get(cluster);
    // A clock that was set back, or a machine that slept, ends it.
    return streak && nowMs >= streak.lastMs && nowMs - streak.lastMs <= PAUSE_MS_MAX ? streak : undefined;
  }
}

/** One for each isolate. */
export const writeStreaks = new WriteStreaks();
