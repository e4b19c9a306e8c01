/** One lost call between real Durable Objects. */
import { intercept } from "./intercept";

/**
 * The n-th call of the method to any object of the class is lost: before it has an effect, or after it with its answer. `vi.restoreAllMocks`
 * ends it.
 */
export function lostAt(prototype: object, method: string, { nth, when }: { nth: number; when: "before" | "after" }): { happened: boolean } {
  const lost = { happened: false };
  let calls = 0;
  intercept(prototype, method, async (call) => {
    const isLost = ++calls === nth;
    if (isLost && when === "before") {
      lost.happened = true;
      throw new Error("lost before");
    }
    const answer = await call();
    if (!isLost) return answer;
    lost.happened = true;
    throw new Error("lost after");
  });
  return lost;
}
