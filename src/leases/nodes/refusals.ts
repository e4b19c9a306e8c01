/**
 * Writes that a store refused, as one of an object that breaks a rule of today. The controller says so once, and tries each later and later. They stand
 * in memory alone: a start tries everything at once.
 */
import type { Recorder } from "../../core/base/ports";
import type { Status } from "../../api/meta/status";

/** The longest wait between two tries. */
const WAIT_MAX_MS = 5 * 60_000;

interface Refusal {
  readonly waitMs: number;
  /** milliseconds since the epoch */
  readonly againAt: number;
}

export class Refusals {
  readonly #refused = new Map<string, Refusal>();

  /** @param firstWaitMs the first wait; each further one is twice as long */
  constructor(
    private readonly now: () => number,
    private readonly firstWaitMs: number,
    private readonly recorder: Recorder,
  ) {}

  mayTry(write: string): boolean {
    return (this.#refused.get(write)?.againAt ?? -Infinity) <= this.now();
  }

  refused(write: string, { code = 0, reason = "", message = "" }: Status): void {
    const before = this.#refused.get(write);
    if (!before) this.recorder.log("warn", "the node lifecycle controller was refused a write", { write, code, reason, message });
    const waitMs = Math.min(WAIT_MAX_MS, before ? before.waitMs * 2 : this.firstWaitMs);
    this.#refused.set(write, { waitMs, againAt: this.now() + waitMs });
  }

  /** It was made, or nobody asks for it any more. */
  forget(write: string): void {
    this.#refused.delete(write);
  }

  /** When the next one may be tried again; nothing = there is none. What nobody has tried again for long is forgotten. */
  nextAt(nowMs: number): number[] {
    for (const [write, { againAt }] of this.#refused) if (againAt < nowMs - WAIT_MAX_MS) this.#refused.delete(write);
    const times = [...this.#refused.values()].map(({ againAt }) => againAt).filter((at) => at > nowMs);
    return times.length === 0 ? [] : [Math.min(...times)];
  }
}
