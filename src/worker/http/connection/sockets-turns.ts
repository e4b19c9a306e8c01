/**
 * Fairness among the connections of the local runtime. The runtime looks at its sockets only when it is idle, and at 16 of them each time. Requests
 * that come together keep it busy. Meanwhile other connections wait, and after 5 s the runtime closes them as idle. The runtime looks at sockets
 * before a timer fires. So requests begin in turns, in the order in which they came, and a timer between two turns lets the runtime look.
 * Beside few connections, which the runner counts, it is enough to look now and then.
 */
import { EndableWait } from "../../../core/base/endable-wait";
import type { Clock } from "../../../core/base/ports";

/** Requests that begin in one turn. With fewer, each sync of the disk serves fewer; with more, other connections wait for longer. */
const AT_ONCE = 64;

/** Looks before a turn: at twice as many sockets as requests begin. A new connection takes two, one for itself and one for its request. */
const LOOKS = 8;

/**
 * Beside few connections a turn takes all requests of so long. That is short beside the 5 s after which the runtime closes a connection, and long beside a
 * commit, which has the requests of a turn together.
 */
const FEW_TURN_MS = 250;

/** Requests of a turn that look. One would do, but its client may go, and its timers with it. */
const LOOKERS = 4;

/**
 * No turn has begun for so long: those that look for the next one have gone, or the requests that began keep the runtime busy. Requests that look wait
 * for less: few timers are enough to go on.
 */
const STALLED_MS = { looker: 1_000, other: 4_000 };

/** The turns of one isolate. */
export class SocketsTurns {
  /** Whether a turn takes few requests. Where nobody counts connections there may be many. */
  areManyConnections = true;
  /** the turn whose requests have begun */
  #turn = 0;
  /** the turn in which the newest request begins: `#turn`, or a later one */
  #newest = 0;
  /** how many requests begin in that turn */
  #begun = 0;
  /** when the turn began whose requests have begun */
  #beganAt = 0;
  /** called when their turn begins; each request has a promise of its own, which ends with its client */
  readonly #waiting = new Map<number, (() => void)[]>();

  constructor(private readonly clock: Pick<Clock, "now" | "nextTurn" | "after">) {}

  /** What a request waits for before it begins; undefined = nothing. */
  take(): Promise<void> | undefined {
    if (this.areManyConnections ? this.#begun >= AT_ONCE : this.#newest === this.#turn && this.#hasBeenBusy()) {
      this.#newest++;
      this.#begun = 0;
    }
    this.#begun++;
    if (this.#newest === this.#turn) return undefined;
    return this.#begun > LOOKERS ? this.#until(this.#newest, STALLED_MS.other) : this.#lookFor(this.#newest);
  }

  /** Whether the turn was long and had many requests. A long one with few begins anew: the runtime was idle meanwhile. */
  #hasBeenBusy(): boolean {
    const now = this.clock.now();
    if (now - this.#beganAt < FEW_TURN_MS) return false;
    if (this.#begun >= AT_ONCE) return true;
    this.#beganAt = now;
    this.#begun = 0;
    return false;
  }

  async #lookFor(own: number): Promise<void> {
    await this.#until(own - 1, STALLED_MS.looker);
    if (this.#turn < own) await this.#lookAndBegin(own);
  }

  async #until(own: number, stalledMs: number): Promise<void> {
    while (this.#turn < own) {
      const before = this.#turn;
      const begins: EndableWait<void> = new EndableWait(this.clock, stalledMs, () => begins.end());
      this.#waitingFor(own).push(begins.end);
      await begins.over();
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
    this.#beganAt = this.clock.now();
    while (this.#turn < turn) {
      this.#turn++;
      for (const resolve of this.#waiting.get(this.#turn) ?? []) resolve();
      this.#waiting.delete(this.#turn);
    }
  }
}
