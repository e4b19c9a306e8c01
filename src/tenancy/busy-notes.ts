/** Notes that tell cron which clusters have had writes: at most one call for each cluster and interval. */
import type { Clock } from "../core/base/ports";
import { BUSY_INTERVAL_MS, busyKey, type Rhythm } from "./directory-keys";
import type { ShardEntry } from "./rpc";

/** Keys remembered; beyond it the memory starts over, which costs one more call for each cluster. */
const NOTED_MAX = 10_000;

/** Tells the cluster's shard that jobs of these rhythms have work there. */
export type TellShard = (rhythms: Rhythm[]) => Promise<void>;

/** Where a note may go. */
interface NoteWays {
  /** the cluster's shard */
  enter(entry: ShardEntry): Promise<void>;
  /** puts the note of a rhythm into KV */
  put(rhythm: Rhythm): Promise<void>;
}

/**
 * Tells the shard of a cluster. Where it does not answer, or runs the release before, the note goes into KV, as in that release. Cron takes it from there.
 * Rejects when neither takes it.
 */
export async function enterOrPut(entry: ShardEntry, { enter, put }: NoteWays): Promise<void> {
  try {
    await enter(entry);
  } catch {
    await Promise.all(entry.rhythms.map(put));
  }
}

export class BusyNotes {
  /** when each note was told, in ms since the epoch */
  readonly #noted = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, "now">) {}

  /**
   * Notes a change in the cluster of this id. Nobody waits for the note; the daily visit makes up for a lost one. What is work for the minute's job is
   * work for the others, too.
   */
  note(id: string, rhythm: Rhythm, tell: TellShard): void {
    const now = this.clock.now();
    const rhythms = (rhythm === "minute" ? (["minute", "hour"] as const) : ([rhythm] as const)).filter(
      (one) => !this.#isNoted(one, id, now),
    );
    if (!rhythms.includes(rhythm)) return;
    if (this.#noted.size >= NOTED_MAX) this.#noted.clear();
    const keys = rhythms.map((one) => busyKey(one, id));
    for (const key of keys) this.#noted.set(key, now);
    void tell(rhythms).catch(() => keys.forEach((key) => this.#noted.delete(key)));
  }

  #isNoted(rhythm: Rhythm, id: string, now: number): boolean {
    const before = this.#noted.get(busyKey(rhythm, id));
    return before !== undefined && now >= before && now - before < BUSY_INTERVAL_MS[rhythm];
  }
}
