import type { Clock } from "./ports";

/**
 * Leaves the thread to others for `ms` milliseconds, one at least. Objects may share a thread whose loop takes no request and fires no timer
 * as long as calls between objects answer one another, however short each of them is: work that calls in a loop stops everybody until it
 * waits for a timer.
 */
export function pause(clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(Math.max(1, ms), resolve));
}

/** The longest rest: a step that took longer waited for somebody, which is no work. */
const REST_MAX_MS = 250;

/** A tenth of a thread: several such works may run at once beside those who write. */
export const REST_GENTLY = 9;
/** For what somebody waits for. */
export const REST_URGENTLY = 1;

/** Paces background work: after each step it rests so many times as long as the step took. */
export class Pace {
  #since: number;

  constructor(
    private readonly clock: Pick<Clock, "after" | "now">,
    private readonly ratio: number,
  ) {
    this.#since = clock.now();
  }

  /** Rests for what was done since the last rest ended. */
  async rest(): Promise<void> {
    await pause(this.clock, Math.min(REST_MAX_MS, (this.clock.now() - this.#since) * this.ratio));
    this.#since = this.clock.now();
  }
}
