import type { Clock } from "./ports";

/** Resolves after `ms` milliseconds; at once for none. */
export function pause(clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return ms > 0 ? new Promise((resolve) => void clock.after(ms, resolve)) : Promise.resolve();
}
