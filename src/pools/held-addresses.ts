/**
 * Which IPAddress objects hold which addresses of which pools, those of somebody else's pools included: they are addresses, too. What an object of a pool of
 * prefixes holds is the whole prefix. Memory alone: it is read from the objects, in the same storage.
 */
import { rootRowOf } from "../api/registry/ipam/fleet-rows";
import { isPrefixPool, keyAtRoot, partsOfPoolKey, type PoolAddress, type PoolKey, poolKeyOf } from "../api/registry/ipam/ipam";
import { keyOf } from "../api/meta/object-key";
import { type Block, blockAround } from "../core/net/block";
import { BlockMap } from "../core/net/block-map";
import { formatAddress, parseAddress } from "../core/net/address";
import { type Family, widthOf } from "../core/net/family";
import type { Interval } from "../core/net/interval";
import { formatPrefix, lastOf, prefixAround } from "../core/net/prefix";

/** Addresses that one object may hold. */
export interface HeldPlace {
  readonly family: Family;
  /** the first of them */
  readonly value: bigint;
  /** of their prefix; that of the family's width = one address */
  readonly length: number;
}

export interface PoolHolding extends HeldPlace {
  readonly key: string;
  readonly pool: PoolKey;
  /** The pool is somebody else's, or that of the root. */
  readonly isForeign?: true;
}

/** undefined = the object is of a pool of somebody else. */
export function heldBy(object: PoolAddress): PoolHolding | undefined {
  const pool = poolKeyOf(object.spec?.poolRef, object.metadata?.namespace);
  const address = parseAddress(object.spec?.address ?? "");
  if (pool === undefined || !address.ok) return undefined;
  const { family, value } = address.value;
  const width = widthOf(family);
  const { prefix = width } = object.spec ?? {};
  // What is stored may be damaged.
  const length = isPrefixPool(partsOfPoolKey(pool).kind) && Number.isInteger(prefix) && prefix >= 0 && prefix < width ? prefix : width;
  const own = rootRowOf(object) === undefined ? pool : keyAtRoot(pool);
  return { key: keyOf(object), pool: own, family, value: prefixAround(family, value, length).base, length };
}

/** Also of a pool of somebody else, whose key begins with kind and group; undefined = the object has no address. */
export function holdingOf(object: PoolAddress): PoolHolding | undefined {
  const own = heldBy(object);
  if (own) return rootRowOf(object) === undefined ? own : { ...own, isForeign: true };
  const address = parseAddress(object.spec?.address ?? "");
  if (!address.ok) return undefined;
  const { family, value } = address.value;
  const { kind = "", apiGroup = "", name = "" } = object.spec?.poolRef ?? {};
  const pool = `${kind}.${apiGroup}/${object.metadata?.namespace ?? ""}/${name}`;
  return { key: keyOf(object), pool, family, value, length: widthOf(family), isForeign: true };
}

export function addressesOf({ family, value, length }: HeldPlace): Interval {
  return { first: value, last: lastOf({ family, base: value, length }) };
}

/** As messages name it: an address, or a prefix. */
export function placeText({ family, value, length }: HeldPlace): string {
  return length === widthOf(family) ? formatAddress(family, value) : formatPrefix({ family, base: value, length });
}

export class HeldAddresses {
  readonly #byKey = new Map<string, PoolHolding>();
  readonly #byPlace = new BlockMap<Set<PoolHolding>>();
  readonly #byPool = new Map<PoolKey, Set<PoolHolding>>();

  get all(): Iterable<PoolHolding> {
    return this.#byKey.values();
  }

  /** those that have an address of these */
  *having(place: HeldPlace): Iterable<PoolHolding> {
    for (const [, holdings] of this.#byPlace.overlapping(blockOf(place))) yield* holdings;
  }

  of(pool: PoolKey): ReadonlySet<PoolHolding> {
    return this.#byPool.get(pool) ?? new Set();
  }

  /** The object of this key is as given; undefined = it is gone, or holds nothing. */
  set(key: string, held: PoolHolding | undefined): void {
    const before = this.#byKey.get(key);
    if (before) {
      this.#byKey.delete(key);
      drop(this.#byPlace, blockOf(before), before);
      drop(this.#byPool, before.pool, before);
    }
    if (!held) return;
    this.#byKey.set(key, held);
    add(this.#byPlace, blockOf(held), held);
    add(this.#byPool, held.pool, held);
  }
}

function blockOf({ family, value, length }: HeldPlace): Block {
  return blockAround(family, value, length);
}

interface Sets<K> {
  get(key: K): Set<PoolHolding> | undefined;
  set(key: K, holdings: Set<PoolHolding>): unknown;
  delete(key: K): unknown;
}

function add<K>(map: Sets<K>, key: K, held: PoolHolding): void {
  const found = map.get(key);
  if (found) found.add(held);
  else map.set(key, new Set([held]));
}

function drop<K>(map: Sets<K>, key: K, held: PoolHolding): void {
  const found = map.get(key);
  found?.delete(held);
  if (found?.size === 0) map.delete(key);
}
