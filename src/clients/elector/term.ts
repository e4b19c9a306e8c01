/** Terms of leaders, and the clock that they end by. */
import type { Clock } from "../../core/base/ports";

export interface ElectorClock extends Pick<Clock, "now" | "after"> {
  /** Milliseconds since any moment. It never jumps, and may stand still while the machine sleeps: `performance.now()`. */
  steady(): number;
}

/** One moment on both clocks, in milliseconds. */
export interface Moment {
  readonly steadyMs: number;
  readonly wallMs: number;
}

export function momentOf(clock: Pick<ElectorClock, "now" | "steady">): Moment {
  return { steadyMs: clock.steady(), wallMs: clock.now() };
}

/** The time in which this process leads. */
export interface Term {
  /** resourceVersion of the write that began the term; those of later terms are greater */
  readonly token: string;
  /** Aborts when the term ends, at the latest at its deadline. */
  readonly signal: AbortSignal;
  /** Whether the term lasts, by the clock. False as well for a process that has slept through its end. */
  readonly isValid: boolean;
}

/**
 * A term as its elector has it. It ends by the clock that is over first: the steady one where the wall clock is set back, the wall clock where the
 * machine has slept.
 */
export class OwnTerm implements Term {
  readonly #controller = new AbortController();
  #cancel: () => void = () => undefined;
  #from: Moment;

  /** From `from` on it lasts for `durationMs`. */
  constructor(
    private readonly clock: ElectorClock,
    readonly token: string,
    from: Moment,
    private readonly durationMs: number,
  ) {
    this.#from = from;
    this.extend(from);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isValid(): boolean {
    return !this.signal.aborted && this.remainingMs > 0;
  }

  get remainingMs(): number {
    const { steadyMs, wallMs } = momentOf(this.clock);
    return this.durationMs - Math.max(steadyMs - this.#from.steadyMs, wallMs - this.#from.wallMs);
  }

  /** It lasts for its duration from then on. A term whose signal has aborted stays invalid. */
  extend(from: Moment): void {
    this.#from = from;
    this.#cancel();
    this.#cancel = this.clock.after(Math.max(0, this.remainingMs), () => this.end());
  }

  end(): void {
    this.#cancel();
    this.#controller.abort();
  }
}
