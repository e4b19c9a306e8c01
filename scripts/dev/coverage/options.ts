/** Command line of `npm run coverage`. */
import { userPath } from "../../folders/user-path";
import { parseCommandLine } from "../../terminal/command-line";
import { readSummary, type Summary } from "./summary";

export const usage = `Usage: npm run coverage -- [options] [TESTS...]

Runs the suites of npm test, and the further ones of .ci/run, in a copy of the project that counts what they run of src and durable-objects, and
writes coverage/summary.json: statements, branches, functions and lines of each file. It takes about three times as long as they do.

  TESTS               folders and files of tests; without any all suites run, and simulated histories
  --more              adds to the counts of the last run, whose sources are the same: for what depends on luck, or for other suites
  --summary FILE      runs nothing, and takes the summary of an earlier run
  --against FILE      compares with the summary of an earlier run, and lists each file that lost more than one point
  --help              this text

Exit code: 0 all passed and nothing was lost, 1 a suite failed or a file lost more than one point, 2 wrong options.`;

export interface CoverageOptions {
  tests: string[];
  more: boolean;
  /** of an earlier run, instead of a run */
  summary: Summary | undefined;
  against: Summary | undefined;
}

/** An unreadable file is told before a long run. */
export function parseOptions(args: string[]): CoverageOptions | "help" {
  const options = { more: { type: "boolean" }, summary: { type: "string" }, against: { type: "string" } } as const;
  const parsed = parseCommandLine("npm run coverage", { args, options, allowPositionals: true });
  if (parsed === "help") return parsed;
  const { more = false, summary, against } = parsed.values;
  const summaryIn = (path: string | undefined) => (path === undefined ? undefined : readSummary(userPath(path)));
  return { tests: parsed.positionals, more, summary: summaryIn(summary), against: summaryIn(against) };
}
