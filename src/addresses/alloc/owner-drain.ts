/**
 * What one operation does to an owner: the rules for allocate, release and seed (rules 1–3 and 13). It runs inside the drain's transaction.
 * Refusals are results; a throw undoes the whole drain and has memory reloaded.
 *
 * The first row that matches the named address decides:
 *
 * | the address is                                   | allocate       | release            |
 * |--------------------------------------------------|----------------|--------------------|
 * | anything, owner retired or never configured      | stale          | stale              |
 * | outside the owned segments                       | stale          | stale              |
 * | in a frozen segment                              | frozen         | stale              |
 * | not in the zone that is asked for                | stale          |                    |
 * | held by a row with this token                    | the same again | row deleted        |
 * | held by another token, or by nobody              | see below      | nothing, remembered|
 *
 * Every release has its token remembered, even when it deleted a row: an allocate call that arrives late is refused.
 */
import { assert } from "../../core/base/assert";
import { formatAddress, parseAddress } from "../../core/net/address";
import type { Band } from "../../core/net/band";
import type { Family } from "../../core/net/family";
import { relation } from "../../core/net/prefix";
import { OPEN_ZONE } from "../../core/net/zones";
import { type AllocateItem, type AllocateResult, ANY_ZONE, type Holder, type ReleaseItem, type ReleaseResult } from "../rpc/service-cidr";
import { someContains } from "./active-config";
import { addressKey, parseAddressKey } from "./owner-key";
import type { OwnerMemory } from "./owner-memory";
import type { OwnerStorage, StoredRow } from "./owner-storage";

/** An address that an object has already: an IPAddress, or a Service that lost its row. */
export interface SeedItem {
  address: string;
  holder: Holder;
  token: string;
}

interface FamilyAddress {
  family: Family;
  address: bigint;
}

/** One drain's view of storage, memory and time. */
export class OwnerDrain {
  readonly #storage: OwnerStorage;
  readonly #memory: OwnerMemory;
  readonly #nowMs: number;

  constructor(storage: OwnerStorage, memory: OwnerMemory, nowMs: number) {
    this.#storage = storage;
    this.#memory = memory;
    this.#nowMs = nowMs;
  }

