/** What an awaited promise rejects with when its time is over. */
export class Overdue extends Error {}

/** The promise's outcome, or a rejection with Overdue after `timeoutMs`. A late outcome is dropped. */
export function inTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Overdue()), timeoutMs);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        // Passed on as thrown: the platform's properties on it decide what happens.
        reject(error);
      },
    );
  });
}
