/** The least and the greatest of any number of values. Math.min and Math.max take them as arguments, and overflow the stack at some 100,000. */

/** Infinity when there are none. */
export function leastOf(values: Iterable<number>): number {
  let least = Infinity;
  for (const value of values) least = Math.min(least, value);
  return least;
}

/** -Infinity when there are none. */
export function greatestOf(values: Iterable<number>): number {
  let greatest = -Infinity;
  for (const value of values) greatest = Math.max(greatest, value);
  return greatest;
}
