/**
 * The owner: brain of one ServiceCIDR object, the single writer of the addresses in its segments. It calls nobody.
 *
 * What holds after every transaction:
 * - An address has at most one row (its key), and the bitmap has it taken exactly when it has one.
 * - Each new row has a greater gen than every row before, whatever was deleted or restarted meanwhile.
 * - A token has at most one row, and none while it is remembered as released.
 * - Rows exist only inside segments that are owned or being received. An owner that is retired or was never configured writes nothing.
 *
 * All allocate, release and seed calls of one turn of the event loop share one transaction (owner-batch.ts). While others wait, a turn waits for the
 * last commit (rule 24). A refused call leaves nothing behind.
 * A lost transaction rejects every call of its drain. Memory has no undo, so it is read from storage again. A caller whose call was rejected knows
 * nothing: it repeats the call with the same token, or releases the token.
 *
 * The fence: an owner refuses what its configuration does not allow, so a router with an old topology meets `stale`, never a second owner.
 */
import { assert } from "../../core/base/assert";
import { type BatchCounters, Batcher, COMMIT_LOST } from "../../core/turns/batch";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { COPY_ROWS_MAX, OWNER_QUEUE_ITEMS_MAX } from "../rpc/limits";
import type { BitmapCheck, RepairedOwner } from "../rpc/repair";
import type {
  AddressInterval,
  AddressRow,
  AllocateAnswer,
  AllocateItem,
  ConfigureResult,
  CopyChunk,
  CopyOutResult,
  InspectedOwner,
  OwnerConfig,
  ReceiveResult,
  Receiving,
  ReleaseItem,
  ReleaseResult,
  ServiceCIDRRpc,
} from "../rpc/service-cidr";
import { decideConfigure, parseCanonical } from "./active-config";
import { bitmapFault } from "./bitmap-check";
import { applyBatch, freeOf, type OwnerOperation, type OwnerOutcome } from "./owner-batch";
import { assertCall, assertHolder, familyOf } from "./owner-call";
import type { SeedItem } from "./owner-drain";
import { copyOut, HandoffConflict, partition, receive } from "./owner-handoff";
import { type OwnerMemory, applyConfig, loadMemory } from "./owner-memory";
import { rowsAtAddresses, rowsBehind, serviceRowsIn, takenCounts, takenOffsets, toAddressRow } from "./owner-reading";
import type { OwnerStorage } from "./owner-storage";

export interface OwnerPorts {
  storage: OwnerStorage;
  /** Resolves when everything written so far is durable; rejects when it is lost. */
  durable(): Promise<void>;
  /** Ends the object: a commit was lost. Its next call starts it from what is stored. */
  abort(reason: string): void;
  clock: Clock;
  random: Random;
  recorder: Recorder;
  /** rows of one chunk of a hand-off; COPY_ROWS_MAX unless a test wants many small chunks */
  copyRowsMax?: number;
}

/** A call found the queue full; nothing of it was applied. Only name and message survive RPC. */
class OwnerOverloadedError extends Error {
  override name = "OwnerOverloadedError";
}

/** A commit was lost before the call began; nothing of it was applied. */
class OwnerEndedError extends Error {
  override name = "OwnerEndedError";
}

export class Owner implements ServiceCIDRRpc, InspectedOwner, RepairedOwner {
  readonly #ports: OwnerPorts;
  readonly #batcher: Batcher<OwnerOperation, OwnerOutcome>;
  /** undefined: memory may differ from storage, and is read again before its next use */
  #memory: OwnerMemory | undefined;

