import { inParallel } from "../../src/core/base/in-parallel";
import type { Progress } from "../terminal/progress";

/** Requests under way at once: a store commits waiting writes together, so many cost little more than one. */
const TOGETHER = 64;

/** Calls `work` for each item, some at a time, in order; shows the number of finished ones. */
export async function eachTogether<T>(
  what: string,
  items: readonly T[],
  progress: Progress,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let done = 0;
  await inParallel(items, TOGETHER, async (item) => {
    await work(item);
    progress.show(what, ++done, items.length);
  });
}
