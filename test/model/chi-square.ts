/**
 * The distance of observed counts from equal expected counts, as a standard normal deviate: Pearson's statistic through the Wilson-Hilferty
 * cube-root approximation. Far above 0: not uniform; far below: too even to be random. Each cell should expect 5 and more.
 */
export function chiSquareDeviation(counts: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const expected = total / counts.length;
  const degrees = counts.length - 1;
  const statistic = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  const spread = 2 / (9 * degrees);
  return (Math.cbrt(statistic / degrees) - (1 - spread)) / Math.sqrt(spread);
}

/** A draw exceeds this once in 15,000. Seeds are fixed, so a test that has passed keeps passing. */
export const DEVIATION_MAX = 4;
