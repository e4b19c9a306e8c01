/** The writes of the node lifecycle controller: several at once, each tried later and later while the store refuses it. */
import { inParallel } from "../../core/base/in-parallel";
import type { Clock, Recorder } from "../../core/base/ports";
import { Refusals } from "../../controllers/followed/refusals";
import { WRITES_AT_ONCE } from "../../controllers/frame/planned-work";
import type { Rewritten } from "./rewrite";

/** The longest wait after a write that a store refused. The first one is a period. */
const REFUSED_MAX_MS = 5 * 60_000;

/** A refused write is `none`: the next period would not mend it. */
export type LifecycleOutcome = "written" | "none" | "failed";

/** What became of several writes. */
export interface Made {
  readonly written: number;
  readonly failed: number;
  /** The time was over before everything had begun. */
  readonly isCut: boolean;
}

export const NOTHING: Made = { written: 0, failed: 0, isCut: false };

/** Names of writes, by storage key. */
export const statusOf = (key: string): string => `status of ${key}`;
export const taintsOf = (key: string): string => `taints of ${key}`;

export class LifecycleWrites {
  readonly #refusals: Refusals;

  constructor(private readonly ports: { clock: Pick<Clock, "now">; recorder: Recorder; periodMs: number }) {
    this.#refusals = new Refusals(ports, { first: ports.periodMs, longest: REFUSED_MAX_MS });
  }

  mayTry(write: string): boolean {
    return this.#refusals.mayTry(write);
  }

  /** Nobody needs the write any more. */
  forget(write: string): void {
    this.#refusals.forget(write);
  }

  /** When a refused write may be tried again, in milliseconds since the epoch; undefined = none waits. */
  nextAt(): number | undefined {
    return this.#refusals.nextAt();
  }

  /** the number of refused writes that wait */
  get waiting(): number {
    return this.#refusals.size;
  }

  /** Notes what became of a write. */
  outcome(write: string, rewritten: Rewritten<unknown>): LifecycleOutcome {
    if (rewritten.result === "refused") {
      this.#refusals.refused(write, rewritten.status);
      return "none";
    }
    if (rewritten.result !== "failed") this.#refusals.forget(write);
    return rewritten.result;
  }

  /** Taints or marks that have not begun after a period go on in the next round: it sees what has changed meanwhile. */
  eachInPeriod<T>(items: readonly T[], work: (item: T) => Promise<LifecycleOutcome>): Promise<Made> {
    return this.#each(items, this.ports.clock.now() + this.ports.periodMs, work);
  }

  all<T>(items: readonly T[], work: (item: T) => Promise<LifecycleOutcome>): Promise<Made> {
    return this.#each(items, Infinity, work);
  }

  /** Begins nothing from `cutAtMs` on. */
  async #each<T>(items: readonly T[], cutAtMs: number, work: (item: T) => Promise<LifecycleOutcome>): Promise<Made> {
    const made = { written: 0, failed: 0, isCut: false };
    await inParallel(items, WRITES_AT_ONCE, async (item) => {
      if ((made.isCut ||= this.ports.clock.now() >= cutAtMs)) return;
      const result = await work(item);
      if (result !== "none") made[result]++;
    });
    return made;
  }
}
