/** Runs histories in processes of their own, as many at a time as there are cores. */
import { fork } from "node:child_process";
import { CONTROLLER_OCCURRENCES, wantedMarks } from "../../../test/support/sim/protocol-steps";
import type { WholeReport } from "../../../test/support/sim/histories/whole-history";
import { laterCompilation } from "../testing/later-compilation.mjs";
import { progressOn } from "../../terminal/progress";
import type { SimulateOptions } from "./options";
import { bundleHistoryProcess } from "./process-bundle";
import { Tally } from "./tally";

/** Histories of one message to a worker: some seconds of work. */
const LOT = 20;
/** From this number of histories on, the faults must have met this part of the pairs of a fault and a step, and controllers have come to every occurrence. */
const COVERING = [
  { histories: 300, part: 0.9 },
  { histories: 3_000, part: 0.99 },
  { histories: 10_000, part: 1 },
] as const;
/** Most objects of a history are garbage when the next one begins. The cores are busy with histories. Nobody reads the stacks of their errors. */
const NODE_OPTIONS = [
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
  "--single-threaded-gc",
  "--stack-trace-limit=0",
  laterCompilation(4.5),
];
const PROGRESS_MS = 10_000;
const FAULTS_MIN = 5;
const VIOLATIONS_SHOWN = 5;

/**
 * Prints the progress, the seeds that failed and the sum. Resolves to whether the run is what it should be. No history failed; in many histories the
 * faults met enough steps of the protocol, and controllers met all that can happen to them. With `without`, some history noticed.
 */
export async function simulate(options: SimulateOptions): Promise<boolean> {
  const run = new Run(options);
  await run.all();
  return options.without ? run.concludeWithout() : run.conclude();
}

class Run {
  readonly #options: SimulateOptions;
  readonly #tally = new Tally();
  readonly #bar = progressOn(process.stderr);
  readonly #startedAt = Date.now();
  #next: number;

  constructor(options: SimulateOptions) {
    this.#options = options;
    this.#next = options.first;
  }

  async all(): Promise<void> {
    const { histories, workers } = this.#options;
    const program = await bundleHistoryProcess();
    // Without a terminal: a line now and then.
    const progress = setInterval(() => {
      const { histories: done, failed } = this.#tally;
      if (!process.stderr.isTTY) console.log(`${this.#seconds()} s: ${done} of ${histories} histories, ${failed.length} failed`);
    }, PROGRESS_MS);
    try {
      await Promise.all(Array.from({ length: Math.min(workers, Math.ceil(histories / LOT)) }, () => this.#work(program.file)));
    } finally {
      clearInterval(progress);
      this.#bar.clear();
      await program.remove();
    }
  }

  /** One process. It takes lots of seeds until none are left, or until a history noticed the missing protection. */
  #work(program: string): Promise<void> {
    const worker = fork(program, { execArgv: NODE_OPTIONS });
    const hand = (): void => {
      const lot = this.#nextLot();
      if (lot) worker.send(lot);
      else worker.disconnect();
    };
    return new Promise((resolve, reject) => {
      worker.on("message", (reports) => {
        for (const report of reports as WholeReport[]) this.#take(report);
        this.#bar.show(`histories, ${this.#tally.failed.length} failed`, this.#tally.histories, this.#options.histories);
        hand();
      });
      worker.on("error", reject);
      worker.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${String(code)}`))));
      hand();
    });
  }

  #nextLot(): { first: number; count: number; without: string } | undefined {
    const { first, histories, without } = this.#options;
    const end = first + histories;
    if (this.#next >= end || (without && this.#tally.failed.length > 0)) return undefined;
    const lot = { first: this.#next, count: Math.min(LOT, end - this.#next), without };
    this.#next += lot.count;
    return lot;
  }

  #take(report: WholeReport): void {
    this.#tally.add(report);
    if (report.violations.length === 0 || this.#options.without) return;
    this.#bar.clear();
    console.log(describe(report));
  }

  concludeWithout(): boolean {
    const { without } = this.#options;
    this.#printSum();
    const [found] = this.#tally.failed;
    console.log(
      found ? `without ${without}: noticed at seed ${found.seed}: ${found.violations[0] ?? ""}` : `without ${without}: not noticed`,
    );
    return found !== undefined;
  }

  conclude(): boolean {
    const { histories } = this.#options;
    const { failed, faults, marks, histories: done } = this.#tally;
    this.#printSum();
    const wanted = wantedMarks();
    const missing = wanted.filter((mark) => !marks.has(mark));
    const met = wanted.length - missing.length;
    console.log(`${met} of ${wanted.length} pairs of a fault and a step of the protocol were met`);
    if (missing.length > 0) console.log(`not met: ${missing.join(", ")}`);
    if (failed.length > 0) console.log(`failed: ${failed.map(({ seed }) => seed).join(", ")}`);
    const part = Math.max(0, ...COVERING.map((step) => (histories < step.histories ? 0 : step.part)));
    const cameToAll = CONTROLLER_OCCURRENCES.every((occurrence) => marks.has(occurrence));
    const covers = part === 0 || (cameToAll && met >= part * wanted.length && faults >= FAULTS_MIN * done);
    return failed.length === 0 && done === histories && covers;
  }

  #printSum(): void {
    const { histories, summary } = this.#tally;
    console.log(`${histories} histories from seed ${this.#options.first} in ${this.#seconds()} s, ${summary}`);
  }

  #seconds(): string {
    return ((Date.now() - this.#startedAt) / 1000).toFixed(0);
  }
}

function describe({ seed, violations, parameters }: WholeReport): string {
  const repeat = `npm run simulate -- --histories 1 --seed ${seed}`;
  return [`FAILED seed ${seed}: ${JSON.stringify(parameters)}`, ...violations.slice(0, VIOLATIONS_SHOWN), `again: ${repeat}`].join("\n  ");
}
