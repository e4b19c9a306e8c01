/** Steps of a test run: each prints its own output and answers how many of its checks passed and failed, and which failed. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

export interface Counts {
  passed: number;
  failed: number;
  /** What failed, a line each. */
  failures: string[];
}

export const onePassed: Readonly<Counts> = { passed: 1, failed: 0, failures: [] };

export function oneFailed(what: string): Counts {
  return { passed: 0, failed: 1, failures: [what] };
}

const root = join(import.meta.dirname, "..", "..");

/** One command that passes when it exits with 0. Its output comes in one piece, so that commands may run side by side. */
export async function check(name: string, [command = "", ...args]: string[]): Promise<Counts> {
  const startedAt = Date.now();
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], shell: process.platform === "win32" });
  const { code, output } = await ended(child);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)${output.trim() ? `\n${output.trimEnd()}` : ""}`);
  return code === 0 ? onePassed : oneFailed(name);
}

/** How long a vitest run may take; one that hangs is a failure, not an endless wait. */
const runMsMax = 25 * 60_000;

/**
 * A vitest run; counts come from its JSON report. A test that did not run (skipped, todo, its file broken) counts as failed, and
 * so does a run that failed for another reason or had no tests at all.
 *
 * @param output "live", or "whole" = in one piece at the end, for a run beside others
 */
export async function vitest(
  name: string,
  args: string[],
  options: { env?: Record<string, string>; output?: "live" | "whole" } = {},
): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), "servicenet-report-"));
  const report = join(folder, "report.json");
  const live = options.output !== "whole";
  const title = `\n--- ${name}`;
  if (live) console.log(title);
  try {
    const program = join(root, "node_modules", "vitest", "vitest.mjs");
    const child = spawn(
      process.execPath,
      [program, "run", ...args, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
      {
        cwd: root,
        stdio: ["ignore", live ? "inherit" : "pipe", live ? "inherit" : "pipe"],
        env: { ...process.env, ...options.env },
        timeout: runMsMax,
      },
    );
    const { code, output } = await ended(child);
    if (!live) console.log(`${title}\n${output.trimEnd()}`);
    if (code === null) console.log(`${name}: ended by a signal, as a run of more than ${String(runMsMax / 60_000)} minutes is`);
    return countsOf(name, report, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits for a command to end. `code` is null if a signal ended it or it never started; `output` is what it wrote to pipes. */
async function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve).on("error", (error) => {
      output += String(error);
      resolve(null);
    });
  });
  return { code, output };
}

/** Of Vitest's JSON report, what is read here. */
interface Report {
  numPassedTests: number;
  numTotalTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

function countsOf(name: string, path: string, code: number | null): Counts {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return oneFailed(`${name}: no report`);
  }
  const failures = report.testResults.flatMap((file) => {
    const of = relative(root, file.name);
    const tests = file.assertionResults.filter(({ status }) => status !== "passed");
    return tests.length === 0 && file.status !== "passed"
      ? [`${of}: ${firstLine(file.message)}`]
      : tests.map((test) => `${of} > ${test.fullName}: ${firstLine(test.failureMessages[0] ?? test.status)}`);
  });
  const failed = report.numTotalTests - report.numPassedTests;
  if (failed === 0 && (code !== 0 || report.numTotalTests === 0))
    return { passed: report.numPassedTests, failed: 1, failures: failures.length > 0 ? failures : [`${name}: exit code ${String(code)}`] };
  return { passed: report.numPassedTests, failed, failures };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.slice(0, 300) ?? "";
}

/** One step after the other, all of them even if one fails. */
export async function inTurn(steps: readonly (() => Promise<Counts>)[]): Promise<Counts[]> {
  const counts: Counts[] = [];
  for (const step of steps) counts.push(await step());
  return counts;
}

/** Prints what failed and the closing line over all steps, sets the exit code and answers the sums. */
export function finish(steps: Counts[]): Counts {
  const passed = steps.reduce((sum, step) => sum + step.passed, 0);
  const failed = steps.reduce((sum, step) => sum + step.failed, 0);
  const failures = steps.flatMap((step) => step.failures);
  console.log(`\n${failures.map((line) => `failed: ${line}\n`).join("")}${String(passed)} passed, ${String(failed)} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
  return { passed, failed, failures };
}
