/** Every call to a peer has a timeout. Afterwards the callee may still run, and the caller goes on. */
import type { Clock } from "./ports";

const NAME = "TimeoutError";

class TimeoutError extends Error {
  override name = NAME;
}

/** Whether an error of a call is its own timeout: the callee neither answered nor failed. */
export function isTimeout(error: unknown): boolean {
  return error instanceof TimeoutError;
}

/** The same, or a timeout inside the callee: errors cross RPC without their class and with their name. */
export function isTimeoutOfAny(error: unknown): boolean {
  return error instanceof Error && error.name === NAME;
}

/** The promise's outcome, or a TimeoutError after `timeoutMs`. A late outcome is dropped. */
export function withTimeout<T>(clock: Pick<Clock, "after">, timeoutMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    // The name tells a clock of tests what kind of timer this is.
    const timeIsUp = (): void => reject(new TimeoutError(`no answer within ${timeoutMs} ms`));
    const cancel = clock.after(timeoutMs, timeIsUp);
    promise.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
