/** Callers that wait until something about the Coordinator's rows holds. */
import type { Clock } from "../../core/base/ports";

export class Waiters {
  readonly #looks = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  /** Resolves with true as soon as the predicate holds after some `look`, with false after `timeoutMs`. */
  async until(predicate: () => boolean, timeoutMs: number): Promise<boolean> {
    if (predicate()) return true;
    return new Promise((resolve) => {
      const end = (result: boolean): void => {
        this.#looks.delete(look);
        cancel();
        resolve(result);
      };
      const look = (): void => {
        if (predicate()) end(true);
      };
      const cancel = this.clock.after(timeoutMs, () => end(false));
      this.#looks.add(look);
    });
  }

  /** One function per waiting caller; each looks again whether its predicate holds. */
  get looks(): readonly (() => void)[] {
    return [...this.#looks];
  }
}
