/** One call between real Durable Objects that is lost, to see what comes of what it was a step of. */
import { vi } from "vitest";

/**
 * The n-th call of the method to any object of the class is lost: before it has an effect, or after it with its answer. `vi.restoreAllMocks`
 * ends it.
 */
export function lostAt(prototype: object, method: string, { nth, when }: { nth: number; when: "before" | "after" }): { happened: boolean } {
  const lost = { happened: false };
  const target = prototype as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const real = target[method];
  let calls = 0;
  const patched = async function (this: object, ...args: unknown[]): Promise<unknown> {
    const isLost = ++calls === nth;
    if (isLost && when === "before") {
      lost.happened = true;
      throw new Error("lost before");
    }
    const answer = await real?.apply(this, args);
    if (!isLost) return answer;
    lost.happened = true;
    throw new Error("lost after");
  };
  vi.spyOn(target, method).mockImplementation(patched);
  return lost;
}
