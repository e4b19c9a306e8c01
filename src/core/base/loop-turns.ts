/**
 * Turns of background loops that share a thread. Each loop rests for its own work (pause.ts), but the shares of several would add up. So the next
 * step of any of them begins when those before it have had their rest. All objects of a thread have the same clock, which stands for the thread.
 */

/** A step that took longer was waiting and not working. */
const STEP_MAX_MS = 25;
/** So long a loop waits for the others at most: with very many loops each still goes on. */
const WAIT_MAX_MS = 1_000;

/** What a loop asks after each of its steps. */
export interface LoopTurns {
  /** Notes a step that ends now. Answers how long it is until the next one may begin. */
  waitMs(nowMs: number, workMs: number): number;
}

/** Loops that take turns with those of the same thread. */
class ThreadTurns {
  /** when the next step may begin, in milliseconds since the epoch, by the clock of the thread */
  readonly #freeAt = new WeakMap<object, number>();

  constructor(
    /** the rest after a step, in parts of its work */
    private readonly ratio: number,
    /** A loop with less work than this takes no turns: it is over soon, and with many clusters there are many such loops. */
    private readonly smallWorkMs: number,
  ) {}

  /** A loop that begins now. `isFirst`: it waits for nobody, and the others wait for it. */
  loop(clock: object, { isFirst = false } = {}): LoopTurns {
    let workedMs = 0;
    return {
      waitMs: (nowMs, workMs) => {
        workedMs += workMs;
        if (workedMs <= this.smallWorkMs) return 0;
        // The next step takes as long as this one did, and has its rest behind it.
        const stepMs = Math.min(workMs, STEP_MAX_MS);
        const restMs = stepMs * this.ratio;
        const freeAt = this.#freeAt.get(clock) ?? -Infinity;
        // A clock that was set back keeps nobody waiting for long.
        const beginsAt = isFirst ? nowMs + restMs : Math.min(Math.max(freeAt, nowMs + restMs), nowMs + WAIT_MAX_MS);
        this.#freeAt.set(clock, Math.min(Math.max(freeAt, beginsAt), nowMs + WAIT_MAX_MS) + stepMs + restMs);
        return beginsAt - nowMs;
      },
    };
  }
}

/** Loops that nobody waits for: together they take a tenth of the thread. */
export const GENTLE_TURNS = new ThreadTurns(9, 100);
/** Loops that somebody waits for: together they leave a third of the thread. */
export const URGENT_TURNS = new ThreadTurns(0.5, 0);
