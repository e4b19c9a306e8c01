/**
 * Questions to one callee, asked together: while a call is under way, further questions gather for the next one. However many are asked, the callee has one
 * call at a time, and none is refused for their number.
 *
 * Each call belongs to the request whose question began it, and outlives it; the others wait for no longer than they would for a call of their own (rule 25).
 */
import type { Clock } from "../base/ports";
import { withTimeout } from "../base/timeout";

export interface BatchLimits {
  /** questions of one call */
  readonly most: number;
  /** for how long somebody waits for the call before, and then for the answer; in ms */
  readonly waitMs: number;
}

/** Keeps a promise running after the answer to the request that began it. */
export type Beside = (work: Promise<unknown>) => void;

interface Batch<Q, A> {
  readonly questions: Q[];
  readonly begunAt: number;
  done: Promise<A[]>;
}

export class Batched<Q, A> {
  /** waits for the call before, and takes questions */
  #gathering: Batch<Q, A> | undefined;
  /** the newest batch, asked or not */
  #newest: Batch<Q, A> | undefined;

  /** @param askAll one answer for each question, in their order; what it rejects with, each of them gets */
  constructor(
    private readonly clock: Pick<Clock, "now" | "after">,
    private readonly limits: BatchLimits,
    private readonly askAll: (questions: Q[]) => Promise<A[]>,
  ) {}

  /** The answer to one question. Rejects as its call does, or with a timeout. */
  async ask(question: Q, beside: Beside): Promise<A> {
    const { most, waitMs } = this.limits;
    let batch = this.#gathering;
    // One whose request was dropped before it could ask takes no more questions.
    if (batch && batch.questions.length < most && !this.#isOver(batch)) batch.questions.push(question);
    else batch = this.#begun(question, beside);
    const index = batch.questions.length - 1;
    const answers = await withTimeout(this.clock, waitMs, batch.done);
    return answers[index] as A;
  }

  #begun(question: Q, beside: Beside): Batch<Q, A> {
    const before = this.#newest && !this.#isOver(this.#newest) ? this.#newest.done : undefined;
    const batch: Batch<Q, A> = { questions: [question], begunAt: this.clock.now(), done: Promise.resolve([]) };
    if (before) this.#gathering = batch;
    this.#newest = batch;
    batch.done = this.#asked(batch, before);
    beside(batch.done.catch(() => undefined));
    return batch;
  }

  async #asked(batch: Batch<Q, A>, before: Promise<unknown> | undefined): Promise<A[]> {
    if (before) await withTimeout(this.clock, this.limits.waitMs, before).catch(() => undefined);
    if (this.#gathering === batch) this.#gathering = undefined;
    try {
      return await this.askAll(batch.questions);
    } finally {
      if (this.#newest === batch) this.#newest = undefined;
    }
  }

  #isOver({ begunAt }: Batch<Q, A>): boolean {
    const now = this.clock.now();
    return now < begunAt || now - begunAt > this.limits.waitMs;
  }
}
