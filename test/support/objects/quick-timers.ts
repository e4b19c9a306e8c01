/** Timers of the product that ring at once, so that no test waits for them. */
import { vi } from "vitest";
import { systemClock } from "../../../durable-objects/ports";

/** Timers of this delay ring in one of the next turns, until `vi.restoreAllMocks` or the result's `mockRestore`. */
export function ringAtOnce(delayMs: number): { mockRestore(): void } {
  const after = systemClock.after;
  return vi.spyOn(systemClock, "after").mockImplementation((ms, work) => after(ms === delayMs ? 0 : ms, work));
}
