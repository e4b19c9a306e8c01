/**
 * Which IPAddress objects hold which addresses of which pools, those of somebody else's pools included: they are addresses, too. Memory alone: it is read
 * from the objects, in the same storage.
 */
import { type PoolAddress, type PoolKey, poolKeyOf } from "../api/registry/ipam/ipam";
import { keyOf } from "../api/meta/object-key";
import { parseAddress } from "../core/net/address";
import type { Family } from "../core/net/family";

export interface PoolHolding {
  readonly key: string;
  readonly pool: PoolKey;
  readonly family: Family;
  readonly value: bigint;
  /** The pool is somebody else's. */
  readonly isForeign?: true;
}

/** undefined = the object is of a pool of somebody else. */
export function heldBy(object: PoolAddress): PoolHolding | undefined {
  const pool = poolKeyOf(object.spec?.poolRef, object.metadata?.namespace);
  const address = parseAddress(object.spec?.address ?? "");
  if (pool === undefined || !address.ok) return undefined;
  return { key: keyOf(object), pool, family: address.value.family, value: address.value.value };
}

/** Also of a pool of somebody else, whose key begins with kind and group; undefined = the object has no address. */
export function holdingOf(object: PoolAddress): PoolHolding | undefined {
  const own = heldBy(object);
  if (own) return own;
  const address = parseAddress(object.spec?.address ?? "");
  if (!address.ok) return undefined;
  const { kind = "", apiGroup = "", name = "" } = object.spec?.poolRef ?? {};
  const pool = `${kind}.${apiGroup}/${object.metadata?.namespace ?? ""}/${name}`;
  return { key: keyOf(object), pool, family: address.value.family, value: address.value.value, isForeign: true };
}

export class HeldAddresses {
  readonly #byKey = new Map<string, PoolHolding>();
  readonly #byValue = new Map<string, Set<PoolHolding>>();
  readonly #byPool = new Map<PoolKey, Set<PoolHolding>>();

  get all(): Iterable<PoolHolding> {
    return this.#byKey.values();
  }

  /** those that have this address */
  having({ family, value }: Pick<PoolHolding, "family" | "value">): Iterable<PoolHolding> {
    return this.#byValue.get(`${family}/${value}`) ?? [];
  }

  of(pool: PoolKey): ReadonlySet<PoolHolding> {
    return this.#byPool.get(pool) ?? new Set();
  }

  /** The object of this key is as given; undefined = it is gone, or holds nothing. */
  set(key: string, held: PoolHolding | undefined): void {
    const before = this.#byKey.get(key);
    if (before) {
      this.#byKey.delete(key);
      drop(this.#byValue, `${before.family}/${before.value}`, before);
      drop(this.#byPool, before.pool, before);
    }
    if (!held) return;
    this.#byKey.set(key, held);
    add(this.#byValue, `${held.family}/${held.value}`, held);
    add(this.#byPool, held.pool, held);
  }
}

function add(map: Map<string, Set<PoolHolding>>, key: string, held: PoolHolding): void {
  const found = map.get(key);
  if (found) found.add(held);
  else map.set(key, new Set([held]));
}

function drop(map: Map<string, Set<PoolHolding>>, key: string, held: PoolHolding): void {
  const found = map.get(key);
  found?.delete(held);
  if (found?.size === 0) map.delete(key);
}
