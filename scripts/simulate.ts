/**
 * `npm run simulate -- --histories 1000 --seed 1`: random histories of a whole simulated cluster, spread over all cores, each from its seed
 * alone. Prints how far it is, the seeds that failed and how to run one of them again; exits with 1 if one failed, or if too many faults met
 * too few steps of the protocol for so many histories.
 *
 * Options: --histories (1000), --seed of the first history (1), --workers (one per core), --without NAME: one protection is taken out, and the run
 * fails unless some history notices.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { wantedMarks } from "../test/support/sim/protocol-steps";
import { sabotages } from "../test/support/sim/sabotages";
import type { WholeReport } from "../test/support/sim/whole-history";
import { bundleHistoryProcess } from "./simulate/process-bundle";
import { Tally } from "./simulate/tally";
import { progressOn } from "./terminal/progress";

/** Histories of one message to a worker: some seconds of work. */
const LOT = 20;
/** From so many histories on a part of the pairs of a fault and a step has to have been met: of many histories all, the rarest too. */
const COVERING = [
  { histories: 500, part: 0.9 },
  { histories: 10_000, part: 1 },
] as const;
/**
 * Most of what a history makes is gone when the next begins, the cores are busy with histories, and nobody reads the stacks of the errors that they
 * make by the thousand.
 */
const NODE_OPTIONS = ["--min-semi-space-size=64", "--max-semi-space-size=64", "--single-threaded-gc", "--stack-trace-limit=0"];
const PROGRESS_MS = 10_000;
const FAULTS_MIN = 5;

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: String(availableParallelism()) },
    without: { type: "string", default: "" },
  },
});
const histories = wholeNumber("histories", values.histories);
const first = wholeNumber("seed", values.seed);
const { without } = values;
if (without && !(without in sabotages)) throw new Error(`--without is one of: ${Object.keys(sabotages).join(", ")}`);

const startedAt = Date.now();
const program = await bundleHistoryProcess();
const tally = new Tally();
let next = first;
const end = first + histories;
const bar = progressOn(process.stderr);
// Where nobody sees a bar, a line now and then.
const progress = setInterval(() => {
  if (!process.stderr.isTTY) console.log(`${seconds()} s: ${tally.histories} of ${histories} histories, ${tally.failed.length} failed`);
}, PROGRESS_MS);
try {
  await Promise.all(Array.from({ length: Math.min(wholeNumber("workers", values.workers), Math.ceil(histories / LOT)) }, work));
} finally {
  clearInterval(progress);
  bar.clear();
  await program.remove();
}
process.exitCode = conclude() ? 0 : 1;

/** One process; takes lots of seeds until there are none, or what is looked for is found. */
function work(): Promise<void> {
  const worker = fork(program.file, { execArgv: NODE_OPTIONS });
  const hand = (): void => {
    if (next >= end || (without && tally.failed.length > 0)) {
      worker.disconnect();
      return;
    }
    const lot = { first: next, count: Math.min(LOT, end - next), without };
    next += lot.count;
    worker.send(lot);
  };
  return new Promise((resolve, reject) => {
    worker.on("message", (reports) => {
      for (const report of reports as WholeReport[]) {
        tally.add(report);
        if (report.violations.length === 0 || without) continue;
        bar.clear();
        console.log(describe(report));
      }
      bar.show(`histories, ${tally.failed.length} failed`, tally.histories, histories);
      hand();
    });
    worker.on("error", reject);
    worker.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${String(code)}`))));
    hand();
  });
}

function conclude(): boolean {
  console.log(`${tally.histories} histories from seed ${first} in ${seconds()} s, ${tally.summary}`);
  if (without) {
    const [found] = tally.failed;
    console.log(
      found ? `without ${without}: noticed at seed ${found.seed}: ${found.violations[0] ?? ""}` : `without ${without}: not noticed`,
    );
    return found !== undefined;
  }
  const wanted = wantedMarks();
  const missing = wanted.filter((mark) => !tally.marks.has(mark));
  console.log(`${wanted.length - missing.length} of ${wanted.length} pairs of a fault and a step of the protocol were met`);
  if (missing.length > 0) console.log(`not met: ${missing.join(", ")}`);
  if (tally.failed.length > 0) console.log(`failed: ${tally.failed.map(({ seed }) => seed).join(", ")}`);
  const part = Math.max(0, ...COVERING.map((step) => (histories < step.histories ? 0 : step.part)));
  const covers = part === 0 || (wanted.length - missing.length >= part * wanted.length && tally.faults >= FAULTS_MIN * tally.histories);
  return tally.failed.length === 0 && tally.histories === histories && covers;
}

function describe({ seed, violations, parameters }: WholeReport): string {
  const repeat = `npm run simulate -- --histories 1 --seed ${seed}`;
  return [`FAILED seed ${seed}: ${JSON.stringify(parameters)}`, ...violations.slice(0, 5), `again: ${repeat}`].join("\n  ");
}

function seconds(): string {
  return ((Date.now() - startedAt) / 1000).toFixed(0);
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1 on`);
  return value;
}
