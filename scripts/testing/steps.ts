/** Steps of a test run: each prints its own output and answers how many of its checks passed and failed. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Progress } from "./progress-reporter";

export interface Counts {
  passed: number;
  failed: number;
}

const root = join(import.meta.dirname, "..", "..");

/** One command that passes when it exits with 0. Its output comes in one piece, so that commands may run side by side. */
export async function check(name: string, [command = "", ...args]: string[]): Promise<Counts> {
  const startedAt = Date.now();
  const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], shell: process.platform === "win32" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => {
    child.on("close", resolve).on("error", (error) => {
      output += String(error);
      resolve(null);
    });
  });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)${output.trim() ? `\n${output.trimEnd()}` : ""}`);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/**
 * A vitest run; counts come from its JSON report. A test that did not run (skipped, todo, its file broken) counts as failed, and
 * so does a run that failed for another reason or had no tests at all.
 */
export async function vitest(name: string, args: string[], env: Record<string, string> = {}): Promise<Counts> {
  console.log(`\n--- ${name}`);
  const folder = mkdtempSync(join(tmpdir(), "servicenet-report-"));
  const report = join(folder, "report.json");
  try {
    const program = join(root, "node_modules", "vitest", "vitest.mjs");
    const progress = join(folder, "progress.json");
    const counting = `--reporter=${join(import.meta.dirname, "progress-reporter.ts")}`;
    const reporters = ["--reporter=default", "--reporter=json", counting, `--outputFile.json=${report}`];
    const child = spawn(process.execPath, [program, "run", ...args, ...reporters], {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, ...env, TEST_PROGRESS: progress },
    });
    const code = await new Promise<number | null>((resolve) => {
      child.on("close", resolve);
      endLingering(child, progress, resolve);
    });
    return existsSync(report) ? countsOf(report, code) : progressCounts(progress);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How long a run may take to clean up after it has reported. */
const lingeringMsMax = 30_000;
/** How long a run may take until it reports; one that hangs is a failure, not an endless wait. */
const runMsMax = 25 * 60_000;

/**
 * The runtime of a finished run has been seen not to go away now and then, which would hold up everything behind it. The report is
 * written when every test has ended; what is left then is only ended, and said so. The report decides.
 */
function endLingering(child: ChildProcess, progress: string, resolve: (code: number | null) => void): void {
  const startedAt = Date.now();
  let reportedAt = 0;
  const timer = setInterval(() => {
    if (reportedAt === 0 && existsSync(progress) && readProgress(progress).left === 0) reportedAt = Date.now();
    if (reportedAt === 0 && Date.now() - startedAt > runMsMax) {
      console.log(`the run did not report within ${String(runMsMax / 60_000)} minutes`);
      child.kill("SIGKILL");
      resolve(1);
      return;
    }
    if (reportedAt === 0 || Date.now() - reportedAt < lingeringMsMax) return;
    console.log(`the run did not end by itself within ${String(lingeringMsMax / 1000)} s of its report`);
    child.kill("SIGKILL");
    resolve(0);
  }, 1_000);
  child.on("close", () => clearInterval(timer));
}

function readProgress(path: string): Progress {
  return JSON.parse(readFileSync(path, "utf8")) as Progress;
}

/** Of a run that did not report itself: what its files said, all of which have to have ended. */
function progressCounts(path: string): Counts {
  if (!existsSync(path)) return { passed: 0, failed: 1 };
  const { left, passed, failed } = readProgress(path);
  return { passed, failed: failed + left };
}

function countsOf(report: string, code: number | null): Counts {
  try {
    const { numPassedTests, numTotalTests } = JSON.parse(readFileSync(report, "utf8")) as { numPassedTests: number; numTotalTests: number };
    const failed = numTotalTests - numPassedTests;
    return { passed: numPassedTests, failed: failed === 0 && (code !== 0 || numTotalTests === 0) ? 1 : failed };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

/** Prints the closing line over all steps and sets the exit code. */
export function finish(steps: Counts[]): void {
  const passed = steps.reduce((sum, step) => sum + step.passed, 0);
  const failed = steps.reduce((sum, step) => sum + step.failed, 0);
  console.log(`\n${String(passed)} passed, ${String(failed)} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}
