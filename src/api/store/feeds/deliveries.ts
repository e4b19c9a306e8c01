/**
 * Whether everybody whom a store pokes has read what its turns changed. A poke is answered when the pass behind it is over. So a store knows whom it has
 * reached, and cron's tick visits only stores that may have missed somebody.
 *
 *   the first turn that concerns others      the store asks for visits, by one call. Until a visit finds it settled it asks for none
 *   a poke is not answered, or fails         it is owed: the next visit pokes everybody with the newest revision
 *   it is answered, and not by READ          the same: a controller of the release before has only begun its pass, and may end in it
 *   a visit finds a life that asked for none, or that began while the store was listed      the life before may owe pokes, so they are sent
 *   a visit finds no turn since the last one, and every poke answered                       the store is settled: nobody visits it
 *
 * The call leaves before the turn where the request tells that others are concerned. Otherwise it leaves with the turn's answers, when the turn is
 * durable: what a store leaves that dies before is found by the full visit (tenancy/visit-list.ts). A store that was never written to waits for the
 * answer before its first write, since a full visit calls nobody else. All this is memory: a death forgets it, and the list
 * knows that it was not settled.
 */
import type { Clock } from "../../../core/base/ports";
import { withTimeout } from "../../../core/base/timeout";
import { RPC_TIMEOUT_MS } from "../../../core/base/limits";
import { isMethodMissing } from "../../rpc/older-release";
import { READ } from "../../rpc/store";
import type { VisitListRpc, VisitOutcome } from "../../rpc/visits";

/** A pass may take longer. Then the poke counts as lost: the next one is answered when the pass is over. */
const ANSWER_MAX_MS = 30_000;
/** Pokes that wait for answers. Further ones are owed. */
const WAITING_MAX = 32;
/** How long a visit waits for the pokes that it sends. */
const VISIT_WAIT_MS = 2_000;
/** Between two attempts to be listed, at first and at most. */
const ASK_BASE_MS = 1_000;
const ASK_MAX_MS = 30_000;

export interface DeliveryPorts {
  clock: Clock;
  /** the store's name in the list */
  name: string;
  /** undefined: nobody visits, as in tests */
  visitList(): Pick<VisitListRpc, "askVisits"> | undefined;
}

/** A poke, which answers READ when the pass behind it is over. */
export type Poke = () => Promise<unknown>;

export class Deliveries {
  /** pokes without an answer so far */
  #waiting = 0;
  #owes = false;
  /** a turn concerned others since the last visit */
  #hasSpoken = false;
  #isListed = false;
  /** the last question, until it is answered: it is under way, or failed and waits for another one */
  #asked: Promise<boolean> | undefined;
  /** it failed */
  #cancelRetry: (() => void) | undefined;
  #attempt = 0;

  constructor(private readonly ports: DeliveryPorts) {}

  /** A turn concerns somebody else, or may do so. To be called before that turn, or in it. */
  spoke(): void {
    this.#hasSpoken = true;
    this.#ask();
  }

  /**
   * Resolves when the store is in the list, and so known as used for ever. Rejects where that is not known now. A store that was never written to waits for
   * this before its first write: whoever takes it for unused is right. A question that failed is asked again at once: the client was told to come again.
   */
  async listed(): Promise<void> {
    if (this.#isListed) return;
    if (this.#cancelRetry) this.#askAnew();
    else this.#ask();
    try {
      await this.#asked;
    } catch (error) {
      // A list of an earlier release takes nobody for unused.
      if (!isMethodMissing(error, "askVisits")) throw error;
    }
  }

  /** The same for a list that may have been brought back in time: what was asked before says nothing. */
  listedAnew(): Promise<void> {
    this.#isListed = false;
    this.#askAnew();
    return this.listed();
  }

  /** Sends a poke, and notes whether it is answered. */
  send(poke: Poke): void {
    void this.#sent(poke);
  }

  /** Something must be told that nobody was poked with: a transaction may be stored, or not. */
  owe(): void {
    this.#owes = true;
    this.spoke();
  }

  /**
   * Cron's visit. Never rejects.
   *
   * @param rest what else the store does on a visit
   * @param everybody a poke of each that the store ever pokes, with its newest revision
   */
  async visit(rest: () => Promise<void>, everybody: () => Iterable<Poke>): Promise<VisitOutcome> {
    if (!this.#isListed) this.#owes = true;
    const hadSpoken = this.#hasSpoken;
    this.#hasSpoken = false;
    let isDone = true;
    try {
      await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, rest());
    } catch {
      isDone = false;
    }
    if (this.#owes) {
      this.#owes = false;
      const sent = Promise.all([...everybody()].map((poke) => this.#sent(poke)));
      await withTimeout(this.ports.clock, VISIT_WAIT_MS, sent).catch(() => undefined);
    }
    if (!isDone || hadSpoken || this.#hasSpoken || this.#owes || this.#waiting > 0 || this.#asked) return "left";
    this.#isListed = false;
    return "settled";
  }

  async #sent(poke: Poke): Promise<void> {
    const answer = poke();
    if (this.#waiting >= WAITING_MAX) {
      this.#owes = true;
      return void answer.catch(() => undefined);
    }
    this.#waiting++;
    try {
      // A controller of the release before has only begun its pass.
      if ((await withTimeout(this.ports.clock, ANSWER_MAX_MS, answer)) !== READ) this.#owes = true;
    } catch {
      this.#owes = true;
    }
    this.#waiting--;
  }

  #ask(): void {
    // Most writes end here: a stub for each of them would cost more than the question.
    if (!this.#isListed && !this.#asked) this.#askAnew();
  }

  /** The answer to a question before it counts no more. */
  #askAnew(): void {
    const { clock, name, visitList } = this.ports;
    const list = visitList();
    if (!list) return;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    const asked = withTimeout(clock, RPC_TIMEOUT_MS, list.askVisits(name));
    this.#asked = asked;
    asked.then(
      (wasListed) => {
        // An earlier life was not settled.
        if (wasListed) this.#owes = true;
        if (this.#asked !== asked) return;
        this.#asked = undefined;
        this.#isListed = true;
        this.#attempt = 0;
      },
      () => {
        if (this.#asked !== asked) return;
        this.#cancelRetry = clock.after(Math.min(ASK_MAX_MS, ASK_BASE_MS * 2 ** this.#attempt++), () => this.#askAnew());
      },
    );
  }
}
