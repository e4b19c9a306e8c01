/** What Vitest's JSON report says of a run. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { root } from "./commands";
import type { Counts, TimedFile } from "./counts";

/** The part of the report that is read here. */
export interface Report {
  numPassedTests: number;
  numTotalTests: number;
  testResults: {
    /** absolute path */
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
}

export interface Failure {
  /** path of the file below the project's root */
  file: string;
  /** of the test, with those of its describes; undefined: the file broke before it had tests */
  test: string | undefined;
  /** first line of what was thrown */
  reason: string;
}

/** undefined: the run wrote none, or half of one. */
export function reportIn(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    return undefined;
  }
}

/** The tests that did not pass: those that failed, were skipped, or never ran because their file broke. */
export function failuresIn(report: Report): Failure[] {
  return report.testResults.flatMap(({ name, status, message, assertionResults }): Failure[] => {
    const file = relative(root, name);
    const tests = assertionResults.filter((test) => test.status !== "passed");
    if (tests.length === 0 && status !== "passed") return [{ file, test: undefined, reason: firstLine(message) }];
    return tests.map((test) => ({ file, test: test.fullName, reason: firstLine(test.failureMessages[0] ?? test.status) }));
  });
}

function filesIn({ testResults }: Report): TimedFile[] {
  return testResults.map(({ name, startTime, endTime }) => ({ path: relative(root, name), ms: Math.max(0, endTime - startTime) }));
}

/** The counts of the run, whose failures are said by `lines`. `code`: its exit code; a run that failed for another reason, or had no tests, failed. */
export function countsOf(name: string, report: Report, code: number | null, lines: string[]): Counts {
  const { numPassedTests: passed, numTotalTests } = report;
  const files = filesIn(report);
  const failed = numTotalTests - passed;
  if (failed > 0 || (code === 0 && numTotalTests > 0)) return { passed, failed, failures: lines, files };
  return { passed, failed: 1, failures: lines.length > 0 ? lines : [`${name}: exit code ${String(code)}`], files };
}

/** The counts of the files below a folder. The time is the sum of theirs. */
export function partOf({ testResults }: Report, folder: string): { counts: Counts; ms: number } {
  const files = testResults.filter((file) => relative(root, file.name).startsWith(folder));
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === "passed").length;
  const broken = files.filter(({ status, assertionResults }) => status !== "passed" && assertionResults.length === 0).length;
  const ms = files.reduce((sum, { startTime, endTime }) => sum + Math.max(0, endTime - startTime), 0);
  return { counts: { passed, failed: tests.length - passed + broken, failures: [] }, ms };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.slice(0, 300) ?? "";
}
