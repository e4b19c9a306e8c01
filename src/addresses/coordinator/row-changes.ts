/** What is in one reading of a table and not in another. */

export interface Changes<Row> {
  /** a row that was altered has gone, and come as it is now */
  gone: Row[];
  come: Row[];
}

/** Rows are compared by identity: one that did not change is the same object in both readings. Both are in nearly the same order. */
export function changesOf<Row>(before: readonly Row[], after: readonly Row[]): Changes<Row> {
  if (before === after) return { gone: [], come: [] };
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1])
    [endBefore, endAfter] = [endBefore - 1, endAfter - 1];
  const [old, now] = [before.slice(start, endBefore), after.slice(start, endAfter)];
  const [isOld, isNow] = [new Set(old), new Set(now)];
  return { gone: old.filter((row) => !isNow.has(row)), come: now.filter((row) => !isOld.has(row)) };
}
