/** Steps of a test run: each prints a line, its output if it failed, and answers how many of its checks passed and failed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

export interface Counts {
  passed: number;
  failed: number;
  /** The failures, a line each. */
  failures: string[];
}

export const onePassed: Readonly<Counts> = { passed: 1, failed: 0, failures: [] };

export function oneFailed(what: string): Counts {
  return { passed: 0, failed: 1, failures: [what] };
}

const root = join(import.meta.dirname, "..", "..");

/** One command that passes when it exits with 0. */
export async function check(name: string, [command = "", ...args]: string[]): Promise<Counts> {
  const startedAt = Date.now();
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], shell: process.platform === "win32" });
  const { code, output } = await ended(child);
  const counts = code === 0 ? onePassed : oneFailed(name);
  printPart({ name, counts, ms: Date.now() - startedAt });
  if (counts.failed > 0) printOutput(name, output);
  return counts;
}

interface Part {
  name: string;
  counts: Counts;
  ms: number;
}

/** Failures stand right below the line: whoever keeps only the beginning of a long log sees them. */
function printPart({ name, counts: { passed, failed, failures }, ms }: Part): void {
  const tests = passed + failed > 1 ? `, ${String(passed)} passed${failed > 0 ? `, ${String(failed)} failed` : ""}` : "";
  console.log(`${failed === 0 ? "ok    " : "FAILED"} ${name} (${(ms / 1000).toFixed(1)} s${tests})`);
  for (const line of failures) if (line !== name) console.log(`       failed: ${line}`);
}

/** Lines of Vitest about what passed say nothing of a failure. */
const passedLine = /^\s*✓.*\n/gm;

function printOutput(name: string, output: string): void {
  console.log(`--- ${name}\n${output.replace(passedLine, "").trimEnd()}\n--- end of ${name}`);
}

/** How long a vitest run may take; one that hangs is a failure, not an endless wait. */
const runMsMax = 50 * 60_000;

interface VitestOptions {
  env?: Record<string, string>;
  /** Parts of the run that have a line of their own: name -> folder below the project's root. */
  parts?: Readonly<Record<string, string>>;
}

/**
 * A vitest run; counts come from its JSON report. A test that did not run (skipped, todo, its file broken) counts as failed, and
 * so does a run that failed for another reason or had no tests at all.
 */
export async function vitest(name: string, args: string[], { env, parts }: VitestOptions = {}): Promise<Counts> {
  const startedAt = Date.now();
  const folder = mkdtempSync(join(tmpdir(), "servicenet-report-"));
  const path = join(folder, "report.json");
  try {
    const program = join(root, "node_modules", "vitest", "vitest.mjs");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${path}`];
    const child = spawn(process.execPath, [program, "run", ...args, ...reporters], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
      timeout: runMsMax,
    });
    const { code, output } = await ended(child);
    const report = reportIn(path);
    const counts = report ? countsOf(name, report, code) : oneFailed(`${name}: no report`);
    printPart({ name, counts, ms: Date.now() - startedAt });
    for (const part of report ? partsOf(report, parts ?? {}) : []) printPart(part);
    if (code === null) console.log(`${name}: ended by a signal, as a run of more than ${String(runMsMax / 60_000)} minutes is`);
    if (counts.failed > 0) printOutput(name, output);
    return counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The commands that run. */
const running = new Set<ChildProcess>();
/** How long a command has to end its own children. */
const END_MS_MAX = 10_000;

let isEnding = false;

/** Asks the commands to end, and waits for them; one that takes too long is killed. No further step begins. */
export async function endCommands(): Promise<void> {
  isEnding = true;
  const commands = [...running].filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const exits = commands.map((child) => once(child, "exit"));
  for (const child of commands) child.kill();
  const timer = setTimeout(() => commands.forEach((child) => child.kill("SIGKILL")), END_MS_MAX);
  await Promise.all(exits);
  clearTimeout(timer);
}

/** Waits for a command to end. `code` is null if a signal ended it or it never started; `output` is what it wrote to pipes. */
async function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = "";
  running.add(child);
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve).on("error", (error) => {
      output += String(error);
      resolve(null);
    });
  });
  running.delete(child);
  return { code, output };
}

/** The part of Vitest's JSON report that is read here. */
interface Report {
  numPassedTests: number;
  numTotalTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

function reportIn(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return undefined;
  }
}

/** The time of a part is that of its files, which run one after another. */
function partsOf({ testResults }: Report, parts: Readonly<Record<string, string>>): Part[] {
  return Object.entries(parts).map(([name, folder]) => {
    const files = testResults.filter((file) => relative(root, file.name).startsWith(folder));
    const tests = files.flatMap(({ assertionResults }) => assertionResults);
    const passed = tests.filter(({ status }) => status === "passed").length;
    const broken = files.filter(({ status, assertionResults }) => status !== "passed" && assertionResults.length === 0).length;
    const ms = files.reduce((sum, { startTime, endTime }) => sum + Math.max(0, endTime - startTime), 0);
    return { name: `- ${name}`, counts: { passed, failed: tests.length - passed + broken, failures: [] }, ms };
  });
}

function countsOf(name: string, report: Report, code: number | null): Counts {
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
  for (const step of steps) if (!isEnding) counts.push(await step());
  return counts;
}

/** Prints what failed and the closing line over all steps, and answers the sums. */
export function finish(steps: Counts[]): Counts {
  const passed = steps.reduce((sum, step) => sum + step.passed, 0);
  const failed = steps.reduce((sum, step) => sum + step.failed, 0);
  const failures = steps.flatMap((step) => step.failures);
  console.log(`\n${failures.map((line) => `failed: ${line}\n`).join("")}${String(passed)} passed, ${String(failed)} failed`);
  return { passed, failed, failures };
}