  /** Static (`address` given) or dynamic allocation of one address. */
  allocate(item: AllocateItem): AllocateResult {
    if (this.#memory.config.owned.length === 0) return { ok: false, reason: "stale" };
    const row = this.#storage.rowByToken(item.token);
    if (row !== undefined) return this.#again(item, row);
    if (this.#memory.released.has(item.token, this.#nowMs)) return { ok: false, reason: "released" };
    if (this.#isUnaware(item)) return { ok: false, reason: "stale" };
    return item.address === "" ? this.#allocateDynamic(item) : this.#allocateStatic(item, this.#placeOf(item.address));
  }

  /**
   * Frees the address if its row carries the token. Address "" stands for the address that the token holds: the answer of a dynamic allocation
   * was lost, so its caller does not know the address.
   */
  release(item: ReleaseItem): ReleaseResult {
    if (this.#memory.config.owned.length === 0) return "stale";
    const place = item.address === "" ? this.#placeOfToken(item.token) : this.#placeOf(item.address);
    if (place !== undefined) {
      if (!this.#memory.pool.isOwned(place.family, place.address)) return "stale";
      this.#delete(place, item.token);
    }
    this.#memory.released.add(item.token);
    return "released";
  }

  /** Whether this configuration allows the seed: a frozen segment takes nothing, and a closed owner takes nothing for Services. */
  maySeed(epoch: number, items: readonly SeedItem[]): boolean {
    const { config } = this.#memory;
    if (config.retired || epoch !== config.epoch) return false;
    if (config.closed && items.some(({ holder }) => holder.kind === "service")) return false;
    return !items.some(({ address }) => this.#isFrozen(this.#placeOf(address)));
  }

  /** Takes the address, unless it lies outside, is held already, or its token holds a row or was released. */
  seed(item: SeedItem): void {
    const place = this.#placeOf(item.address);
    const { pool } = this.#memory;
    if (!pool.isOwned(place.family, place.address) || pool.isTaken(place.family, place.address)) return;
    if (this.#storage.rowByToken(item.token) !== undefined || this.#memory.released.has(item.token, this.#nowMs)) return;
    const band = this.#bandOf(place);
    pool.take(place.family, place.address);
    this.#insert(place, band, item);
  }

  #allocateStatic(item: AllocateItem, place: FamilyAddress): AllocateResult {
    const { pool } = this.#memory;
    if (!pool.isOwned(place.family, place.address)) return { ok: false, reason: this.#isFrozen(place) ? "frozen" : "stale" };
    if (pool.isTaken(place.family, place.address)) return { ok: false, reason: "taken" };
    if (!pool.isAllocatable(place.family, place.address)) return { ok: false, reason: "notAllocatable" };
    if (!this.#isInZone(item, place)) return { ok: false, reason: "stale" };
    const band = pool.bandOf(place.family, place.address);
    pool.take(place.family, place.address);
    return this.#insert(place, band, item);
  }

  #allocateDynamic(item: AllocateItem): AllocateResult {
    const { pool, config } = this.#memory;
    const zone = item.zone === ANY_ZONE ? OPEN_ZONE : (item.zone ?? OPEN_ZONE);
    // The zone may be new, or may have gone: where it is nothing here, "full" would be no answer about it.
    if (zone !== OPEN_ZONE && !config.zoneTexts.has(zone)) return { ok: false, reason: "stale" };
    const pick = pool.allocateDynamic(item.family, item.dynamicOnly, zone);
    if (pick === undefined) return { ok: false, reason: this.#mayThaw(item.family) ? "frozen" : "full" };
    return this.#insert({ family: item.family, address: pick.address }, pick.band, item);
  }

  /** The answer to a token that has a row already: the same address, unless this owner may not speak for the row now. */
  #again(item: AllocateItem, row: StoredRow): AllocateResult {
    const place = parseAddressKey(row.key);
    assert(place.family === item.family, "a token belongs to one allocation, of one family");
    // The row lies in a frozen segment, or in one that is still being received.
    if (!this.#memory.pool.isOwned(place.family, place.address)) return { ok: false, reason: "frozen" };
    const address = formatAddress(place.family, place.address);
    assert(item.address === "" || item.address === address, "a token belongs to one allocation, of one address");
    return { ok: true, address, gen: row.gen, scope: row.band };
  }

  #insert(place: FamilyAddress, band: Band, item: { token: string; holder: Holder }): AllocateResult {
    const position = ++this.#memory.counter;
    const gen = { epoch: this.#memory.config.epoch, counter: position };
    const { kind, namespace, name, uid } = item.holder;
    const holder: Holder = { kind, namespace, name, uid };
    this.#storage.rowInsert({ key: addressKey(place.family, place.address), position, token: item.token, gen, band, holder });
    return { ok: true, address: formatAddress(place.family, place.address), gen, scope: band };
  }

  #delete(place: FamilyAddress, token: string): void {
    if (!this.#storage.rowDelete(addressKey(place.family, place.address), token)) return;
    const wasTaken = this.#memory.pool.release(place.family, place.address);
    assert(wasTaken, "an address with a row is taken in the bitmap");
  }

  #bandOf({ family, address }: FamilyAddress): Band {
    const { pool } = this.#memory;
    return pool.isAllocatable(family, address) ? pool.bandOf(family, address) : "static";
  }

  /** Whether a store asks for a Service without knowing that zones are kept apart. */
  #isUnaware({ holder, zone }: AllocateItem): boolean {
    return this.#memory.config.zoned && zone === undefined && holder.kind === "service";
  }

  #isInZone({ zone }: AllocateItem, { family, address }: FamilyAddress): boolean {
    return zone === undefined || zone === ANY_ZONE || this.#memory.pool.zoneOf(family, address) === zone;
  }

  #isFrozen(place: FamilyAddress): boolean {
    return someContains(this.#memory.config.frozen, place.family, place.address);
  }

  /** Whether a part of a frozen segment of the family is allocatable: then "full" would be premature. */
  #mayThaw(family: Family): boolean {
    const { frozen, ranges } = this.#memory.config;
    return frozen.some((segment) => segment.family === family && ranges.some((range) => relation(range, segment) !== "disjoint"));
  }

  #placeOf(text: string): FamilyAddress {
    const parsed = parseAddress(text);
    assert(parsed.ok, "addresses in calls are canonical text");
    return { family: parsed.value.family, address: parsed.value.value };
  }

  #placeOfToken(token: string): FamilyAddress | undefined {
    const row = this.#storage.rowByToken(token);
    return row === undefined ? undefined : parseAddressKey(row.key);
  }
}
