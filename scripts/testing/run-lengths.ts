/** How much of what is random or repeated .ci/run does. */

interface RunLength {
  /** of the simulated cluster */
  histories: number;
  /** of random requests */
  fuzzMinutes: number;
}

/** Each change has its own seeds, so that many short runs explore more than one long one. */
export const SHORT: RunLength = { histories: 300, fuzzMinutes: 1 };
/** Before a release. docs/reliability.md counts on these. */
export const LONG: RunLength = { histories: 3000, fuzzMinutes: 2 };
