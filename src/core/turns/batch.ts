/**
 * Group commit for one object: all submissions of one turn of the event loop share one transaction, hence one disk
 * sync. The first submission of a turn arms a drain by `clock.nextTurn()`. The next turn must be a macrotask: microtasks run before the next
 * request is delivered, so they would group nothing. A single request waits one empty turn and no longer. While others wait, a drain waits for the last
 * commit, too (commit-pace.ts).
 *
 * Rules of the caller's `apply`, because many waiters share it:
 * - it is synchronous, runs all operations in *one* transaction, in order, and returns one result for each;
 * - refusals are results; it throws only when the whole transaction is lost (storage fault, broken invariant). Then every waiter of the
 *   drain is rejected, and `onFailure` makes memory equal to storage again, because only storage was rolled back;
 * - it keeps no operation for later: the queue is empty when it is called.
 */
import { assert } from "../base/assert";
import { CommitPace } from "./commit-pace";
import type { Clock } from "../base/ports";

/** Why an object ends that has lost a commit. */
export const COMMIT_LOST = "a commit was lost";

/** What a drain waits for, and what becomes of the object when that never comes. */
export interface Commits<Op, Out> {
  /** Resolves when everything applied so far is durable; rejects when it is lost. */
  durable(): Promise<void>;
  /** The answer to an operation that had not begun when a commit was lost: a refusal, or a throw, which rejects it. It may be tried again. */
  unbegun(operation: Op): Out;
  /**
   * Ends the object: what was applied and is not durable has an unknown outcome, and memory may have what storage has not. Called once, a turn after
   * all that waited were answered. What comes later is answered by `unbegun`.
   */
  end(error: unknown): void;
}

export interface BatchOptions<Op, Out> {
  clock: Pick<Clock, "nextTurn" | "after">;
  /** Applies all of `operations` in one transaction; returns one result for each, in the same order. Never async. */
  apply(operations: readonly Op[]): readonly Out[];
  /** The answer to an operation that found the queue full: a refusal, or a throw, which rejects that one submission. */
  refuse(operation: Op): Out;
  /**
   * Called after `apply` threw, before any waiter hears of it: rebuild memory from storage. If it throws itself, it is called
   * again before the next drain, and drains fail until it succeeds.
   */
  onFailure(error: unknown): void;
  /** Bound of the queue in units of `weigh`; only an empty queue takes a heavier operation. */
  queueWeightMax: number;
  /** Weight of one operation, for example its number of items; 1 when absent. */
  weigh?(operation: Op): number;
  /** absent: a drain waits for no commit */
  commits?: Commits<Op, Out>;
}

/** Totals since the batcher was made; `operations / drains` is the group size that tests and benchmarks print. */
export interface BatchCounters {
  /** transactions tried */
  drains: number;
  /** submissions that were part of a drain */
  operations: number;
  /** their summed weight */
  weight: number;
  /** drains whose transaction was lost */
  failures: number;
  /** submissions refused because the queue was full */
  refused: number;
}

interface Waiter<Op, Out> {
  operation: Op;
  resolve(out: Out): void;
  reject(error: unknown): void;
}

/** Collects operations of one turn and applies them together. */
export class Batcher<Op, Out> {
  readonly #options: BatchOptions<Op, Out>;
  readonly #counters: BatchCounters = { drains: 0, operations: 0, weight: 0, failures: 0, refused: 0 };
  readonly #pace: CommitPace | undefined;
  #queue: Waiter<Op, Out>[] = [];
  #queuedWeight = 0;
  #armed = false;
  /** a turn has passed since the first submission of the queue */
  #isDue = false;
  #mustRecover = false;
  #isOver = false;

  constructor(options: BatchOptions<Op, Out>) {
    this.#options = options;
    const { clock, commits } = options;
    if (commits) {
      this.#pace = new CommitPace({
        clock,
        durable: () => commits.durable(),
        freed: () => this.#begin(),
        lost: (error) => this.#giveUp(commits, error),
      });
    }
  }

  /** A copy of the totals. */
  get counters(): BatchCounters {
    return { ...this.#counters };
  }

  /** Operations that wait for the next drain. */
  get queued(): number {
    return this.#queue.length;
  }

  /**
   * Queues one operation. Resolves to its result after the transaction of its drain; the output gate waits for the disk.
   * Resolves at once to `refuse(operation)` when the queue is full. Rejects with the error of `apply`. After a lost commit it resolves to
   * `commits.unbegun(operation)`.
   */
  submit(operation: Op): Promise<Out> {
    const { commits } = this.#options;
    const weight = this.#options.weigh?.(operation) ?? 1;
    return new Promise((resolve, reject) => {
      if (commits && this.#isOver) {
        resolve(commits.unbegun(operation));
        return;
      }
      if (this.#queue.length > 0 && this.#queuedWeight + weight > this.#options.queueWeightMax) {
        this.#counters.refused++;
        resolve(this.#options.refuse(operation));
        return;
      }
      this.#queue.push({ operation, resolve, reject });
      this.#queuedWeight += weight;
      this.#arm();
    });
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    const due = (): void => {
      this.#isDue = true;
      this.#begin();
    };
    void this.#options.clock.nextTurn().then(due, due);
  }

  #begin(): void {
    if (!this.#isDue || this.#isOver) return;
    if (!this.#pace || this.#pace.admits(this.#queue.length)) this.#drain();
  }

  #drain(): void {
    const waiters = this.#queue;
    this.#counters.drains++;
    this.#counters.operations += waiters.length;
    this.#counters.weight += this.#queuedWeight;
    this.#queue = [];
    this.#queuedWeight = 0;
    this.#armed = false;
    this.#isDue = false;

    let outs: readonly Out[];
    try {
      if (this.#mustRecover) this.#recover(new Error("memory was not rebuilt after an earlier failure"));
      outs = this.#options.apply(waiters.map((waiter) => waiter.operation));
      assert(outs.length === waiters.length, "a drain answers each of its operations");
    } catch (error) {
      this.#fail(waiters, error);
      return;
    }
    this.#pace?.begun(waiters.length);
    waiters.forEach((waiter, index) => waiter.resolve(outs[index] as Out));
  }

  #fail(waiters: readonly Waiter<Op, Out>[], error: unknown): void {
    this.#counters.failures++;
    try {
      this.#recover(error);
    } catch {
      // The waiters get the first error, which says what went wrong; the next drain tries to recover again.
    }
    for (const waiter of waiters) waiter.reject(error);
  }

  #giveUp(commits: Commits<Op, Out>, error: unknown): void {
    this.#isOver = true;
    const waiters = this.#queue;
    this.#queue = [];
    this.#queuedWeight = 0;
    for (const { operation, resolve, reject } of waiters) {
      try {
        resolve(commits.unbegun(operation));
      } catch (refusal) {
        reject(refusal);
      }
    }
    const end = (): void => commits.end(error);
    void this.#options.clock.nextTurn().then(end, end);
  }

  #recover(error: unknown): void {
    this.#mustRecover = true;
    this.#options.onFailure(error);
    this.#mustRecover = false;
  }
}
