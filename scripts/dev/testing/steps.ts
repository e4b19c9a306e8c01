/** Steps of a test run: each prints a line, its output if it failed, and answers how many of its checks passed and failed. */
import { isEnding, run } from "./commands";
import { type Counts, oneFailed, onePassed, slowest, sumOf, type TimedFile } from "./counts";

const SLOWEST = 10;

/** One command that passes when it exits with 0. */
export async function check(name: string, command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Counts> {
  const startedAt = Date.now();
  const { code, output } = await run(command, { env: { ...process.env, ...env } });
  const counts = code === 0 ? onePassed : oneFailed(name);
  printPart({ name, counts, ms: Date.now() - startedAt });
  if (counts.failed > 0) printOutput(name, output);
  return counts;
}

export interface Part {
  name: string;
  counts: Counts;
  ms: number;
}

/** Failures stand right below the line: whoever keeps only the beginning of a long log sees them. */
export function printPart({ name, counts: { passed, failed, failures }, ms }: Part): void {
  const tests = passed + failed > 1 ? `, ${String(passed)} passed${failed > 0 ? `, ${String(failed)} failed` : ""}` : "";
  console.log(`${failed === 0 ? "ok    " : "FAILED"} ${name} (${(ms / 1000).toFixed(1)} s${tests})`);
  for (const line of failures) if (line !== name) console.log(`       failed: ${line}`);
}

/** Lines of Vitest about what passed say nothing of a failure. */
const passedLine = /^\s*✓.*\n/gm;

export function printOutput(name: string, output: string): void {
  console.log(`--- ${name}\n${output.replace(passedLine, "").trimEnd()}\n--- end of ${name}`);
}

/** One step after the other, all of them even if one fails. A step may have several counts. */
export async function inTurn(steps: readonly (() => Promise<Counts | Counts[]>)[]): Promise<Counts[]> {
  const counts: Counts[] = [];
  for (const step of steps) if (!isEnding()) counts.push(...[await step()].flat());
  return counts;
}

/** As `inTurn`, but `lanes` of them at a time: whichever is free takes the next one. The longest ones stand first. */
export async function inLanes(lanes: number, steps: readonly (() => Promise<Counts | Counts[]>)[]): Promise<Counts[]> {
  const waiting = [...steps];
  const lane = async (): Promise<Counts[]> => {
    const counts: Counts[] = [];
    for (let step = waiting.shift(); step && !isEnding(); step = waiting.shift()) counts.push(...[await step()].flat());
    return counts;
  };
  return (await Promise.all(Array.from({ length: lanes }, lane))).flat();
}

/** Prints the slowest files, what failed, and the closing line over all steps, and answers the sums. */
export function finish(steps: readonly Counts[]): Required<Counts> {
  const sum = sumOf(steps);
  printSlowest(sum.files);
  console.log(`\n${sum.failures.map((line) => `failed: ${line}\n`).join("")}${String(sum.passed)} passed, ${String(sum.failed)} failed`);
  return sum;
}

function printSlowest(files: readonly TimedFile[]): void {
  if (files.length === 0) return;
  console.log(`\nThe slowest of ${String(files.length)} test files:`);
  for (const { path, ms } of slowest(files, SLOWEST)) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${path}`);
}
