/** `npm run coverage`: which lines and branches of the product the tests run, and which they ran before. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCollector } from "./coverage/collector";
import { makeInstrumentedCopy } from "./coverage/instrumented-copy";
import { type CoverageOptions, parseOptions, usage } from "./coverage/options";
import { comparisonText, tableOf } from "./coverage/report-text";
import { endSuite, runSuites } from "./coverage/suites";
import { compare, type Summary, summaryOf } from "./coverage/summary";
import { root } from "./root.mjs";
import { runProgram } from "./terminal/command-line";
import { inMemory } from "./testing/memory-folder";

const output = join(root, "coverage");

await runProgram({
  name: "coverage",
  usage,
  parse: parseOptions,
  main: async ({ tests, summary, against }: CoverageOptions) => {
    const { after, failed } = summary ? { after: summary, failed: [] } : await measure(tests);
    console.log(`\n${tableOf(after)}`);
    if (failed.length > 0) console.log(`\nfailed: ${failed.join(", ")}`);
    const comparison = against && compare(against, after);
    if (comparison) console.log(`\n${comparisonText(comparison)}`);
    return failed.length > 0 || (comparison?.losses.length ?? 0) > 0 ? 1 : 0;
  },
});

async function measure(tests: readonly string[]): Promise<{ after: Summary; failed: string[] }> {
  mkdirSync(output, { recursive: true });
  const collector = await startCollector(join(output, "counts"));
  const copy = join(output, "copy");
  try {
    const files = makeInstrumentedCopy(root, copy, collector.url);
    const failed = await runSuites({ copy, counts: collector.folder, logs: output, env: inMemory({ beforeEnd: endSuite }) }, tests);
    collector.addTo(Object.fromEntries(files));
    const after = summaryOf(files);
    writeFileSync(join(output, "summary.json"), `${JSON.stringify(after, null, 1)}\n`);
    return { after, failed };
  } finally {
    collector.end();
    rmSync(copy, { recursive: true, force: true });
  }
}
