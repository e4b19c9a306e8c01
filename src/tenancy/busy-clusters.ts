/**
 * The clusters of a shard that have work for cron: from a note of a write until some minutes, or hours, behind the last one. A row is written when a note
 * is half as old as it may become, and when the cluster comes to rest. One is written with each visit that fails, and with the first one behind it that
 * does not: a shard is dropped between two ticks.
 */
import { BUSY_LIFETIME_SECONDS, type Rhythm } from "./directory-keys";
import type { ShardStorage } from "./shard-storage";

const LIFETIME_MS: Readonly<Record<Rhythm, number>> = {
  minute: BUSY_LIFETIME_SECONDS.minute * 1000,
  hour: BUSY_LIFETIME_SECONDS.hour * 1000,
};
const NONE = { minute: 0, hour: 0 };
/** A cluster whose visits fail is passed over for a while, longer from time to time. */
const PAUSE_MS = 60_000;
const PAUSE_MAX_MS = 600_000;

interface Busy {
  times: Readonly<Record<Rhythm, number>>;
  failures: number;
  /** in milliseconds since the epoch */
  pausesUntil: number;
  /** when a failure was last counted, in this life; in milliseconds since the epoch */
  failedAt: number;
}

export class BusyClusters {
  readonly #clusters = new Map<string, Busy>();

  constructor(private readonly storage: ShardStorage) {
    for (const [id, { failures = 0, pausesUntil = 0, minute, hour }] of storage.busy()) {
      this.#clusters.set(id, { times: { minute, hour }, failures, pausesUntil, failedAt: 0 });
    }
  }

  /** Writes in the cluster, at this time, are work for jobs of the rhythms. */
  note(id: string, rhythms: readonly Rhythm[], nowMs: number): void {
    if (this.#noted(id, rhythms, nowMs)) this.#put(id);
  }

  /** Whether a row is to be written. */
  #noted(id: string, rhythms: readonly Rhythm[], nowMs: number): boolean {
    if (rhythms.length === 0) return false;
    const busy = this.#clusters.get(id) ?? { times: NONE, failures: 0, pausesUntil: 0, failedAt: 0 };
    this.#clusters.set(id, busy);
    // A clock that was set back leaves a time in the future, which is as old.
    const old = rhythms.filter((rhythm) => Math.abs(nowMs - busy.times[rhythm]) >= LIFETIME_MS[rhythm] / 2);
    busy.times = { ...busy.times, ...Object.fromEntries(old.map((rhythm) => [rhythm, nowMs])) };
    return old.length > 0;
  }

  #put(id: string): void {
    const busy = this.#clusters.get(id);
    if (!busy) return this.storage.busyPut(id, null);
    const { times, failures, pausesUntil } = busy;
    this.storage.busyPut(id, failures > 0 ? { ...times, failures, pausesUntil } : times);
  }

  remove(id: string): void {
    this.#clusters.delete(id);
  }

  has(id: string, rhythm: Rhythm): boolean {
    return (this.#clusters.get(id)?.times[rhythm] ?? 0) > 0;
  }

  hasAny(rhythm: Rhythm): boolean {
    for (const { times } of this.#clusters.values()) if (times[rhythm] > 0) return true;
    return false;
  }

  /** Those that a job of the rhythm visits, in the order of their ids. */
  idsOf(rhythm: Rhythm): string[] {
    return [...this.#clusters].flatMap(([id, { times }]) => (times[rhythm] > 0 ? [id] : [])).sort();
  }

  /** Whether the last visit failed. */
  isFailing(id: string): boolean {
    return (this.#clusters.get(id)?.failures ?? 0) > 0;
  }

  /** Of these, those that fail and had their rest before this time: who waits for longest comes first. */
  failingOf(ids: readonly string[], beforeMs: number, nowMs: number): string[] {
    const until = (id: string): number => this.#clusters.get(id)?.pausesUntil ?? 0;
    // A clock that was set back leaves a rest that is too long.
    const isOver = (id: string): boolean => until(id) < beforeMs || until(id) - nowMs > PAUSE_MAX_MS;
    return ids.filter((id) => this.isFailing(id) && isOver(id)).sort((a, b) => until(a) - until(b));
  }

  /** A visit failed. The first one is repeated by the next tick. What fails several jobs or ticks at once counts once. */
  failed(id: string, rhythm: Rhythm, nowMs: number): void {
    const isOld = this.#noted(id, [rhythm], nowMs);
    const busy = this.#clusters.get(id);
    if (!busy) return;
    if (busy.failures > 0 && Math.abs(nowMs - busy.failedAt) < PAUSE_MS / 2) {
      if (isOld) this.#put(id);
      return;
    }
    busy.failedAt = nowMs;
    busy.pausesUntil = nowMs + Math.min(PAUSE_MAX_MS, PAUSE_MS * (2 ** busy.failures - 1));
    busy.failures = Math.min(busy.failures + 1, 10);
    this.#put(id);
  }

  /** A visit found that nothing was left. A note that came during the visit has made the row young: so old a one is written again. */
  settled(id: string, rhythm: Rhythm, nowMs: number): void {
    const busy = this.#clusters.get(id);
    if (!busy || Math.abs(nowMs - busy.times[rhythm]) < LIFETIME_MS[rhythm]) return;
    busy.times = { ...busy.times, [rhythm]: 0 };
    if (busy.times.minute === 0 && busy.times.hour === 0) this.#clusters.delete(id);
    this.#put(id);
  }

  succeeded(id: string): void {
    const busy = this.#clusters.get(id);
    if (!busy || busy.failures === 0) return;
    Object.assign(busy, { failures: 0, pausesUntil: 0 });
    this.#put(id);
  }
}
