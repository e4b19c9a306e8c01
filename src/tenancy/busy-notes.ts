/** Notes that tell cron which clusters have had writes: at most one put for each cluster and interval. */
import type { Clock } from "../core/base/ports";
import { BUSY_INTERVAL_MS, BUSY_LIFETIME_SECONDS, busyKey, type Rhythm } from "./directory-keys";

/** Keys remembered; beyond it the memory starts over, which costs one more put for each cluster. */
const NOTED_MAX = 10_000;

/** Puts an empty value that expires by itself into the directory of clusters. */
export type PutNote = (key: string, lifetimeSeconds: number) => Promise<void>;

export class BusyNotes {
  /** when each key was put, in ms since the epoch */
  readonly #noted = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, "now">) {}

  /** Notes a change in the cluster of this id. Nobody waits for the note; cron's slow round makes up for a lost one. */
  note(id: string, rhythm: Rhythm, put: PutNote): void {
    const key = busyKey(rhythm, id);
    const now = this.clock.now();
    const before = this.#noted.get(key);
    if (before !== undefined && now >= before && now - before < BUSY_INTERVAL_MS[rhythm]) return;
    if (this.#noted.size >= NOTED_MAX) this.#noted.clear();
    this.#noted.set(key, now);
    void put(key, BUSY_LIFETIME_SECONDS[rhythm]).catch(() => this.#noted.delete(key));
  }
}
