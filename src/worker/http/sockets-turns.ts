/**
 * Fairness among the connections of the local runtime. The runtime looks at its sockets only when it is idle, and at 16 of them each time; requests that
 * come together keep it busy. The other connections wait, and after 5 s the runtime closes them as idle ones. It looks before a timer fires, so requests
 * begin in turns, in the order in which they came, with looks between two turns.
 */
import type { Clock } from "../../core/base/ports";

/** Requests that begin in one turn. Fewer share fewer syncs of the disk; more let the other connections wait for longer. */
const AT_ONCE = 64;

/** Looks before a turn: at twice as many sockets as requests begin. A burst has its sockets looked at twice, as new ones and with their requests. */
const LOOKS = 8;

/** Requests of a turn that look. One would do, but its client may go, and its timers with it. */
const LOOKERS = 4;

/** When no turn begins for so long, the lookers have all gone, or the clients of whole turns. */
const STALLED_MS = 1_000;

/** The turns of one isolate. */
export class SocketsTurns {
  /** the turn whose requests have begun */
  #turn = 0;
  /** the turn in which the newest request begins: `#turn`, or a later one */
  #newest = 0;
  /** how many requests begin in that turn */
  #begun = 0;
  /** resolve when their turn begins */
  readonly #gates = new Map<number, PromiseWithResolvers<void>>();

  constructor(private readonly clock: Pick<Clock, "nextTurn" | "sleep">) {}

  /** What a request waits for before it begins; undefined = nothing. */
  take(): Promise<void> | undefined {
    if (this.#begun === AT_ONCE) {
      this.#newest++;
      this.#begun = 0;
    }
    this.#begun++;
    if (this.#newest === this.#turn) return undefined;
    return this.#begun > LOOKERS ? this.#until(this.#newest) : this.#look(this.#newest);
  }

  async #look(own: number): Promise<void> {
    await this.#until(own - 1);
    for (let looks = 0; looks < LOOKS && this.#turn < own; looks++) await this.clock.nextTurn();
    if (this.#turn < own) this.#begin(own);
  }

  async #until(own: number): Promise<void> {
    while (this.#turn < own) {
      const before = this.#turn;
      await Promise.race([this.#gate(own), this.clock.sleep(STALLED_MS)]);
      if (this.#turn === before) this.#begin(own);
    }
  }

  #gate(own: number): Promise<void> {
    const known = this.#gates.get(own);
    if (known) return known.promise;
    const made = Promise.withResolvers<void>();
    this.#gates.set(own, made);
    return made.promise;
  }

  #begin(turn: number): void {
    while (this.#turn < turn) {
      this.#turn++;
      this.#gates.get(this.#turn)?.resolve();
      this.#gates.delete(this.#turn);
    }
  }
}
