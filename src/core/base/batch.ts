/**
 * Group commit for one object: all submissions of one turn of the event loop share one transaction, hence one disk
 * sync. The first submission of a turn arms a drain by `clock.nextTurn()`. The next turn must be a macrotask: microtasks run before the next
 * request is delivered, so they would group nothing. A single request waits one empty turn and no longer.
 *
 * Rules of the caller's `apply`, because many waiters share it:
 * - it is synchronous, runs all operations in *one* transaction, in order, and returns one result for each;
 * - refusals are results; it throws only when the whole transaction is lost (storage fault, broken invariant). Then every waiter of the
 *   drain is rejected, and `onFailure` makes memory equal to storage again, because only storage was rolled back;
 * - it keeps no operation for later: the queue is empty when it is called.
 */
import { assert } from "./assert";
import type { Clock } from "./ports";

export interface BatchOptions<Op, Out> {
  clock: Pick<Clock, "nextTurn">;
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
  #queue: Waiter<Op, Out>[] = [];
  #queuedWeight = 0;
  #armed = false;
  #mustRecover = false;

  constructor(options: BatchOptions<Op, Out>) {
    this.#options = options;
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
   * Resolves at once to `refuse(operation)` when the queue is full. Rejects with the error of `apply`.
   */
  submit(operation: Op): Promise<Out> {
    const weight = this.#options.weigh?.(operation) ?? 1;
    return new Promise((resolve, reject) => {
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
    const drain = (): void => this.#drain();
    void this.#options.clock.nextTurn().then(drain, drain);
  }

  #drain(): void {
    const waiters = this.#queue;
    this.#counters.drains++;
    this.#counters.operations += waiters.length;
    this.#counters.weight += this.#queuedWeight;
    this.#queue = [];
    this.#queuedWeight = 0;
    this.#armed = false;

    let outs: readonly Out[];
    try {
      if (this.#mustRecover) this.#recover(new Error("memory was not rebuilt after an earlier failure"));
      outs = this.#options.apply(waiters.map((waiter) => waiter.operation));
      assert(outs.length === waiters.length, "a drain answers each of its operations");
    } catch (error) {
      this.#fail(waiters, error);
      return;
    }
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

  #recover(error: unknown): void {
    this.#mustRecover = true;
    this.#options.onFailure(error);
    this.#mustRecover = false;
  }
}
