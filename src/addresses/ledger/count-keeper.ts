/**
 * Writes the counters of allocations: at most once a minute, with the first commit that is due. A scrape writes at once what commits have left, so it
 * never costs more rows than the commits had. What was counted since the last write is lost when the object dies or sleeps.
 *
 * A refused create changes no row, and its object may sleep after ten idle seconds. A timer keeps the object awake until its count is written.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { KeptCounters } from "../metrics/kept-counters";
import type { LedgerStorage } from "./ledger-storage";

/** From a refusal to the write: many of them are one write. */
const SOON_MS = 1_000;
/** Between two writes, over the lives of the object; a row a minute is the price of counters. */
const INTERVAL_MS = 60_000;
/** The time of the last write that no commit made, in milliseconds since the epoch. */
const KEPT_AT = "countsKeptAt";
/** The same of those that commits made, or that scrapes made for them. Apart, so that a refusal waits for no commit's minute. */
const COMMITTED_AT = "countsCommittedAt";

export interface CountKeeperPorts {
  clock: Pick<Clock, "now" | "after">;
  recorder: Recorder;
  metrics: KeptCounters;
  /** in the database of the counters */
  storage: Pick<LedgerStorage, "numberGet" | "numberSet" | "transaction">;
}

export class CountKeeper {
  #waiting = false;
  /** a commit has left counters to a later write */
  #owing = false;

  constructor(private readonly ports: CountKeeperPorts) {}

  /** Inside the transaction of a commit: writes what has changed if the last write was a minute ago. */
  sealTurn(): void {
    if (!this.ports.metrics.unsaved) return;
    if (this.#untilDue(COMMITTED_AT) === 0) this.#save(COMMITTED_AT);
    else this.#owing = true;
  }

  /** The transaction of the last `sealTurn` did not take place. */
  turnLost(): void {
    this.ports.metrics.lost();
    this.#owing = this.ports.metrics.unsaved;
  }

  /** To be called after a count that no commit follows. Never throws: whoever counts has an address to give back. */
  refused(): void {
    if (!this.#waiting) this.#keepIn(Math.max(SOON_MS, this.#untilDue(KEPT_AT)));
  }

  /** Before somebody reads the counters: writes what commits have left, and else does as `keep`. Never throws. */
  show(): void {
    if (this.#owing && this.ports.metrics.unsaved) this.#write(COMMITTED_AT);
    else this.keep();
  }

  /**
   * Writes what has changed, or sees to it when the last write was less than a minute ago. A write that fails is logged, and its counters go with
   * the next one. Never throws.
   */
  keep(): void {
    if (!this.ports.metrics.unsaved) return;
    const waitMs = this.#untilDue(KEPT_AT);
    if (waitMs === 0) this.#write(KEPT_AT);
    else if (!this.#waiting) this.#keepIn(waitMs);
  }

  #keepIn(waitMs: number): void {
    this.#waiting = true;
    this.ports.clock.after(waitMs, () => {
      this.#waiting = false;
      this.keep();
    });
  }

  #write(at: typeof KEPT_AT | typeof COMMITTED_AT): void {
    const { recorder, metrics, storage } = this.ports;
    try {
      storage.transaction(() => this.#save(at));
    } catch (error) {
      metrics.lost();
      recorder.log("warn", "counters of allocations could not be kept", { error: String(error) });
    }
  }

  #save(at: typeof KEPT_AT | typeof COMMITTED_AT): void {
    const { clock, metrics, storage } = this.ports;
    metrics.save();
    storage.numberSet(at, clock.now());
    this.#owing = false;
  }

  /** Milliseconds until the next write may be. A clock that was set back counts as one that has gone on for long; so does a disk that cannot be read. */
  #untilDue(at: typeof KEPT_AT | typeof COMMITTED_AT): number {
    const { clock, recorder, storage } = this.ports;
    try {
      const since = clock.now() - storage.numberGet(at);
      return since < 0 ? 0 : Math.max(0, INTERVAL_MS - since);
    } catch (error) {
      recorder.log("warn", "counters of allocations could not be kept", { error: String(error) });
      return 0;
    }
  }
}
