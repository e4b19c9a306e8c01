import { inParallel } from "../../src/core/base/in-parallel";
import type { Progress } from "../terminal/progress";

/** Requests under way at once: a store commits those that wait together, so many cost it little more than one. */
const TOGETHER = 64;

/** `work` for each item, some at a time, in order; shows how many are done. */
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
