/**
 * Runs keyed jobs side by side: one at a time per key, each failing alone with its own growing delay (rules 17 and 19). Nothing here is durable:
 * the plan is made anew from storage, and after a restart every job is due at once.
 */
import type { Clock, Random, Recorder } from "../../core/base/ports";

/** `waiting`: nothing failed, but the job has to wait for others; it is tried again later, like a failure. */
export type JobOutcome = "done" | "failed" | "waiting";

const DELAY_FIRST_MS = 250;
const DELAY_MAX_MS = 30_000;
/** A job that waits for others is tried again within this time; one whose look takes long rests WAIT_SHARE times as long. */
const WAIT_MAX_MS = 5_000;
const WAIT_SHARE = 20;

interface JobAttempts {
  count: number;
  dueAt: number;
}

export class JobRunner {
  readonly #running = new Set<string>();
  readonly #attempts = new Map<string, JobAttempts>();

  constructor(
    private readonly ports: { clock: Clock; random: Random; recorder: Recorder },
    /** called after each job */
    private readonly ended: () => void,
  ) {}

  /** Starts the job unless it runs or its delay has not passed. What `run` throws counts as a failure. */
  offer(key: string, run: () => Promise<JobOutcome>): void {
    if (this.#running.has(key)) return;
    const attempts = this.#attempts.get(key);
    if (attempts && attempts.dueAt > this.ports.clock.now()) return;
    this.#running.add(key);
    void this.#run(key, run);
  }

  async #run(key: string, run: () => Promise<JobOutcome>): Promise<void> {
    // In a turn of its own: the caller of `offer` loops over a plan that this job is about to change.
    await this.ports.clock.nextTurn();
    const begun = this.ports.clock.now();
    let outcome: JobOutcome;
    try {
      outcome = await run();
    } catch (error) {
      outcome = "failed";
      this.ports.recorder.log("warn", "a job failed", { job: key, error: String(error) });
    }
    if (outcome === "done") this.#attempts.delete(key);
    else {
      const waitMs = Math.max(WAIT_MAX_MS, (this.ports.clock.now() - begun) * WAIT_SHARE);
      const maxMs = outcome === "waiting" ? Math.min(waitMs, DELAY_MAX_MS) : DELAY_MAX_MS;
      this.#attempts.set(key, this.#delayed(this.#attempts.get(key)?.count ?? 0, maxMs));
    }
    this.#running.delete(key);
    this.ended();
  }

  #delayed(count: number, maxMs: number): JobAttempts {
    const delayMs = Math.min(DELAY_FIRST_MS * 2 ** count, maxMs);
    const jittered = delayMs / 2 + (this.ports.random.next() * delayMs) / 2;
    return { count: count + 1, dueAt: this.ports.clock.now() + Math.ceil(jittered) };
  }

  /** Forgets the delays of jobs that are not planned any more. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.#attempts.keys()) if (!keys.has(key)) this.#attempts.delete(key);
  }

  /** Makes every delayed job due. */
  hurry(): void {
    for (const attempts of this.#attempts.values()) attempts.dueAt = 0;
  }

  /** Number of jobs that run now. */
  get running(): number {
    return this.#running.size;
  }

  /** When the next delayed job is due (ms since the epoch); undefined when none waits. */
  nextDue(): number | undefined {
    let due: number | undefined;
    for (const [key, attempts] of this.#attempts) {
      if (!this.#running.has(key)) due = Math.min(due ?? attempts.dueAt, attempts.dueAt);
    }
    return due;
  }
}
