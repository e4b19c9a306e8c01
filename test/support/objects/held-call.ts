/** One call between real Durable Objects whose answer is held, to see events meanwhile. */
import { intercept } from "./intercept";

const POLL_MS = 5;

export interface HeldCall {
  /** the call has had its effect */
  readonly isWaiting: boolean;
  /** its answer is sent */
  letGo(): void;
}

/**
 * The next call of the method to any object of the class has its effect, and then waits. Later calls of the same object wait, too, because a
 * caller that has given up asks again. `vi.restoreAllMocks` ends the hold.
 */
export function holdAnswer(prototype: object, method: string): HeldCall {
  const held = { isWaiting: false, isLetGo: false, letGo: (): void => void (held.isLetGo = true) };
  let heldObject: object | undefined;
  intercept(prototype, method, async (call, object) => {
    heldObject ??= object;
    const answer = await call();
    if (object !== heldObject) return answer;
    held.isWaiting = true;
    // Objects share no promises, but they share the test's memory.
    while (!held.isLetGo) await scheduler.wait(POLL_MS);
    return answer;
  });
  return held;
}
