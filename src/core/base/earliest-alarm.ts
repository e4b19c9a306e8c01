/** An object has one alarm and several users of it; the earliest requested time counts. */
import type { Clock } from "./ports";

export class EarliestAlarm {
  /** known time of the alarm; 0 = not known */
  #at = 0;

  /** `set` replaces the object's alarm by one at the given time (ms since the epoch), durable with the writes of its turn. */
  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly set: (atMs: number) => void,
  ) {}

  /** The object wakes at `atMs` or earlier. An earlier alarm stays; its user requests this time again. */
  by(atMs: number): void {
    if (this.#at > this.clock.now() && this.#at <= atMs) return;
    this.#at = atMs;
    this.set(atMs);
  }

  /**
   * The same inside a transaction that may roll back, and the alarm with it. The next request is set in any case, so the caller requests
   * all its times again after the commit.
   */
  byWithTransaction(atMs: number): void {
    this.by(atMs);
    this.#at = 0;
  }

  /**
   * Must be called when the alarm goes off: no alarm is set any more. The time does not show it, because the platform's clock may be ahead
   * of the object's.
   */
  rang(): void {
    this.#at = 0;
  }
}
