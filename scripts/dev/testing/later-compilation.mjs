/**
 * Has V8 compile a function later than it would. Its compiler takes a third of the CPU time of tests that end before this pays.
 * Node 22 and later count calls, Node 20 what is executed; both by an option that the other does not know.
 */
const COUNTS_CALLS = Number(process.versions.node.split(".")[0]) >= 22;
const CALLS = 3_000;
const BUDGET = 67_584;

/**
 * @param {number} factor how many times as much use a function needs before V8 compiles it
 * @returns {string} an option of Node
 */
export function laterCompilation(factor) {
  return COUNTS_CALLS
    ? `--invocation-count-for-turbofan=${String(Math.round(CALLS * factor))}`
    : `--interrupt-budget=${String(Math.round(BUDGET * factor))}`;
}
