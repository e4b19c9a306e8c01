/** The rows that differ between two readings of a table. */

export interface Changes<Row> {
  /** an altered row is here as it was, and in `come` as it is now */
  gone: Row[];
  come: Row[];
}

/** Compares rows by identity: an unchanged row is the same object in both readings. Both have nearly the same order. */
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
