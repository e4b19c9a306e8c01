/** One call between real Durable Objects whose answer waits, to see what may happen meanwhile. */
import { vi } from "vitest";

const POLL_MS = 5;

export interface HeldCall {
  /** the call has had its effect */
  readonly isWaiting: boolean;
  /** its answer is sent */
  letGo(): void;
}

/** The next call of the method to any object of the class has its effect, and then waits. `vi.restoreAllMocks` ends it. */
export function holdAnswer(prototype: object, method: string): HeldCall {
  const held = { isWaiting: false, isLetGo: false, letGo: (): void => void (held.isLetGo = true) };
  const target = prototype as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const real = target[method];
  let isFirst = true;
  const patched = async function (this: object, ...args: unknown[]): Promise<unknown> {
    const isHeld = isFirst;
    isFirst = false;
    const answer = await real?.apply(this, args);
    if (!isHeld) return answer;
    held.isWaiting = true;
    // Objects share no promises, but the test's memory.
    while (!held.isLetGo) await scheduler.wait(POLL_MS);
    return answer;
  };
  vi.spyOn(target, method).mockImplementation(patched);
  return held;
}
