import type { Clock } from "../../../../src/core/base/ports";

interface Event {
  at: number;
  order: number;
  run: (() => void) | undefined;
}

/** How many timers of somebody are set. */
export interface Timers {
  set: number;
}

/** Microtask rounds after each event: the longest chain of awaits in the product between two events is shorter. */
const SETTLE_ROUNDS = 60;
const NOW = Promise.resolve();

/**
 * Virtual time: everything that happens is an event of one queue, ordered by time and then by when it was asked for, so a run is the same
 * for the same seed. Time moves on only when there is nothing else to do.
 */
export class SimScheduler {
  now = 1_700_000_000_000;
  readonly #heap: Event[] = [];
  #order = 0;

  /** Runs `work` after `delayMs` of virtual time unless the returned function is called first. */
  after(delayMs: number, work: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, delayMs), order: ++this.#order, run: work };
    this.#push(event);
    return () => (event.run = undefined);
  }

  /** A clock whose callers hear nothing any more once `isAlive` is false. `timers`: counts those that are set. */
  clock(isAlive: () => boolean = () => true, timers?: Timers): Clock {
    const after: Clock["after"] = timers
      ? (delayMs, work) => this.#counted(timers, delayMs, () => void (isAlive() && work()))
      : (delayMs, work) => this.after(delayMs, () => void (isAlive() && work()));
    return {
      now: () => this.now,
      after,
      sleep: (durationMs) => new Promise((resolve) => after(durationMs, resolve)),
      nextTurn: () => new Promise((resolve) => after(0, resolve)),
    };
  }

  #counted(timers: Timers, delayMs: number, work: () => void): () => void {
    let isSet = true;
    const unset = (): void => {
      if (isSet) timers.set--;
      isSet = false;
    };
    timers.set++;
    const cancel = this.after(delayMs, () => {
      unset();
      work();
    });
    return () => {
      unset();
      cancel();
    };
  }

  /** Lets everything happen that is due within `durationMs`. */
  async pass(durationMs: number): Promise<void> {
    const end = this.now + durationMs;
    await this.#settle();
    while (await this.#step(end));
    this.now = end;
  }

  /** Time passes, and nothing runs: what is due meanwhile comes late. */
  stall(durationMs: number): void {
    this.now += durationMs;
  }

  /** Lets things happen until the promise is settled. */
  async run<T>(promise: Promise<T>, limitMs = 600_000): Promise<T> {
    let settled = false;
    const mark = (): void => void (settled = true);
    promise.then(mark, mark);
    const end = this.now + limitMs;
    await this.#settle();
    while (!settled) if (!(await this.#step(end))) throw new Error(`no answer within ${limitMs} ms of virtual time`);
    return promise;
  }

  async #step(end: number): Promise<boolean> {
    const first = this.#heap[0];
    if (!first || first.at > end) return false;
    this.#pop();
    if (!first.run) return true;
    this.now = Math.max(this.now, first.at);
    first.run();
    await this.#settle();
    return true;
  }

  async #settle(): Promise<void> {
    for (let round = 0; round < SETTLE_ROUNDS; round++) await NOW;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (!above || isBefore(above, event)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (!left) break;
      let smaller = left;
      if (right && isBefore(right, left)) {
        smaller = right;
        child++;
      }
      if (isBefore(last, smaller)) break;
      heap[at] = smaller;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
