/** What restarts a program whose liveness probe fails, as a kubelet does. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningProgram } from "../../test/support/server/program";

const PROBE_EVERY_MS = 200;
const FAILURES = 3;
/** Longer than any answer takes on a busy machine. */
const PROBE_TIMEOUT_MS = 10_000;

export class Supervisor {
  #restarts = 0;
  #answers = 0;
  #isStopped = false;
  #hasFailed = false;
  readonly #ended: Promise<void>;

  /** `start` resolves when the program serves. Probes begin then. */
  constructor(
    private readonly start: () => Promise<RunningProgram>,
    private readonly probeUrl: string,
  ) {
    this.#ended = this.#supervise();
    // `stop` has the error.
    this.#ended.catch(() => (this.#hasFailed = true));
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** Probes that were answered, with whatever code. */
  get answers(): number {
    return this.#answers;
  }

  /** The program could not be started: nothing comes any more. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Ends the program. Rejects when it could not be started. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }

  async #supervise(): Promise<void> {
    while (!this.#isStopped) {
      const program = await this.start();
      for (let failures = 0; failures < FAILURES && !this.#isStopped;) {
        failures = (await this.#isAlive()) ? 0 : failures + 1;
        await sleep(PROBE_EVERY_MS);
      }
      await program.kill();
      if (!this.#isStopped) this.#restarts++;
    }
  }

  async #isAlive(): Promise<boolean> {
    try {
      const { status } = await fetch(this.probeUrl, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
      this.#answers++;
      return status < 400;
    } catch {
      return false;
    }
  }
}
