/**
 * Serves the Services that wait, in the order in which they began to. A pass looks at those whom the room that was made may help, and asks the book for
 * some of them at a time. It stops where no pool has room, so one address that is given back costs one lot. A pass of very many stops, too, and the next one goes on
 * behind it: whoever can get nothing keeps nobody behind from being asked for.
 */
import type { AddressAnswer, AddressRequest } from "../../api/rpc/load-balancers";
import type { Clock, Recorder } from "../../core/base/ports";
import { SharedCall } from "../../core/turns/shared-call";
import { isBefore, type WaitingEntry, type WaitingServices } from "./waiting-services";

export interface WaitingPassPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  waiting: WaitingServices;
  /** undefined = it waits no more */
  requestOf(key: string): AddressRequest | undefined;
  /** Never rejects. */
  take(request: AddressRequest): Promise<AddressAnswer>;
  /** Stores what they got. */
  give(lot: readonly { key: string; answer: AddressAnswer }[]): Promise<void>;
  wakeAt(atMs: number): void;
}

/** Services that are asked for, and stored, together. */
const LOT = 32;
/** In one pass. The next one goes on soon. */
const SERVICES_MAX = 1_024;
const RETRY_MS = 10_000;

export class WaitingPass {
  /** pools with room for those who wait */
  #room = new Set<string>();
  /** Any pool may have room: a round asks for everybody, in several passes where there are very many. */
  #isRoundDue = false;
  /** the last one that an unfinished round has asked for */
  #stopped: WaitingEntry | undefined;
  #isDue = false;
  /** how often room was made, for whoever begins to wait behind it */
  rooms = 0;
  readonly #passes = new SharedCall(() => this.#run());

  constructor(private readonly ports: WaitingPassPorts) {}

  /** There is room in these pools; none = in any. Those who wait are served soon. */
  room(pools: readonly string[]): void {
    this.rooms++;
    if (this.ports.waiting.size === 0) return;
    // From the oldest one on.
    if (pools.length === 0) this.#stopped = undefined;
    this.#note(pools);
    void this.#passes.begin();
  }

  /** A pass that fails, or a book that does not answer, is tried again. */
  later(): void {
    this.#note([]);
  }

  /** Serves whoever can be served now. Never rejects. */
  run(): Promise<void> {
    this.#note([]);
    return this.#passes.begin();
  }

  /** Goes on with what `later` has left. Never rejects. */
  goOn(): Promise<void> {
    return this.#isDue ? this.#passes.begin() : Promise.resolve();
  }

  /** The object may sleep, or die, before the pass: then its alarm begins it. */
  #note(pools: readonly string[]): void {
    if (!this.#isDue) this.ports.wakeAt(this.ports.clock.now() + RETRY_MS);
    this.#isDue = true;
    if (pools.length === 0) this.#isRoundDue = true;
    for (const pool of pools) this.#room.add(pool);
  }

  async #run(): Promise<void> {
    const room = this.#room;
    const isRound = this.#isRoundDue;
    this.#room = new Set();
    this.#isRoundDue = this.#isDue = false;
    const full = new Set<string>();
    try {
      // Whoever waits longest is first, wherever the round is.
      if (room.size > 0) await this.#goThrough(room, full);
      if (isRound) await this.#goThrough(undefined, full);
    } catch (error) {
      this.ports.recorder.log("warn", "Services that wait for addresses could not be served", { error: String(error) });
      this.later();
    }
  }

  /** Those whom room in these pools may help; undefined = the rest of the round. */
  async #goThrough(room: ReadonlySet<string> | undefined, full: Set<string>): Promise<void> {
    let last = room ? undefined : this.#stopped;
    for (let asked = 0; ; asked += LOT) {
      const lot = this.#next(room, full, last);
      if (lot.length === 0) break;
      if (asked >= SERVICES_MAX) return this.later();
      await this.#serve(lot, full);
      last = lot.at(-1);
      if (!room) this.#stopped = last;
    }
    if (!room) this.#stopped = undefined;
  }

  #next(room: ReadonlySet<string> | undefined, full: ReadonlySet<string>, last: WaitingEntry | undefined): WaitingEntry[] {
    const lot: WaitingEntry[] = [];
    for (const entry of this.ports.waiting.ordered) {
      if (last && !isBefore(last, entry)) continue;
      const [, { pools, asked, shares = false }] = entry;
      // One that asks for an address, or may share one, needs no room.
      const isFull = asked.length === 0 && !shares && pools.length > 0 && pools.every((pool) => full.has(pool));
      if (isFull || (room && !pools.some((pool) => room.has(pool)))) continue;
      lot.push(entry);
      if (lot.length >= LOT) break;
    }
    return lot;
  }

  async #serve(lot: readonly WaitingEntry[], full: Set<string>): Promise<void> {
    const { requestOf, take, give } = this.ports;
    const asked = lot.map(([key]) => ({ key, request: requestOf(key) }));
    const none: AddressAnswer = { taken: [] };
    const served = await Promise.all(
      asked.map(async ({ key, request }) => ({ key, request, answer: request ? await take(request) : none })),
    );
    await give(served);
    for (const { request, answer } of served) {
      if (request?.wanted.some(({ address }) => address !== undefined)) continue;
      for (const pool of answer.missing?.pools ?? []) full.add(pool);
    }
  }
}
