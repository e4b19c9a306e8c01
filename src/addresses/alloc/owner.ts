/**
 * The owner: brain of one ServiceCIDR object, the single writer of the addresses in its segments. It calls nobody.
 *
 * What holds after every transaction:
 * - An address has at most one row (its key), and the bitmap has it taken exactly when it has one.
 * - Each new row has a greater gen than every row before, whatever was deleted or restarted meanwhile.
 * - A token has at most one row, and none while it is remembered as released.
 * - Rows exist only inside segments that are owned or being received. An owner that is retired or was never configured writes nothing.
 *
 * All allocate, release and seed calls of one turn of the event loop share one transaction (rows, changed pages and counter together), because
 * a commit costs more than everything else here. A refused call leaves nothing behind. A lost transaction rejects every call of its drain, and
 * memory, which has no undo, is read from storage again. A caller whose call was rejected knows nothing: it repeats the call with the same
 * token, or releases the token.
 *
 * The fence: an owner refuses what its configuration does not allow, so a router with an old topology meets `stale`, never a second owner.
 */
import { assert, InvariantError } from "../../core/base/assert";
import { type BatchCounters, Batcher } from "../../core/base/batch";
import {
  COPY_ROWS_MAX,
  OWNER_CALL_ITEMS_MAX,
  OWNER_HOLDER_CHARS_MAX,
  OWNER_INTERVALS_MAX,
  OWNER_QUEUE_ITEMS_MAX,
  OWNER_ROWS_PER_ANSWER_MAX,
  OWNER_TOKEN_CHARS_MAX,
  RELEASED_TOKENS_MAX,
} from "../rpc/limits";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { formatAddress, parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import type {
  AddressRow,
  AllocateAnswer,
  AllocateItem,
  AllocateResult,
  ConfigureResult,
  CopyChunk,
  CopyOutResult,
  Holder,
  InspectedOwner,
  OwnerConfig,
  ReceiveResult,
  Receiving,
  ReleaseItem,
  ReleaseResult,
  ServiceCIDRRpc,
} from "../rpc/service-cidr";
import type { BitmapCheck, RepairedOwner } from "../rpc/repair";
import { decideConfigure, parseCanonical } from "./active-config";
import { OwnerDrain, type SeedItem } from "./owner-drain";
import { copyOut, HandoffConflict, partition, receive } from "./owner-handoff";
import { type AddressKey, addressKey, parseAddressKey } from "./owner-key";
import { type OwnerMemory, applyConfig, loadMemory, savePages, verifyMemory, verifyRows } from "./owner-memory";
import type { OwnerStorage, StoredRow } from "./owner-storage";

export interface OwnerPorts {
  storage: OwnerStorage;
  clock: Clock;
  random: Random;
  recorder: Recorder;
  /** rows of one chunk of a hand-off; COPY_ROWS_MAX unless a test wants many small chunks */
  copyRowsMax?: number;
}

type Operation =
  | { kind: "allocate"; items: readonly AllocateItem[] }
  | { kind: "release"; items: readonly ReleaseItem[] }
  | { kind: "seed"; epoch: number; items: readonly SeedItem[] };

type Outcome =
  | { kind: "allocate"; results: AllocateResult[]; epoch: number; free: AllocateAnswer["free"] }
  | { kind: "release"; results: ReleaseResult[] }
  | { kind: "seed"; result: "ok" | "stale" };

/** A call found the queue full; nothing of it was applied. Only name and message survive RPC. */
class OwnerOverloadedError extends Error {
  override name = "OwnerOverloadedError";
}

export class Owner implements ServiceCIDRRpc, InspectedOwner, RepairedOwner {
  readonly #ports: OwnerPorts;
  readonly #batcher: Batcher<Operation, Outcome>;
  /** undefined: memory may differ from storage, and is read again before its next use */
  #memory: OwnerMemory | undefined;

  /** Reads the object's state. Throws when storage throws. */
  constructor(ports: OwnerPorts) {
    this.#ports = ports;
    this.#memory = loadMemory(ports.storage, ports, true);
    this.#batcher = new Batcher<Operation, Outcome>({
      clock: ports.clock,
      apply: (operations) => this.#apply(operations),
      refuse: () => {
        throw new OwnerOverloadedError("too many allocations wait for this ServiceCIDR object");
      },
      onFailure: (error) => this.#forget(error),
      queueWeightMax: OWNER_QUEUE_ITEMS_MAX,
      weigh: (operation) => operation.items.length,
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
    const rows = this.#ports.storage.rowsSince(afterPosition, Math.max(0, Math.min(limit, OWNER_ROWS_PER_ANSWER_MAX)));
    return { epoch: config.epoch, rows: rows.map(toAddressRow) };
  }

  /**
   * Counts the rows of Services in each interval, frozen segments included. As upstream, IPAddress objects of clients keep no ServiceCIDR: their
   * rows go with the claim. The cost is linear in the count: topology changes ask, not requests.
   */
  async countTaken(intervals: { first: string; last: string }[]): Promise<{ epoch: number; taken: number[] }> {
    assert(intervals.length <= OWNER_INTERVALS_MAX, "the intervals of one call are bounded");
    const { config } = this.#current();
    const taken = intervals.map(({ first, last }) => this.#ports.storage.serviceRowCount(keyOf(first), keyOf(last)));
    return { epoch: config.epoch, taken };
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
  async usage(intervals: { first: string; last: string }[]): Promise<{ drains: number; weight: number; taken: number[] }> {
    assert(intervals.length <= OWNER_INTERVALS_MAX, "the intervals of one call are bounded");
    const { config, pool } = this.#current();
    const taken = intervals.map(({ first, last }) => {
      const [low, high] = [keyOf(first), keyOf(last)];
      if (config.frozen.length > 0) return this.#ports.storage.rowCount(low, high);
      return pool.takenIn(parseAddressKey(low).family, parseAddressKey(low).address, parseAddressKey(high).address);
    });
    const { drains, weight } = this.counters;
    return { drains, weight, taken };
  }

  /** Counts rows, so the answer is right for segments on their way to or from another owner, too. */
  async takenIn({ first, last }: { first: string; last: string }): Promise<{ epoch: number; offsets: Uint32Array }> {
    const [low, high] = [keyOf(first), keyOf(last)];
    const base = parseAddressKey(low).address;
    assert(parseAddressKey(high).address - base < TAKEN_SPAN_MAX, "an interval of which all taken addresses are asked is bounded");
    const offsets: number[] = [];
    for (const key of this.#ports.storage.rowKeys(low, high)) offsets.push(Number(parseAddressKey(key).address - base));
    return { epoch: this.#current().config.epoch, offsets: Uint32Array.from(offsets) };
  }

  /** The rows of addresses (canonical texts); `stale` where this owner may not speak for the address. */
  async rowsOf(addresses: string[]): Promise<(AddressRow | null | "stale")[]> {
    assert(addresses.length <= OWNER_CALL_ITEMS_MAX, "the items of one call are bounded");
    const { pool } = this.#current();
    return addresses.map((text) => {
      const key = keyOf(text);
      const { family, address } = parseAddressKey(key);
      if (!pool.isOwned(family, address)) return "stale";
      const [row] = this.#ports.storage.rowsIn({ first: key, last: key, after: "" }, 1);
      return row ? toAddressRow(row) : null;
    });
  }

  /** Compares the bitmap with the rows, which are the truth, and rebuilds it from them when it differs. */
  async checkBitmap(afterPosition: number, limit: number): Promise<BitmapCheck> {
    const { storage, recorder } = this.#ports;
    const memory = this.#current();
    const rows = storage.rowsSince(afterPosition, limit);
    try {
      if (afterPosition === 0) verifyMemory(storage, memory, rows);
      else verifyRows(memory, rows);
    } catch (error) {
      if (!(error instanceof InvariantError)) throw error;
      recorder.log("error", "the bitmap of an owner differs from its rows", { epoch: memory.config.epoch, error: error.message });
      this.#memory = undefined;
      this.#current();
      return { next: 0, rebuilt: true };
    }
    return { next: rows.length < limit ? 0 : (rows.at(-1)?.position ?? 0), rebuilt: false };
  }

  async inspect(afterPosition: number, limit: number): ReturnType<InspectedOwner["inspect"]> {
    const { storage } = this.#ports;
    const memory = this.#current();
    const rows = storage.rowsSince(afterPosition, Math.max(0, Math.min(limit, OWNER_ROWS_PER_ANSWER_MAX)));
    const page = { epoch: memory.config.epoch, rows: rows.map(toAddressRow) };
    try {
      if (afterPosition === 0) verifyMemory(storage, memory, rows);
      else verifyRows(memory, rows);
    } catch (error) {
      if (!(error instanceof InvariantError)) throw error;
      return { ...page, differs: error.message };
    }
    return { ...page, differs: "" };
  }

  #apply(operations: readonly Operation[]): Outcome[] {
    const { storage, clock } = this.#ports;
    const memory = this.#current();
    const nowMs = clock.now();
    return storage.transaction(() => {
      const drain = new OwnerDrain(storage, memory, nowMs);
      const counterBefore = memory.counter;
      const outcomes = operations.map((operation) => applyOperation(drain, memory, operation));
      savePages(storage, memory.pool);
      if (memory.counter !== counterBefore) storage.counterSave(memory.counter);
      // It looks at more tokens than it added, so their number shrinks after a burst, and no drain pays much.
      if (drain.tokensReleased > 0) storage.releasedTrim({ nowMs, lookAt: 2 * drain.tokensReleased + 64, keepMax: RELEASED_TOKENS_MAX });
      const free = operations.some(({ kind }) => kind === "allocate") ? freeOf(memory) : NOTHING_FREE;
      for (const outcome of outcomes) if (outcome.kind === "allocate") outcome.free = free;
      return outcomes;
    });
  }

  #current(): OwnerMemory {
    // After a failure the pages are not trusted: they may have had an address free that has a row, which made the transaction fail.
    this.#memory ??= loadMemory(this.#ports.storage, this.#ports, false);
    return this.#memory;
  }

  #forget(error: unknown): void {
    this.#memory = undefined;
    this.#ports.recorder.log("error", "an owner lost a transaction", { error: String(error) });
  }
}

/** The addresses of the largest range of the old allocator. */
const TAKEN_SPAN_MAX = 2n ** 20n;
const NOTHING_FREE: AllocateAnswer["free"] = { IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } };

function applyOperation(drain: OwnerDrain, memory: OwnerMemory, operation: Operation): Outcome {
  switch (operation.kind) {
    case "allocate": {
      const results = operation.items.map((item) => drain.allocate(item));
      return { kind: "allocate", results, epoch: memory.config.epoch, free: NOTHING_FREE };
    }
    case "release":
      return { kind: "release", results: operation.items.map((item) => drain.release(item)) };
    case "seed":
      if (!drain.maySeed(operation.epoch, operation.items)) return { kind: "seed", result: "stale" };
      for (const item of operation.items) drain.seed(item);
      return { kind: "seed", result: "ok" };
  }
}

function freeOf({ pool }: OwnerMemory): AllocateAnswer["free"] {
  return { IPv4: pool.free("IPv4"), IPv6: pool.free("IPv6") };
}

function assertCall(items: readonly { token: string; address: string }[]): void {
  assert(items.length <= OWNER_CALL_ITEMS_MAX, "the items of one call are bounded");
  for (const { token, address } of items) {
    assert(token.length > 0 && token.length <= OWNER_TOKEN_CHARS_MAX, "a token is not empty and bounded");
    assert(address === "" || familyOf(address) !== undefined, "an address is canonical text or empty");
  }
}

function familyOf(address: string): Family | undefined {
  const parsed = parseAddress(address);
  return parsed.ok && parsed.value.canonical === address ? parsed.value.family : undefined;
}

function assertHolder(holder: Holder): void {
  for (const field of [holder.kind, holder.namespace, holder.name, holder.uid]) {
    assert(field.length <= OWNER_HOLDER_CHARS_MAX, "the fields of a holder are bounded");
  }
}

function keyOf(text: string): AddressKey {
  const parsed = parseAddress(text);
  assert(parsed.ok, "an interval's bounds are canonical text");
  return addressKey(parsed.value.family, parsed.value.value);
}

function formatKey(key: AddressKey): string {
  const { family, address } = parseAddressKey(key);
  return formatAddress(family, address);
}

function toAddressRow(row: StoredRow): AddressRow {
  return { address: formatKey(row.key), token: row.token, gen: row.gen, holder: row.holder, position: row.position };
}
