import type { Clock } from "../../../core/base/ports";

/** A pause that news ends. News between two pauses ends the next one at once. */
export class Nap {
  #hasNews = false;
  #end: () => void = () => undefined;

  constructor(private readonly clock: Pick<Clock, "after">) {}

  async wait(ms: number): Promise<void> {
    if (!this.#hasNews) {
      await new Promise<void>((resolve) => {
        const cancel = this.clock.after(ms, resolve);
        this.#end = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#hasNews = false;
  }

  wake(): void {
    this.#hasNews = true;
    this.#end();
  }
}