  /** Reads the object's state. Throws when storage throws. */
  constructor(ports: OwnerPorts) {
    this.#ports = ports;
    this.#memory = loadMemory(ports.storage, ports, true);
    this.#batcher = new Batcher<OwnerOperation, OwnerOutcome>({
      clock: ports.clock,
      apply: (operations) => applyBatch(ports.storage, this.#current(), ports.clock.now(), operations),
      refuse: () => {
        throw new OwnerOverloadedError("too many allocations wait for this ServiceCIDR object");
      },
      onFailure: (error) => this.#forget(error),
      queueWeightMax: OWNER_QUEUE_ITEMS_MAX,
      weigh: (operation) => operation.items.length,
      commits: {
        durable: () => ports.durable(),
        unbegun: () => {
          throw new OwnerEndedError(COMMIT_LOST);
        },
        end: (error) => this.#end(error),
      },
    });
  }

  /** Drains, calls and items so far: the group size of commits. */
  get counters(): BatchCounters {
    return this.#batcher.counters;
  }

  /** Accepts or refuses a configuration (active-config.ts); it is persisted before it takes effect. Safe to repeat. */
  async configure(config: OwnerConfig): Promise<ConfigureResult> {
    const { storage, recorder } = this.#ports;
    const memory = this.#current();
    const decision = decideConfigure(storage.configLoad(), config, (handoff) => storage.receivingLoad(handoff)?.sealed === true);
    if (decision.kind === "repeat") return { ok: true };
    if (decision.kind === "refuse") return decision.result;
    try {
      storage.transaction(() => applyConfig(storage, memory, decision.next));
    } catch (error) {
      this.#forget(error);
      throw error;
    }
    const { owned, ranges, frozen, receiving, retired } = config;
    recorder.log("debug", "owner configured", {
      epoch: config.epoch,
      owned: owned.length,
      ranges: ranges.length,
      frozen: frozen.length,
      receiving: receiving.length,
      retired,
    });
    return { ok: true };
  }

  /** One result per item, in order; refusals are results, and an item's result does not depend on the items after it. */
  async allocate(items: AllocateItem[]): Promise<AllocateAnswer> {
    assertCall(items);
    for (const item of items) assertHolder(item.holder);
    for (const { address, family } of items) assert(address === "" || familyOf(address) === family, "a static request is of its family");
    const outcome = await this.#batcher.submit({ kind: "allocate", items });
    assert(outcome.kind === "allocate", "an operation gets the outcome of its kind");
    return { epoch: outcome.epoch, results: outcome.results, free: outcome.free };
  }

  /** Safe to repeat, and harmless when late: it can free only what this very token holds. */
  async release(items: ReleaseItem[]): Promise<ReleaseResult[]> {
    assertCall(items);
    const outcome = await this.#batcher.submit({ kind: "release", items });
    assert(outcome.kind === "release", "an operation gets the outcome of its kind");
    return outcome.results;
  }

  /**
   * Takes addresses of existing objects, allocatable or not. `stale` unless `epoch` is in force here and its configuration allows the seed. An
   * address outside is skipped: a caller that knows the owned segments may conclude that it was not meant for this owner.
   */
  async seed(epoch: number, items: SeedItem[]): Promise<"ok" | "stale"> {
    assertCall(items);
    for (const item of items) assertHolder(item.holder);
    assert(!items.some(({ address }) => address === ""), "a seed names its address");
    const outcome = await this.#batcher.submit({ kind: "seed", epoch, items });
    assert(outcome.kind === "seed", "an operation gets the outcome of its kind");
    return outcome.result;
  }

  /**
   * Rows written after `afterPosition`, at most `limit` and never more than OWNER_ROWS_PER_ANSWER_MAX. Rows of frozen and received segments are
   * included, so that the caller misses none, however the hand-off ends.
   */
  async rowsSince(afterPosition: number, limit: number): Promise<{ epoch: number; rows: AddressRow[] }> {
    const { config } = this.#current();
    return { epoch: config.epoch, rows: rowsBehind(this.#ports.storage, afterPosition, limit).map(toAddressRow) };
  }

  /**
   * Counts the rows of Services in each interval, frozen segments included. As upstream, IPAddress objects of clients keep no ServiceCIDR: their
   * rows go with the claim. The cost is linear in the count: topology changes ask, not requests.
   */
  async countTaken(intervals: AddressInterval[]): Promise<{ epoch: number; taken: number[] }> {
    const { config } = this.#current();
    return { epoch: config.epoch, taken: serviceRowsIn(this.#ports.storage, intervals) };
  }

  /** Free allocatable addresses now; frozen segments give none. */
  async free(): Promise<{ epoch: number; free: AllocateAnswer["free"] }> {
    const memory = this.#current();
    return { epoch: memory.config.epoch, free: freeOf(memory) };
  }

  async partition(prefixes: string[], rowsMax: number): ReturnType<ServiceCIDRRpc["partition"]> {
    const { config } = this.#current();
    return { epoch: config.epoch, pieces: partition(this.#ports.storage, prefixes.map(parseCanonical), rowsMax) };
  }

  async copyOut(handoff: Receiving, after: string): Promise<CopyOutResult> {
    return copyOut(this.#ports.storage, this.#current().config, { ...handoff, after, rowsMax: this.#ports.copyRowsMax ?? COPY_ROWS_MAX });
  }

  /** Durable when it answers; safe to repeat. */
  async receive(handoff: number, chunk: CopyChunk): Promise<ReceiveResult> {
    const { storage, recorder } = this.#ports;
    const memory = this.#current();
    try {
      return storage.transaction(() => receive(storage, memory, handoff, chunk));
    } catch (error) {
      this.#memory = undefined;
      if (!(error instanceof HandoffConflict)) throw error;
      recorder.log("warn", "a hand-off conflicts with the rows of its target", { handoff, error: error.message });
      return { ok: false, reason: "conflict" };
    }
  }

  /** Commits and items so far, and the taken addresses of each interval. With frozen segments, which have no bitmap, rows are counted. */
  async usage(intervals: AddressInterval[]): Promise<{ drains: number; weight: number; taken: number[] }> {
    const taken = takenCounts(this.#ports.storage, this.#current(), intervals);
    const { drains, weight } = this.counters;
    return { drains, weight, taken };
  }

  /** Counts rows, so the answer is right for segments on their way to or from another owner, too. */
  async takenIn(interval: AddressInterval): Promise<{ epoch: number; offsets: Uint32Array }> {
    const offsets = takenOffsets(this.#ports.storage, interval);
    return { epoch: this.#current().config.epoch, offsets };
  }

  /** The rows of addresses (canonical texts); `stale` where this owner may not speak for the address. */
  async rowsOf(addresses: string[]): Promise<(AddressRow | null | "stale")[]> {
    return rowsAtAddresses(this.#ports.storage, this.#current(), addresses);
  }

  /** Compares the bitmap with the rows, which are the truth, and rebuilds it from them when it differs. */
  async checkBitmap(afterPosition: number, limit: number): Promise<BitmapCheck> {
    const { storage, recorder } = this.#ports;
    const memory = this.#current();
    const rows = storage.rowsSince(afterPosition, limit);
    const fault = bitmapFault(storage, memory, { afterPosition, rows });
    if (fault === undefined) return { next: rows.length < limit ? 0 : (rows.at(-1)?.position ?? 0), rebuilt: false };
    recorder.log("error", "the bitmap of an owner differs from its rows", { epoch: memory.config.epoch, error: fault });
    this.#memory = undefined;
    this.#current();
    return { next: 0, rebuilt: true };
  }

  async inspect(afterPosition: number, limit: number): ReturnType<InspectedOwner["inspect"]> {
    const { storage } = this.#ports;
    const memory = this.#current();
    const rows = rowsBehind(storage, afterPosition, limit);
    const differs = bitmapFault(storage, memory, { afterPosition, rows }) ?? "";
    return { epoch: memory.config.epoch, rows: rows.map(toAddressRow), differs };
  }

  #current(): OwnerMemory {
    // After a failure the pages are not trusted: they may have had an address free that has a row, which made the transaction fail.
    this.#memory ??= loadMemory(this.#ports.storage, this.#ports, false);
    return this.#memory;
  }

  #end(error: unknown): void {
    this.#ports.recorder.log("error", COMMIT_LOST, { error: String(error) });
    this.#ports.abort(COMMIT_LOST);
  }

  #forget(error: unknown): void {
    this.#memory = undefined;
    this.#ports.recorder.log("error", "an owner lost a transaction", { error: String(error) });
  }
}
