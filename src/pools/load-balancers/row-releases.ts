/**
 * Rows that a store gives back, which it has at a book of addresses elsewhere. Memory alone: what a death forgets, the audit of the next life finds, since nothing refers to it. A row whose
 * take had no answer may come to be behind its release, so it is released once more.
 */
import type { AddressRowKey } from "../../api/rpc/load-balancers";
import { leastOf } from "../../core/base/extremes";
import type { Clock, Recorder } from "../../core/base/ports";
import { SharedCall } from "../../core/turns/shared-call";

export interface RowReleasesPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  /** Answers in which pools there is room now. */
  release(rows: readonly AddressRowKey[]): Promise<readonly string[]>;
  wakeAt(atMs: number): void;
  /** There is room in these pools. */
  freed(pools: readonly string[]): void;
}

/** By then a call without an answer has ended: longer than an object that hangs is given. */
const DOUBT_MS = 60_000;
const RETRY_MS = 5_000;
const ROWS_MAX = 500;

export class RowReleases {
  /** row -> when it is due, and whether its take is in doubt */
  readonly #pending = new Map<AddressRowKey, { at: number; again?: true }>();
  readonly #calls = new SharedCall(() => this.#send());

  constructor(private readonly ports: RowReleasesPorts) {}

  /** Sent with the next `drain`. */
  add(rows: readonly AddressRowKey[]): void {
    for (const row of rows) if (!this.#pending.has(row)) this.#pending.set(row, { at: 0 });
  }

  /** The same of rows that may still come to be. */
  addInDoubt(rows: readonly AddressRowKey[]): void {
    for (const row of rows) this.#pending.set(row, { at: 0, again: true });
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** releases that were answered so far */
  sent = 0;

  /** Whether a release of the row is under way, or will be. */
  has(row: AddressRowKey): boolean {
    return this.#pending.has(row);
  }

  /** When something is to be sent, in milliseconds since the epoch; undefined = nothing is. */
  get dueAt(): number | undefined {
    const times = [...this.#pending.values()].map(({ at }) => at);
    return times.length > 0 ? leastOf(times) : undefined;
  }

  /** Sends what is due. Never rejects; what could not be sent is tried again. */
  drain(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : this.#calls.begin();
  }

  async #send(): Promise<void> {
    const { clock, recorder, release, wakeAt, freed } = this.ports;
    const now = clock.now();
    const due = [...this.#pending].filter(([, { at }]) => at <= now);
    for (let from = 0; from < due.length; from += ROWS_MAX) {
      const lot = due.slice(from, from + ROWS_MAX);
      try {
        const pools = await release(lot.map(([row]) => row));
        this.sent++;
        for (const [row, { again }] of lot) {
          if (again) this.#pending.set(row, { at: clock.now() + DOUBT_MS });
          else this.#pending.delete(row);
        }
        if (pools.length > 0) freed(pools);
      } catch (error) {
        recorder.log("warn", "addresses of pools could not be given back yet", { rows: lot.length, error: String(error) });
        for (const [row, pending] of lot) this.#pending.set(row, { ...pending, at: clock.now() + RETRY_MS });
      }
    }
    const { dueAt } = this;
    if (dueAt !== undefined) wakeAt(dueAt);
  }
}
