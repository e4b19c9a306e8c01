/** Timers of one part of the product among those of an isolate in which objects of other tests set timers, too. */

import { vi } from "vitest";

/**
 * Fake timers, until `vi.useRealTimers`. The result counts those that code below this folder of the project has set since and that have neither rung nor been
 * cleared.
 */
export function fakeTimersOf(folder: string): () => number {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { setTimeout, clearTimeout } = globalThis;
  const pending = new Set<unknown>();
  globalThis.setTimeout = ((work: () => void, delayMs?: number): unknown => {
    const isOwn = new Error().stack?.includes(`/${folder}/`) === true;
    const rung = (): void => {
      pending.delete(timer);
      work();
    };
    const timer: unknown = setTimeout(rung, delayMs);
    if (isOwn) pending.add(timer);
    return timer;
  }) as typeof globalThis.setTimeout;
  globalThis.clearTimeout = ((timer: Parameters<typeof clearTimeout>[0]): void => {
    pending.delete(timer);
    clearTimeout(timer);
  }) as typeof globalThis.clearTimeout;
  return () => pending.size;
}
