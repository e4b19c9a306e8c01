/**
 * Vitest's way to get the counters of the files that it runs, in Node and in workerd. Vitest loads this module on both sides: where the tests run it takes
 * the counters, and the process that started them writes them down.
 */
import { STOP, takeCounters } from "./counters.mjs";

/** @type {unknown} */
let options;

/** @param {{ coverage: unknown }} run */
async function write({ coverage }) {
  if (!coverage) return;
  const { appendFileSync } = await import("node:fs");
  const folder = process.env["SERVICENET_COVERAGE"];
  if (folder) appendFileSync(`${folder}/vitest-${String(process.pid)}.jsonl`, `${JSON.stringify(coverage)}\n`);
}

/** Vitest's own report is not made. */
const provider = {
  name: "servicenet",
  /** @param {{ config: { coverage: unknown } }} vitest */
  initialize(vitest) {
    options = vitest.config.coverage;
  },
  resolveOptions: () => options,
  clean: () => undefined,
  onAfterSuiteRun: write,
  generateCoverage: () => ({}),
  reportCoverage: () => undefined,
};

/** Nobody else takes them where tests run. */
const startCoverage = () => /** @type {Record<symbol, (() => void) | undefined>} */ (globalThis)[STOP]?.();

/** @returns {typeof provider} */
const getProvider = () => provider;

export default { getProvider, startCoverage, takeCoverage: takeCounters, stopCoverage: () => undefined };
