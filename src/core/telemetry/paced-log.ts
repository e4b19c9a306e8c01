/** Log lines of an event that may befall every request at once. One line for each request would slow all of them down. */
import type { LogLevel } from "../base/log-level";
import type { Clock, Recorder } from "../base/ports";

type Fields = NonNullable<Parameters<Recorder["log"]>[2]>;

/** Between two lines, and from the last events of a burst to the line that counts them. */
const INTERVAL_MS = 1_000;

/** One line in each interval, with the number of events left out before it. The end of a burst is counted in a line `<event>, more of them`. */
export class PacedLog {
  #toldAt = -Infinity;
  #untold = 0;
  #cancel: () => void = () => undefined;

  constructor(
    private readonly level: LogLevel,
    private readonly event: string,
    private readonly ports: { clock: Pick<Clock, "now" | "after">; recorder: Recorder },
  ) {}

  /** `fields` is called only for a line that is written. */
  add(fields: () => Fields): void {
    const { clock, recorder } = this.ports;
    const now = clock.now();
    if (Math.abs(now - this.#toldAt) < INTERVAL_MS) {
      if (this.#untold++ === 0) this.#cancel = clock.after(INTERVAL_MS, () => this.#count());
      return;
    }
    this.#cancel();
    recorder.log(this.level, this.event, { ...fields(), untoldBefore: this.#untold });
    this.#toldAt = now;
    this.#untold = 0;
  }

  #count(): void {
    this.ports.recorder.log(this.level, `${this.event}, more of them`, { count: this.#untold });
    this.#untold = 0;
  }
}
