/** The pauses of the agent's loops. */
import type { Clock, Random } from "../../core/base/ports";

const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 2_500;
const DOUBLINGS_MAX = 8;

/** The pause after the `failures`th failure in a row, from 1: at most 5 s, and spread, so that many agents do not come back at once. */
export function retryMs(failures: number, random: Pick<Random, "next">): number {
  return Math.min(RETRY_MIN_MS * 2 ** Math.min(failures - 1, DOUBLINGS_MAX), RETRY_MAX_MS) * (1 + random.next());
}

/** A pause that news ends. News between two pauses ends the next one at once. */
export class Nap {
  #hasNews = false;
  #end: () => void = () => undefined;

  constructor(private readonly clock: Pick<Clock, "after">) {}

  async wait(ms: number): Promise<void> {
    if (!this.#hasNews) {
      await new Promise<void>((resolve) => {
        const cancel = this.clock.after(ms, resolve);
        this.#end = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#hasNews = false;
  }

  wake(): void {
    this.#hasNews = true;
    this.#end();
  }
}
