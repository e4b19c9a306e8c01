/** The pauses of a loop that tries again: each is twice as long as the one before, until something succeeds. */
import type { Clock, Random } from "../../core/base/ports";

const BACKOFF_MIN_MS = 500;
const BACKOFF_MAX_MS = 30_000;

export class RetryPause {
  #nextMs = BACKOFF_MIN_MS;
  #isStopped = false;
  #wake: () => void = () => undefined;

  constructor(
    private readonly clock: Pick<Clock, "after">,
    /** makes each back-off longer, at most twice as long, so that many clients do not come back at once */
    private readonly random?: Pick<Random, "next">,
    /** no back-off is longer, before it is spread */
    private readonly maxMs = BACKOFF_MAX_MS,
  ) {}

  /** Something succeeded: the next back-off is short again. */
  reset(): void {
    this.#nextMs = BACKOFF_MIN_MS;
  }

  backOff(): Promise<void> {
    const delay = this.#nextMs;
    this.#nextMs = Math.min(delay * 2, this.maxMs);
    return this.wait(spread(delay, this.random));
  }

  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.clock.after(delayMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
      if (this.#isStopped) this.#wake();
    });
  }

  /** Ends the pause, and every later one at once. */
  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }
}

/** A whole number between `value` and twice `value`; `value` itself without a source of chance. */
export function spread(value: number, random: Pick<Random, "next"> | undefined): number {
  return random ? Math.floor(value * (1 + random.next())) : value;
}
