/** Work that may be asked for often and is done seldom: at once when the last time is long ago, else once at the end of the interval. */
import type { Clock } from "./ports";

/** A function that asks for `work`, which runs at least `intervalMs` apart. What was asked for before a restart is lost. */
export function throttled(clock: Clock, intervalMs: number, work: () => void): () => void {
  let lastAt = -Infinity;
  let waiting = false;
  const run = (): void => {
    waiting = false;
    lastAt = clock.now();
    work();
  };
  return () => {
    if (waiting) return;
    const restMs = lastAt + intervalMs - clock.now();
    // A clock that was set back must not make the wait longer than the interval.
    if (restMs <= 0) run();
    else {
      waiting = true;
      clock.after(Math.min(restMs, intervalMs), run);
    }
  };
}
