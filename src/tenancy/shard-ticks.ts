/**
 * The ticks of cron that came to a shard, each of which begins one round. The platform drops the shard's memory some ten seconds behind a tick, so they
 * are kept. That is the only row of most ticks, so every second one is kept. Behind one that came twice, to different lives, each is: several places run
 * crons.
 */
import type { Clock } from "../core/base/ports";
import type { Settings } from "../core/config/settings";
import type { ShardJob } from "./rpc";
import type { ShardStorage } from "./shard-storage";

/** Without a tick for so long, cron does not come. */
const SILENCE_MS = 150_000;
/** So with ticks of each minute every second one is kept, and none is older than two minutes. */
const KEPT_FOR_MS = SILENCE_MS / 2;
/** How long each tick is kept behind one that came twice. */
const TWICE_MS = 86_400_000;
/** A tick this much older than the last one is one of another clock; a younger one is the same tick once more, or late. */
const CLOCK_SET_BACK_MS = 600_000;
const LAST_MAX = 100;
/** Name of the mark. */
const TICKS = "ticks";

/** In milliseconds since the epoch. */
interface KeptTicks {
  /** when one came last; 0 = none did */
  cameAt: number;
  /** by job and settings: the time that the last one was due at */
  last: Readonly<Record<string, number>>;
  /** when one came that an earlier life had; 0 = none did */
  twiceAt: number;
}

export class ShardTicks {
  #cameAt: number;
  #twiceAt: number;
  readonly #last: Map<string, number>;
  /** of `#last`, what an earlier life has left */
  readonly #inherited: Set<string>;
  #keptAt: number;

  constructor(
    private readonly storage: ShardStorage,
    private readonly clock: Pick<Clock, "now">,
  ) {
    const kept = JSON.parse(storage.mark(TICKS) ?? "{}") as Partial<KeptTicks>;
    this.#cameAt = this.#keptAt = kept.cameAt ?? 0;
    this.#twiceAt = kept.twiceAt ?? 0;
    this.#last = new Map(Object.entries(kept.last ?? {}));
    this.#inherited = new Set(this.#last.keys());
  }

  /** Whether cron does not come, as far as is known: what is kept may be two minutes late. */
  get areSilent(): boolean {
    return Math.abs(this.clock.now() - this.#cameAt) >= SILENCE_MS;
  }

  /** Whether this tick of the shard's own Worker follows another one within the time of silence. */
  follow(job: ShardJob, tickMs: number): boolean {
    const last = this.#last.get(keyOf(job));
    return last !== undefined && tickMs > last && tickMs - last < SILENCE_MS;
  }

  /** An earlier life has begun a round with this tick, as its round says. */
  inherit(job: ShardJob, tickMs: number, settings: Settings | undefined): void {
    const key = keyOf(job, settings);
    if (tickMs <= (this.#last.get(key) ?? 0)) return;
    this.#last.set(key, tickMs);
    this.#inherited.add(key);
  }

  /** Notes a tick; false = it came before. `isCron`: cron has come with it. */
  take(job: ShardJob, tickMs: number, settings: Settings | undefined, isCron: boolean): boolean {
    const now = this.clock.now();
    const key = keyOf(job, settings);
    const last = this.#last.get(key);
    const isNew = last === undefined || tickMs > last || last - tickMs >= CLOCK_SET_BACK_MS;
    const keepsEach = Math.abs(now - this.#twiceAt) < TWICE_MS;
    // Those of the hour are kept with their rounds.
    let keeps = job === "maintain" && (Math.abs(now - this.#keptAt) >= KEPT_FOR_MS || (isNew && keepsEach));
    if (tickMs === last && this.#inherited.has(key) && Math.abs(now - this.#twiceAt) >= TWICE_MS / 2) {
      this.#twiceAt = now;
      keeps = true;
    }
    if (isCron) this.#cameAt = now;
    if (isNew) {
      // Workers with other settings are few, and gone one day.
      if (this.#last.size >= LAST_MAX) this.#last.clear();
      this.#last.set(key, tickMs);
      this.#inherited.delete(key);
    }
    if (keeps) this.#keep();
    return isNew;
  }

  /** A shard without clusters keeps nothing. */
  #keep(): void {
    if (this.storage.ids(1).length === 0) return;
    const kept: KeptTicks = { cameAt: this.#cameAt, last: Object.fromEntries(this.#last), twiceAt: this.#twiceAt };
    this.storage.markPut(TICKS, JSON.stringify(kept));
    this.#keptAt = this.#cameAt;
  }
}

function keyOf(job: ShardJob, settings?: Settings): string {
  return `${job} ${JSON.stringify(settings ?? {})}`;
}
