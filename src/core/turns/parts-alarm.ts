/**
 * The one alarm of an object whose parts keep their own work with its times. It stands at the earliest time of all: no part takes another one's away, or
 * makes it wait. Who is woken too early has nothing to do. Nothing is remembered, so a lost turn, or another life of the object, needs no care.
 */
import { leastOf } from "../base/extremes";

/** `dueAt`: when its noted work is due, in milliseconds since the epoch; undefined = it has none. */
export interface WokenPart {
  readonly dueAt: number | undefined;
}

export class PartsAlarm {
  /**
   * @param parts asked at each use
   * @param setAlarm replaces the object's alarm by one at this time (ms since the epoch), durable with the writes of the turn
   */
  constructor(
    private readonly parts: () => readonly (WokenPart | undefined)[],
    private readonly setAlarm: (atMs: number) => void,
  ) {}

  /** Part of the turn in which a part notes work. */
  by(atMs: number): void {
    this.setAlarm(Math.min(atMs, this.#dueAt));
  }

  /** The alarm went off, and what was due has been tried: it is set for what is left. */
  rang(): void {
    const at = this.#dueAt;
    if (at < Infinity) this.setAlarm(at);
  }

  get #dueAt(): number {
    return leastOf(this.parts().map((part) => part?.dueAt ?? Infinity));
  }
}
