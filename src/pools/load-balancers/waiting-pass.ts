/**
 * Serves the Services that wait, in the order in which they began to. A pass looks at those whom the room that was made may help, and asks the book for
 * some of them at a time. It stops where no pool has room, so one address that is given back costs one lot.
 */
import type { AddressAnswer, AddressRequest } from "../../api/rpc/load-balancers";
import type { Clock, Recorder } from "../../core/base/ports";
import { SharedCall } from "../../core/turns/shared-call";
import type { WaitingEntry, WaitingServices } from "./waiting-services";

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
/** In one pass. The next one goes on when there is room again, or with cron. */
const SERVICES_MAX = 1_024;
const RETRY_MS = 10_000;

export class WaitingPass {
  /** pools with room for those who wait; undefined = any pool may have */
  #room: Set<string> | undefined = new Set();
  #isDue = false;
  /** how often room was made, for whoever begins to wait behind it */
  rooms = 0;
  readonly #passes = new SharedCall(() => this.#run());

  constructor(private readonly ports: WaitingPassPorts) {}

  /** There is room in these pools; none = in any. Those who wait are served soon. */
  room(pools: readonly string[]): void {
    this.rooms++;
    if (this.ports.waiting.size === 0) return;
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
    if (pools.length === 0) this.#room = undefined;
    for (const pool of pools) this.#room?.add(pool);
  }

  async #run(): Promise<void> {
    const room = this.#room;
    this.#room = new Set();
    this.#isDue = false;
    const full = new Set<string>();
    const seen = new Set<string>();
    try {
      for (let lot = this.#next(room, full, seen); lot.length > 0 && seen.size <= SERVICES_MAX; lot = this.#next(room, full, seen)) {
        await this.#serve(lot, full);
      }
    } catch (error) {
      this.ports.recorder.log("warn", "Services that wait for addresses could not be served", { error: String(error) });
      this.later();
    }
  }

  #next(room: ReadonlySet<string> | undefined, full: ReadonlySet<string>, seen: Set<string>): WaitingEntry[] {
    const lot: WaitingEntry[] = [];
    for (const entry of this.ports.waiting.ordered) {
      const [key, { pools, asked, shares = false }] = entry;
      if (seen.has(key)) continue;
      // One that asks for an address, or may share one, needs no room.
      const isFull = asked.length === 0 && !shares && pools.length > 0 && pools.every((pool) => full.has(pool));
      if (isFull || !(room === undefined || pools.some((pool) => room.has(pool)))) continue;
      lot.push(entry);
      seen.add(key);
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
