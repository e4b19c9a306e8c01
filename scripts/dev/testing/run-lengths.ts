/** How much of what is random or repeated .ci/run does. */

interface RunLength {
  /** of the simulated cluster, from fixed seeds: these meet the steps that faults have to meet */
  histories: number;
  /** of the simulated cluster, from seeds of the commit: many short runs explore more than one long one */
  historiesOfCommit: number;
  /** of each other random test */
  historiesOfEach: number;
  /** of random requests */
  fuzzMinutes: number;
}

export const SHORT: RunLength = { histories: 325, historiesOfCommit: 200, historiesOfEach: 30, fuzzMinutes: 1 };
/** Before a release. docs/internals/reliability.md counts on these. */
export const LONG: RunLength = { histories: 3025, historiesOfCommit: 1000, historiesOfEach: 150, fuzzMinutes: 2 };
