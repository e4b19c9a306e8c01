/** Reads of a revision that a store has not reached yet. Each waits for it, for a while (rule 22). */
import type { Clock } from "../../../core/base/ports";
import { AWAITED_REVISION_MS, AWAITED_REVISIONS_MAX } from "../state/limits";

interface WaitingReader {
  revision: number;
  wake(): void;
}

export class AwaitedRevisions {
  readonly #waiting = new Set<WaitingReader>();

  constructor(private readonly clock: Clock) {}

  /** Resolves when `revision` is published, or when the wait is over; at once when too many wait already. */
  wait(revision: number): Promise<void> {
    if (this.#waiting.size >= AWAITED_REVISIONS_MAX) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting: WaitingReader = {
        revision,
        wake: () => {
          this.#waiting.delete(waiting);
          cancel();
          resolve();
        },
      };
      const cancel = this.clock.after(AWAITED_REVISION_MS, () => waiting.wake());
      this.#waiting.add(waiting);
    });
  }

  /** Everything up to `revision` is published. */
  reached(revision: number): void {
    for (const waiting of this.#waiting) if (waiting.revision <= revision) waiting.wake();
  }
}
