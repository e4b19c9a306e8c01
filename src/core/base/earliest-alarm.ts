/** An object has one alarm; whoever needs one asks here, and the earliest wish counts. */
import type { Clock } from "./ports";

export class EarliestAlarm {
  /** when the alarm stands as far as is known; 0 = not known */
  #at = 0;

  /** `set` replaces the object's alarm by one at the given time (ms since the epoch), durable with the writes of its turn. */
  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly set: (atMs: number) => void,
  ) {}

  /** The object wakes at `atMs` or earlier; an earlier alarm is left and has to ask for this one. */
  by(atMs: number): void {
    if (this.#at > this.clock.now() && this.#at <= atMs) return;
    this.#at = atMs;
    this.set(atMs);
  }

  /**
   * The same inside a transaction that may be lost, and the wish with it: what is asked for afterwards is set in any case, so whoever uses
   * this has to ask for all that it waits for once the transaction is kept.
   */
  byWithTransaction(atMs: number): void {
    this.by(atMs);
    this.#at = 0;
  }

  /**
   * To be called when the alarm goes off: none stands any more. The time does not tell, because whoever keeps alarms has a clock of its own
   * and may ring before the object's clock has come to the moment.
   */
  rang(): void {
    this.#at = 0;
  }
}
