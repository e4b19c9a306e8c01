/** `npm run coverage`: which lines and branches of the product the tests run, and which they ran before. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCollector } from "./coverage/collector";
import { makeInstrumentedCopy } from "./coverage/instrumented-copy";
import { type CoverageOptions, parseOptions, usage } from "./coverage/options";
import { comparisonText, tableOf } from "./coverage/report-text";
import { endSuite, runSuites } from "./coverage/suites";
import { compare, type Summary, summaryOf } from "./coverage/summary";
import { root } from "../running/root.mjs";
import { runProgram } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";
import { inMemory } from "./testing/memory-folder";

const output = join(root, "coverage");

await runProgram({
  name: "coverage",
  usage,
  parse: parseOptions,
  main: async ({ summary, against, ...wanted }: CoverageOptions) => {
    const { after, failed } = summary ? { after: summary, failed: [] } : await measure(wanted);
    console.log(`\n${tableOf(after)}`);
    if (failed.length > 0) console.log(`\nfailed: ${failed.join(", ")}`);
    const comparison = against && compare(against, after);
    if (comparison) console.log(`\n${comparisonText(comparison)}`);
    return failed.length > 0 || (comparison?.losses.length ?? 0) > 0 ? 1 : 0;
  },
});

async function measure({ tests, more }: Pick<CoverageOptions, "tests" | "more">): Promise<{ after: Summary; failed: string[] }> {
  mkdirSync(output, { recursive: true });
  const collector = await startCollector(join(output, "counts"), { more });
  const copy = join(output, "copy");
  try {
    const files = makeInstrumentedCopy(root, copy, collector.url);
    noteSources(JSON.stringify(Object.fromEntries(files)), more);
    const env = inMemory({ beforeEnd: endSuite });
    const failed = await runSuites({ copy, counts: collector.folder, logs: output, env }, tests);
    collector.addTo(Object.fromEntries(files));
    const after = summaryOf(files);
    writeFileSync(join(output, "summary.json"), `${JSON.stringify(after, null, 1)}\n`);
    return { after, failed };
  } finally {
    collector.end();
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Counts are known by numbers, which mean other places once the sources change. */
function noteSources(sources: string, more: boolean): void {
  const path = join(output, "sources.json");
  if (!more) writeFileSync(path, sources);
  else if (!existsSync(path) || readFileSync(path, "utf8") !== sources)
    throw new UserError("--more: there is no earlier run, or the sources have changed since; run without it");
}
