/**
 * Writes that a store refused: one of an object that breaks a rule of today, for example. Most likely the store refuses the next try, too. So a refusal is
 * logged once, and each wait for the next try is twice as long as the one before. Refusals are in memory alone: a controller that starts tries everything.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { Status } from "../../api/meta/status";

/** Codes of clients' errors that the next try may not meet: a timeout, a change by somebody else, too many requests. */
const PASSING_CODES = [408, 409, 429];

/** Whether the next try may succeed although nothing has changed. */
export function isPassing({ code }: Pick<Status, "code">): boolean {
  return code < 400 || code >= 500 || PASSING_CODES.includes(code);
}

/** In milliseconds. */
export interface RefusalWaits {
  first: number;
  longest: number;
}

interface Refusal {
  readonly waitMs: number;
  /** milliseconds since the epoch */
  readonly againAt: number;
}

export class Refusals {
  readonly #refused = new Map<string, Refusal>();

  constructor(
    private readonly ports: { clock: Pick<Clock, "now">; recorder: Recorder },
    private readonly waits: RefusalWaits,
  ) {}

  /** False: the write was refused, and its wait is not over. */
  mayTry(write: string): boolean {
    return (this.#refused.get(write)?.againAt ?? -Infinity) <= this.ports.clock.now();
  }

  /** Whether the last try was refused. */
  has(write: string): boolean {
    return this.#refused.has(write);
  }

  /** @param write a name for the log, the same for each try */
  refused(write: string, { code, reason = "", message = "" }: Status): void {
    const { clock, recorder } = this.ports;
    const before = this.#refused.get(write);
    if (!before) recorder.log("warn", "a controller was refused a write", { write, code, reason, message });
    const waitMs = Math.min(this.waits.longest, before ? before.waitMs * 2 : this.waits.first);
    this.#refused.set(write, { waitMs, againAt: clock.now() + waitMs });
  }

  /** The write was made, or nobody needs it any more. */
  forget(write: string): void {
    this.#refused.delete(write);
  }

  get isEmpty(): boolean {
    return this.#refused.size === 0;
  }

  /** the number of refused writes */
  get size(): number {
    return this.#refused.size;
  }

  /** Forgets the writes that nobody needs any more. */
  keep(isNeeded: (write: string) => boolean): void {
    for (const write of this.#refused.keys()) if (!isNeeded(write)) this.#refused.delete(write);
  }

  /** When the next wait ends, in milliseconds since the epoch; undefined = none lasts. A write that was not tried for long after its wait is forgotten. */
  nextAt(): number | undefined {
    const nowMs = this.ports.clock.now();
    let next = Infinity;
    for (const [write, { againAt }] of this.#refused) {
      if (againAt < nowMs - this.waits.longest) this.#refused.delete(write);
      else if (againAt > nowMs) next = Math.min(next, againAt);
    }
    return next === Infinity ? undefined : next;
  }
}
