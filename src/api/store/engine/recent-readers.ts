/** Who reads the changes of a store: its watches, and who may come to watch, because they have listed or lost their watch (rule 33). */
import type { Clock } from "../../../core/base/ports";
import { LISTED_LATELY_MS } from "../state/limits";

export class RecentReaders {
  #at = -Infinity;

  /** @param watchedAt when somebody watched last, in milliseconds since the epoch */
  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly watchedAt: () => number,
  ) {}

  /** Somebody has listed, or watches were lost. */
  note(): void {
    this.#at = this.clock.now();
  }

  /** A watch that has ended counts for as long as a list. */
  get are(): boolean {
    const now = this.clock.now();
    return [this.#at, this.watchedAt()].some((at) => Math.abs(now - at) < LISTED_LATELY_MS);
  }
}
