/** Timers of the product that ring at another time: no test waits for them, and no pause of the machine makes them ring. */
import { vi } from "vitest";
import { systemClock } from "../../../durable-objects/platform/ports";

/** What each delay is instead. */
const instead = new Map<number, number>();
let after = systemClock.after;

/** Timers of this delay ring after another one, until `vi.restoreAllMocks` or the result's `mockRestore`, which end all such rules. */
function ringAfter(delayMs: number, insteadMs: number): { mockRestore(): void } {
  if (!vi.isMockFunction(systemClock.after)) {
    after = systemClock.after;
    instead.clear();
  }
  instead.set(delayMs, insteadMs);
  return vi.spyOn(systemClock, "after").mockImplementation((ms, work) => {
    const ringsMs = instead.get(ms) ?? ms;
    return ringsMs === Infinity ? () => undefined : after(ringsMs, work);
  });
}

/** Timers of this delay ring in one of the next turns. */
export function ringAtOnce(delayMs: number): { mockRestore(): void } {
  return ringAfter(delayMs, 0);
}

/** Calls with this timeout are waited for, however long the machine pauses. */
export function neverTimeOut(timeoutMs: number): void {
  ringAfter(timeoutMs, Infinity);
}
