/** Work that is requested often and done seldom: at once when the interval is over, else once at its end. */
import type { Clock } from "../base/ports";

/** Returns a function that requests `work`. Runs of `work` are at least `intervalMs` apart. A restart loses a pending request. */
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
