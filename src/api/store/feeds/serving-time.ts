/** For how long a store has taken each write. Whoever draws conclusions from writes that did not come has to know. In memory alone: a start begins anew. */
import type { Clock } from "../../../core/base/ports";
import type { StoreObserver } from "../state/observer";

export class ServingTime implements StoreObserver {
  readonly isIdle = true;
  #since: number;

  constructor(private readonly clock: Pick<Clock, "now">) {
    this.#since = clock.now();
  }

  /** In milliseconds; a clock that was set back begins it anew. */
  get ms(): number {
    const now = this.clock.now();
    this.#since = Math.min(this.#since, now);
    return now - this.#since;
  }

  turnCommitted(): void {
    // It was served.
  }

  turnLost(): void {
    this.#since = this.clock.now();
  }
}
