/**
 * Writes the counters of allocations. What was counted since the last write is lost when the object dies or sleeps.
 *
 * - Of commits: once a minute, with the first commit that is due. A scrape, and a visit of cron, write what they have left, so neither costs more rows
 *   than the commits had.
 * - Of refused creates, which change no row: in the turn behind the refusal. Where the last such write is less than five seconds ago, the object's alarm
 *   makes the next one. The object sleeps only after ten seconds without an event, so it has the count until then. No timer keeps it awake.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { KeptCounters } from "../metrics/kept-counters";
import type { LedgerStorage } from "./ledger-storage";

/** Between two writes of refusals: half of the time after which an object without events sleeps. */
const REFUSED_INTERVAL_MS = 5_000;
/** Between two writes of commits, over the lives of the object; a row a minute is the price of counters. */
const INTERVAL_MS = 60_000;
/** The time of the last write that a commit made, or that a scrape made for commits, in milliseconds since the epoch. */
const COMMITTED_AT = "countsCommittedAt";

export interface CountKeeperPorts {
  clock: Pick<Clock, "now" | "nextTurn">;
  recorder: Recorder;
  metrics: KeptCounters;
  /** in the database of the counters */
  storage: Pick<LedgerStorage, "numberGet" | "numberSet" | "transaction">;
  /** asks for a call of `rang` at this time (ms since the epoch) or earlier */
  wakeAt(time: number): void;
}

export class CountKeeper {
  /** the turn behind a refusal has not come yet */
  #isComing = false;
  /** a commit has left counters to a later write */
  #owing = false;
  /** refusals wait for `rang` */
  #hasAsked = false;
  /** when all counters were last written in this life without a commit: commits' minute is apart, so that a refusal does not wait for it */
  #keptAt = -Infinity;

  constructor(private readonly ports: CountKeeperPorts) {}

  /** Inside the transaction of a commit: writes what has changed if the last write was a minute ago. */
  sealTurn(): void {
    if (!this.ports.metrics.unsaved) return;
    if (this.#untilCommitsDue() === 0) this.#saveForCommits();
    else this.#owing = true;
  }

  /** The transaction of the last `sealTurn` did not take place. */
  turnLost(): void {
    this.ports.metrics.lost();
    this.#owing = this.ports.metrics.unsaved;
  }

  /** To be called with a count that no commit follows, before or behind it: all of a turn are one write. Never throws. */
  refused(): void {
    if (this.#isComing) return;
    this.#isComing = true;
    void this.ports.clock.nextTurn().then(() => {
      this.#isComing = false;
      this.keep();
    });
  }

  /** Before somebody reads the counters: writes what commits have left, and else does as `keep`. Never throws. */
  show(): void {
    if (this.#owing && this.ports.metrics.unsaved) this.#write(() => this.#saveForCommits());
    else this.keep();
  }

  /**
   * Writes what has changed, or asks for the alarm when the last write was less than five seconds ago. A write that fails is logged, and its counters
   * go with the next one. Never throws.
   */
  keep(): void {
    const { clock, metrics, wakeAt } = this.ports;
    if (!metrics.unsaved) return;
    const now = clock.now();
    // A clock that was set back counts as one that has gone on for long.
    const isEarly = now >= this.#keptAt && now < this.#keptAt + REFUSED_INTERVAL_MS;
    if (!isEarly) {
      this.#write(() => this.#save());
      return;
    }
    this.#hasAsked = true;
    wakeAt(this.#keptAt + REFUSED_INTERVAL_MS);
  }

  /**
   * The object's alarm went off, whoever asked for it: writes refusals that wait for it. Its clock may be ahead of the object's. What commits have
   * left keeps waiting for their minute, for a busy store has an alarm each second or so. Never throws.
   */
  rang(): void {
    if (!this.#hasAsked) return;
    this.#hasAsked = false;
    if (this.ports.metrics.unsaved) this.#write(() => this.#save());
  }

  #write(save: () => void): void {
    const { recorder, metrics, storage } = this.ports;
    try {
      storage.transaction(save);
    } catch (error) {
      metrics.lost();
      recorder.log("warn", "counters of allocations could not be kept", { error: String(error) });
    }
  }

  #save(): void {
    this.ports.metrics.save();
    this.#keptAt = this.ports.clock.now();
    this.#owing = false;
  }

  #saveForCommits(): void {
    const { clock, metrics, storage } = this.ports;
    metrics.save();
    storage.numberSet(COMMITTED_AT, clock.now());
    this.#owing = false;
  }

  /** Milliseconds until the next write may be; see `keep` for a clock that was set back. A disk that cannot be read counts like it. */
  #untilCommitsDue(): number {
    const { clock, recorder, storage } = this.ports;
    try {
      const since = clock.now() - storage.numberGet(COMMITTED_AT);
      return since < 0 ? 0 : Math.max(0, INTERVAL_MS - since);
    } catch (error) {
      recorder.log("warn", "counters of allocations could not be kept", { error: String(error) });
      return 0;
    }
  }
}
