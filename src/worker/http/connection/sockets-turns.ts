/**
 * Fairness among the connections of the local runtime. The runtime looks at its sockets only when it is idle, and at 16 of them each time. Requests
 * that come together keep it busy. Meanwhile other connections wait, and after 5 s the runtime closes them as idle. The runtime looks at sockets
 * before a timer fires. So requests begin in turns, in the order in which they came, and a timer between two turns lets the runtime look.
 */
import type { Clock } from "../../../core/base/ports";

/** Requests that begin in one turn. With fewer, each sync of the disk serves fewer; with more, other connections wait for longer. */
const AT_ONCE = 64;

/** Looks before a turn: at twice as many sockets as requests begin. A new connection takes two, one for itself and one for its request. */
const LOOKS = 8;

/** Requests of a turn that look. One would do, but its client may go, and its timers with it. */
const LOOKERS = 4;

/**
 * No turn has begun for so long: those that look for the next one have gone, or the requests that began keep the runtime busy. Requests that look wait
 * for less: few timers are enough to go on.
 */
const STALLED_MS = { looker: 1_000, other: 4_000 };

/** The turns of one isolate. */
export class SocketsTurns {
  /** the turn whose requests have begun */
  #turn = 0;
  /** the turn in which the newest request begins: `#turn`, or a later one */
  #newest = 0;
  /** how many requests begin in that turn */
  #begun = 0;
  /** called when their turn begins; each request has a promise of its own, which ends with its client */
  readonly #waiting = new Map<number, (() => void)[]>();

  constructor(private readonly clock: Pick<Clock, "nextTurn" | "sleep">) {}

  /** What a request waits for before it begins; undefined = nothing. */
  take(): Promise<void> | undefined {
    if (this.#begun === AT_ONCE) {
      this.#newest++;
      this.#begun = 0;
    }
    this.#begun++;
    if (this.#newest === this.#turn) return undefined;
    return this.#begun > LOOKERS ? this.#until(this.#newest, STALLED_MS.other) : this.#lookFor(this.#newest);
  }

  async #lookFor(own: number): Promise<void> {
    await this.#until(own - 1, STALLED_MS.looker);
    if (this.#turn < own) await this.#lookAndBegin(own);
  }

  async #until(own: number, stalledMs: number): Promise<void> {
    while (this.#turn < own) {
      const before = this.#turn;
      const begins = new Promise<void>((resolve) => this.#waitingFor(own).push(resolve));
      await Promise.race([begins, this.clock.sleep(stalledMs)]);
      // Those that look for an earlier turn are first, if they are there.
      if (this.#turn === before) await this.#lookAndBegin(own);
    }
  }

  /** Unless another one begins a turn meanwhile. */
  async #lookAndBegin(own: number): Promise<void> {
    const before = this.#turn;
    for (let looks = 0; looks < LOOKS && this.#turn === before; looks++) await this.clock.nextTurn();
    if (this.#turn === before) this.#begin(own);
  }

  #waitingFor(turn: number): (() => void)[] {
    const known = this.#waiting.get(turn) ?? [];
    this.#waiting.set(turn, known);
    return known;
  }

  #begin(turn: number): void {
    while (this.#turn < turn) {
      this.#turn++;
      for (const resolve of this.#waiting.get(this.#turn) ?? []) resolve();
      this.#waiting.delete(this.#turn);
    }
  }
}
