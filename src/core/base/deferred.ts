/** A promise, and who settles it. */
export interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T | PromiseLike<T>): void;
  reject(reason?: unknown): void;
}

/**
 * A promise that another request may resolve, as a Worker's requests wake each other.
 *
 * The platform brings the waiting request back into its own context by a mark that each promise gets as it is made. `new Promise` in code that the engine has
 * compiled for speed makes one without the mark (workerd 1.20260426.1, after some thousand calls). Then the waiting request goes on inside the other one,
 * and each of its streams, timers and sockets throws "Cannot perform I/O on behalf of a different request". `withResolvers` is no part of compiled code.
 */
export function deferred<T>(): Deferred<T> {
  const platform = Promise as { withResolvers?: <V>() => Deferred<V> };
  if (platform.withResolvers) return platform.withResolvers<T>();
  // Node 20, where no request wakes another one.
  const settle: Partial<Deferred<T>> = {};
  const promise = new Promise<T>((resolve, reject) => Object.assign(settle, { resolve, reject }));
  return { ...settle, promise } as Deferred<T>;
}
