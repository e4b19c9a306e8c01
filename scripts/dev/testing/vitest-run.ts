/** A step that runs Vitest. What failed runs once more by itself, so that a test which depends on luck is called so. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ended, isEnding, root, run } from "./commands";
import { type Counts, oneFailed } from "./counts";
import { printOutput, printPart } from "./steps";
import { countsOf, type Failure, failuresIn, partOf, type Report, reportIn } from "./vitest-report";

/** How long a run may take; one that hangs is a failure, not an endless wait. */
const RUN_MS_MAX = 50 * 60_000;
/** More failures than these are no accident: they need no second look. */
const RERUNS_MAX = 5;

export interface VitestRun {
  /** the configuration, below the project's root */
  config: string;
  /** files and folders; none = all of the configuration */
  files?: readonly string[];
  exclude?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Parts of the run that have a line of their own: name -> folder below the project's root. */
  parts?: Readonly<Record<string, string>>;
}

/**
 * A Vitest run. A test that did not run (skipped, todo, its file broken) counts as failed, and so does a run that failed for another reason or had no
 * tests at all. A test that failed and passes by itself is flaky: its line says so, and it counts as failed.
 */
export async function vitest(name: string, { parts = {}, ...wanted }: VitestRun): Promise<Counts> {
  const startedAt = Date.now();
  const { report, code, output } = await runOnce(wanted);
  const lines = report ? await linesOf(failuresIn(report), wanted) : [];
  const counts = report ? countsOf(name, report, code, lines) : oneFailed(`${name}: no report`);
  printPart({ name, counts, ms: Date.now() - startedAt });
  if (report) for (const [part, folder] of Object.entries(parts)) printPart({ name: `- ${part}`, ...partOf(report, folder) });
  if (code === null) console.log(`${name}: ended by a signal, as a run of more than ${String(RUN_MS_MAX / 60_000)} minutes is`);
  if (counts.failed > 0) printOutput(name, output);
  return counts;
}

interface Once extends Ended {
  report: Report | undefined;
}

async function runOnce({ config, files = [], exclude = [], env }: VitestRun, further: readonly string[] = []): Promise<Once> {
  const folder = mkdtempSync(join(tmpdir(), "servicenet-report-"));
  const path = join(folder, "report.json");
  try {
    const program = [process.execPath, join(root, "node_modules", "vitest", "vitest.mjs"), "run", "-c", config, ...files];
    const excluded = exclude.flatMap((pattern) => ["--exclude", pattern]);
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${path}`];
    const ended = await run([...program, ...excluded, ...reporters, ...further], { env: { ...process.env, ...env }, timeout: RUN_MS_MAX });
    return { ...ended, report: reportIn(path) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function linesOf(failures: readonly Failure[], wanted: VitestRun): Promise<string[]> {
  const lines: string[] = [];
  for (const failure of failures) {
    const { file, test, reason } = failure;
    const isFlaky = failures.length <= RERUNS_MAX && !isEnding() && (await passesAlone(failure, wanted));
    lines.push(`${isFlaky ? "flaky, it passes alone: " : ""}${file}${test === undefined ? "" : ` > ${test}`}: ${reason}`);
  }
  return lines;
}

/** Skipped tests do not pass alone, either: a run without a passed test is none. */
async function passesAlone({ file, test }: Failure, { config, env }: VitestRun): Promise<boolean> {
  const { code, report } = await runOnce({ config, files: [file], env }, test === undefined ? [] : ["-t", `^${escaped(test)}$`]);
  return code === 0 && report !== undefined && report.numPassedTests > 0;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
