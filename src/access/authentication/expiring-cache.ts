/** Answers that are good for a while. Their number is bounded: the one that was kept least recently goes first. */
import type { Clock } from "../../core/base/ports";

export class ExpiringCache<T> {
  readonly #entries = new Map<string, { value: T; keptAt: number; until: number }>();

  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly max: number,
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const now = this.clock.now();
    // A clock that was set back must not keep an answer longer.
    if (now < entry.until && now >= entry.keptAt) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  put(key: string, value: T, until: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, keptAt: this.clock.now(), until });
    if (this.#entries.size <= this.max) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}
