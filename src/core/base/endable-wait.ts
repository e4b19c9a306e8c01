/**
 * A wait of one request that another one may end.
 *
 * Whom another request wakes goes on a moment later. The platform ends a request that has nothing under way meanwhile, neither timer nor call, as one that
 * has hung. So it is if the wait's own timer fires in that moment (of bursts to 500 watches in a busy isolate one in twenty had such a watch,
 * workerd 1.20260426.1). A second timer outlasts the first by more than the moment.
 */
import { deferred } from "./deferred";
import type { Clock } from "./ports";

const OUTLASTS_MS = 10_000;

export class EndableWait<T> {
  readonly #ended = deferred<T>();
  readonly #cancels: readonly (() => void)[];

  /** `late`: called after `forMs` unless the wait has ended before */
  constructor(clock: Pick<Clock, "after">, forMs: number, late: () => void) {
    this.#cancels = [clock.after(forMs, late), clock.after(forMs + OUTLASTS_MS, () => undefined)];
  }

  /** Ends the wait. In whatever request; repeats do nothing. */
  readonly end = (value: T): void => this.#ended.resolve(value);

  /** Resolves with what the wait was ended with. In the request that waits: it alone may end its timers. */
  async over(): Promise<T> {
    const value = await this.#ended.promise;
    for (const cancel of this.#cancels) cancel();
    return value;
  }
}
