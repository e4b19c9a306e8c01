import type { LoopTurns } from "./loop-turns";
import type { Clock } from "./ports";

/**
 * Leaves the thread to others for `ms` milliseconds, at least one. Objects may share a thread. While calls between objects answer one
 * another, its loop takes no request and fires no timer, however short each call is. So a loop of calls stops everybody until it waits
 * for a timer.
 */
export function pause(clock: Pick<Clock, "after">, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(Math.max(1, ms), resolve));
}

/** The longest rest: a step that took much longer was waiting and not working. */
const REST_MAX_MS = 250;
/** A part of a step that takes so long is noticed by others: there is a rest before the next part. */
const PART_MS = 10;
/** The longest rest within a step. */
const BREATH_MAX_MS = 30;

/** The longest rest of work that nobody waits for while others wait for the thread. */
const YIELD_MAX_MS = 1_000;
/** A timer of this length tells whether others wait for the thread: then it comes late. Some come in time by luck. */
const PROBE_MS = 5;
const LATE_MS = 5;
const PROBES_IN_TIME = 2;

/** A tenth of a thread: several such loops may run beside writers. */
export const REST_GENTLY = 9;
/** A quarter of a thread: for work that follows what clients do, and must not slow them down. */
export const REST_MODESTLY = 3;
/** Half of a thread: for work that somebody waits for. */
export const REST_URGENTLY = 1;

/** Paces background work: after each step it rests `ratio` times as long as the step took. */
export class Pace {
  #since: number;
  /** Since when the part of the step lasts that is under way, and how long the step has rested between its parts. */
  #partSince: number;
  #restedMs = 0;

  /** `turns`: those that it takes with other loops of its thread; absent = it rests for its own work alone */
  constructor(
    private readonly clock: Pick<Clock, "after" | "now">,
    private readonly ratio: number,
    private readonly turns?: LoopTurns,
  ) {
    this.#since = this.#partSince = clock.now();
  }

  /** Rests for the time worked since the last rest, and until its turn. */
  async rest(): Promise<void> {
    const now = this.clock.now();
    const workMs = Math.max(0, now - this.#since - this.#restedMs);
    const ownMs = Math.min(REST_MAX_MS, workMs * this.ratio - this.#restedMs);
    await pause(this.clock, Math.max(ownMs, this.turns?.waitMs(now, workMs) ?? 0));
    this.#since = this.#partSince = this.clock.now();
    this.#restedMs = 0;
  }

  /** Between two parts of a step: after a long part it rests a little, and `rest` lasts for so much less. */
  async breathe(): Promise<void> {
    const now = this.clock.now();
    const partMs = now - this.#partSince;
    if (partMs < PART_MS) return;
    await pause(this.clock, Math.min(BREATH_MAX_MS, partMs * this.ratio));
    this.#partSince = this.clock.now();
    this.#restedMs += Math.max(0, this.#partSince - now);
  }

  /** Rests only while others wait for the thread. On a free thread it is over at once. */
  async restWhileBusy(): Promise<void> {
    const { clock, ratio } = this;
    const restMs = Math.min(YIELD_MAX_MS, (clock.now() - this.#since) * ratio);
    for (let [restedMs, inTime] = [0, 0]; inTime < PROBES_IN_TIME && restedMs < restMs;) {
      const probedAt = clock.now();
      await pause(clock, PROBE_MS);
      // A clock that was set back makes no rest longer.
      const tookMs = Math.max(PROBE_MS, clock.now() - probedAt);
      inTime = tookMs < PROBE_MS + LATE_MS ? inTime + 1 : 0;
      restedMs += tookMs;
    }
    this.#since = this.#partSince = clock.now();
    this.#restedMs = 0;
  }
}
