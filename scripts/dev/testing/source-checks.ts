/** The steps of a test run that look at sources alone: one program for all of them, one line for each. */
import type { Checked } from "../checks/run";
import { run } from "./commands";
import { type Counts, oneFailed, onePassed } from "./counts";
import { printOutput, printPart } from "./steps";

const CHECKS = [process.execPath, "scripts/run.mjs", "scripts/dev/checks.ts", "--output", "json"];

/** Runs the command of the checks, prints a line for each of them, and answers their counts. */
export async function sourceChecks(command: readonly string[] = CHECKS): Promise<Counts[]> {
  const startedAt = Date.now();
  const { code, output } = await run(command);
  const checks = checksIn(output);
  if (checks.length === 0 || (code !== 0 && checks.every(({ passed }) => passed))) {
    checks.push({ name: "checks of the sources", passed: false, ms: Date.now() - startedAt, output });
  }
  return checks.map((checked) => countsOf(checked));
}

function countsOf({ name, passed, ms, output }: Checked): Counts {
  const counts = passed ? onePassed : oneFailed(name);
  printPart({ name, counts, ms });
  if (!passed) printOutput(name, output);
  return counts;
}

/** The array in the last line; empty where the program ended otherwise. */
function checksIn(output: string): Checked[] {
  try {
    const answer: unknown = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
    return Array.isArray(answer) ? (answer as Checked[]) : [];
  } catch {
    return [];
  }
}
