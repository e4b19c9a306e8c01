/**
 * Keeps the counters of allocations that no commit keeps. A refused create changes no row, and its object may sleep after ten idle seconds. A timer
 * keeps the object awake until the counters are written. Whoever asks, they are written at most once a minute.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { KeptCounters } from "../metrics/kept-counters";
import type { LedgerStorage } from "./ledger-storage";

/** From the first change to the write: the commit of an allocation keeps its count by then. */
const SOON_MS = 1_000;
/** Between two writes, over the lives of the object. */
const INTERVAL_MS = 60_000;
/** The time of the last write, in milliseconds since the epoch. */
const KEPT_AT = "countsKeptAt";

export interface CountKeeperPorts {
  clock: Pick<Clock, "now" | "after">;
  recorder: Recorder;
  metrics: KeptCounters;
  /** in the database of the counters */
  storage: Pick<LedgerStorage, "numberGet" | "numberSet" | "transaction">;
}

export class CountKeeper {
  #waiting = false;

  constructor(private readonly ports: CountKeeperPorts) {}

  /** To be called after each change of a counter. Never throws: whoever counts has an address to commit or to give back. */
  changed(): void {
    if (!this.#waiting) this.#keepIn(Math.max(SOON_MS, this.#untilDue()));
  }

  /**
   * Writes what has changed, or sees to it when the last write was less than a minute ago. A write that fails is logged, and its counters go with
   * the next one. Never throws.
   */
  keep(): void {
    if (!this.ports.metrics.unsaved) return;
    const waitMs = this.#untilDue();
    if (waitMs === 0) this.#write();
    else if (!this.#waiting) this.#keepIn(waitMs);
  }

  #keepIn(waitMs: number): void {
    this.#waiting = true;
    this.ports.clock.after(waitMs, () => {
      this.#waiting = false;
      this.keep();
    });
  }

  #write(): void {
    const { clock, recorder, metrics, storage } = this.ports;
    try {
      storage.transaction(() => {
        metrics.save();
        storage.numberSet(KEPT_AT, clock.now());
      });
    } catch (error) {
      metrics.lost();
      recorder.log("warn", "counters of allocations could not be kept", { error: String(error) });
    }
  }

  /** Milliseconds until the next write may be. A clock that was set back counts as one that has gone on for long; so does a disk that cannot be read. */
  #untilDue(): number {
    const { clock, recorder, storage } = this.ports;
    try {
      const since = clock.now() - storage.numberGet(KEPT_AT);
      return since < 0 ? 0 : Math.max(0, INTERVAL_MS - since);
    } catch (error) {
      recorder.log("warn", "counters of allocations could not be kept", { error: String(error) });
      return 0;
    }
  }
}
