/** What the controller of pools knows of pools, claims and addresses: facts, and beside them what of each pool is free. */
import type { KubeObject } from "../api/meta/kubernetes";
import {
  ADDRESS_FINALIZER,
  type AddressClaim,
  type AddressPool,
  askedLength,
  CLAIM_FINALIZER,
  CLUSTER_RANGE_FINALIZER,
  isPaused,
  isPrefixPool,
  keyOfPool,
  partsOfPoolKey,
  POOL_FINALIZER,
  type PoolAddress,
  type PoolCounts,
  type PoolKey,
  type PoolKind,
  poolKeyOf,
} from "../api/registry/ipam/ipam";
import type { PoolFacts } from "../api/rpc/pool-book";
import { rowHolder } from "../api/registry/ipam/fleet-rows";
import { serviceHolding } from "../api/registry/ipam/service-row";
import { formatAddress } from "../core/net/address";
import { type Block, blockAround, intervalOnLine, prefixOf } from "../core/net/block";
import { type Family, widthOf } from "../core/net/family";
import { type FactRows, KeptFacts } from "../controllers/followed/kept-facts";
import { FreePrefixes } from "./free-prefixes";
import { heldBy } from "./held-addresses";
import { factsOf, intervalsOf } from "./pool-facts";
import { AddressSpace, type PoolSpace } from "./pool-space";

export const READY = "Ready";
/** where the addresses of IPv6 begin on the line that both families share */
const IPV6_FROM = 1n << 32n;

/** As rows keep an address: on a line of both families, where the same number of the other family is another place. */
function placeOf(family: Family, value: bigint): bigint {
  return family === "IPv4" ? value : IPV6_FROM + value;
}

/** What somebody has at a place. */
export function blockOf({ place = "0", length }: Pick<AddressFacts, "place" | "length">): Block {
  const value = BigInt(place);
  const family = value < IPV6_FROM ? "IPv4" : "IPv6";
  return blockAround(family, family === "IPv4" ? value : value - IPV6_FROM, length ?? widthOf(family));
}

/** The text of the first address of a block. */
export function addressAt(block: Block): string {
  const { family, base } = prefixOf(block);
  return formatAddress(family, base);
}

/** `ready`: status and reason of its condition. `has`: the address that its status names. */
export interface ClaimFacts {
  readonly uid: string;
  readonly pool: PoolKey;
  readonly createdAt: number;
  readonly deletedAt?: number;
  readonly isHeld?: true;
  readonly has?: string;
  readonly ready?: string;
  readonly isPaused?: true;
  /** of the prefix that it asks for; absent = that of its pool */
  readonly length?: number;
  /** A cluster has what it was given: nothing is taken back. */
  readonly isInUse?: true;
}

export interface AddressFacts {
  /** absent = it is of a pool of somebody else: it has its name, and nothing of any pool here */
  readonly pool?: PoolKey;
  /** the claim that owns it, by uid; absent = it names none */
  readonly owner?: string;
  /** see `placeOf` */
  readonly place?: string;
  /** of the prefix that it has; absent = it has one address */
  readonly length?: number;
  /** It names another claim than that of its own name. */
  readonly isForOther?: true;
  /** A Service of type LoadBalancer has it, or another cluster: it is no matter of claims here. */
  readonly isOfService?: true;
  readonly createdAt: number;
  readonly isHeld?: true;
  readonly deletedAt?: number;
}

export interface KnownPool {
  readonly uid: string;
  readonly facts: PoolFacts;
  /** of the network of its addresses */
  readonly prefix: number;
  readonly gateway?: string;
  readonly graceMs: number;
  readonly isHeld?: true;
  readonly isDeleted?: true;
  readonly isPaused?: true;
  readonly counts?: PoolCounts;
}

export function claimFacts(claim: AddressClaim): ClaimFacts | undefined {
  const { metadata, spec, status } = claim;
  const pool = poolKeyOf(spec?.poolRef, metadata?.namespace);
  if (pool === undefined) return undefined;
  const condition = status?.conditions?.find(({ type }) => type === READY);
  const has = status?.addressRef?.name;
  const length = isPrefixPool(partsOfPoolKey(pool).kind) ? askedLength(claim) : undefined;
  return {
    uid: metadata?.uid ?? "",
    pool,
    createdAt: Date.parse(metadata?.creationTimestamp ?? "") || 0,
    ...(metadata?.deletionTimestamp && { deletedAt: Date.parse(metadata.deletionTimestamp) }),
    ...(metadata?.finalizers?.includes(CLAIM_FINALIZER) && { isHeld: true }),
    ...(has && { has }),
    ...(condition && { ready: `${condition.status}/${condition.reason}` }),
    ...(isPaused(claim) && { isPaused: true }),
    ...(length !== undefined && { length }),
    ...(metadata?.finalizers?.includes(CLUSTER_RANGE_FINALIZER) && { isInUse: true }),
  };
}

export function addressFacts(address: PoolAddress): AddressFacts {
  const held = heldBy(address);
  const { metadata, spec } = address;
  const owner = claimOwning(address);
  return {
    ...(held && { pool: held.pool, place: String(placeOf(held.family, held.value)) }),
    ...(held && held.length < widthOf(held.family) && { length: held.length }),
    ...(spec?.claimRef?.name !== metadata?.name && { isForOther: true }),
    ...((serviceHolding(address) ?? rowHolder(address)) !== undefined && { isOfService: true }),
    createdAt: Date.parse(metadata?.creationTimestamp ?? "") || 0,
    ...(owner !== undefined && { owner }),
    ...(metadata?.finalizers?.includes(ADDRESS_FINALIZER) && { isHeld: true }),
    ...(metadata?.deletionTimestamp && { deletedAt: Date.parse(metadata.deletionTimestamp) }),
  };
}

/** The uid of the claim that owns the address; undefined = it names none. */
export function claimOwning({ metadata }: KubeObject): string | undefined {
  return metadata?.ownerReferences?.find(({ kind, controller }) => kind === "IPAddressClaim" && controller)?.uid;
}

function knownPool(pool: AddressPool): KnownPool {
  const { metadata, spec, status } = pool;
  return {
    uid: metadata?.uid ?? "",
    facts: factsOf(pool),
    prefix: spec?.prefix ?? 0,
    ...(spec?.gateway && { gateway: spec.gateway }),
    graceMs: (spec?.addressReuseGracePeriodSeconds ?? 0) * 1_000,
    ...(metadata?.finalizers?.includes(POOL_FINALIZER) && { isHeld: true }),
    ...(metadata?.deletionTimestamp && { isDeleted: true }),
    ...(isPaused(pool) && { isPaused: true }),
    ...(status?.ipAddresses && { counts: status.ipAddresses }),
  };
}

/** What is free in every pool that is there, or of which somebody has an address. */
export class PoolSpaces {
  readonly #spaces = new Map<PoolKey, PoolSpace>();

  of(pool: PoolKey): PoolSpace {
    const found = this.#spaces.get(pool);
    if (found) return found;
    const made = isPrefixPool(partsOfPoolKey(pool).kind) ? new FreePrefixes() : new AddressSpace();
    this.#spaces.set(pool, made);
    return made;
  }

  /** pools that have a space here */
  get pools(): Iterable<PoolKey> {
    return this.#spaces.keys();
  }

  /** A pool that is not there, and of which nobody has an address, is forgotten. */
  drop(pool: PoolKey): void {
    this.#spaces.delete(pool);
  }
}

export class PoolAddresses extends KeptFacts<PoolAddress, AddressFacts> {
  readonly #ofClaims = new Set<string>();

  constructor(
    rows: FactRows,
    private readonly spaces: PoolSpaces,
  ) {
    super(rows, "addresses", addressFacts);
  }

  /** Keys of all but those of Services and of other clusters, which may be many more. */
  get ofClaims(): Iterable<string> {
    return this.#ofClaims;
  }

  protected override entered(key: string, facts: AddressFacts): void {
    if (!facts.isOfService) this.#ofClaims.add(key);
    if (facts.pool !== undefined && facts.place !== undefined) this.spaces.of(facts.pool).take(blockOf(facts), key);
  }

  protected override left(key: string, facts: AddressFacts): void {
    this.#ofClaims.delete(key);
    if (facts.pool !== undefined && facts.place !== undefined) this.spaces.of(facts.pool).release(blockOf(facts), key);
  }
}

/** The pools of one kind, by the key of their objects. */
export class PoolsOfKind extends KeptFacts<AddressPool, KnownPool> {
  /** those of which the book has not heard since they changed */
  readonly unsettled = new Set<PoolKey>();
  /** what was entered last */
  readonly #entered = new Map<PoolKey, string>();

  constructor(
    rows: FactRows,
    private readonly poolKind: PoolKind,
    private readonly spaces: PoolSpaces,
  ) {
    super(rows, poolKind, knownPool);
  }

  poolKey(key: string): PoolKey {
    const [namespace = "", name = namespace] = key.split("/");
    return keyOfPool(this.poolKind, { metadata: { namespace, name } });
  }

  /** Forgets the pools that are not there, and of which nobody has an address. Answers which they were. */
  forgetGone(): PoolKey[] {
    const isGone = (pool: PoolKey): boolean => {
      const { kind, namespace, name } = partsOfPoolKey(pool);
      return kind === this.poolKind && !this.get(namespace === "" ? name : `${namespace}/${name}`) && !this.spaces.of(pool).isUsed;
    };
    const gone = [...this.spaces.pools].filter(isGone);
    for (const pool of gone) {
      this.unsettled.delete(pool);
      this.#entered.delete(pool);
      this.spaces.drop(pool);
    }
    return gone;
  }

  protected override entered(key: string, { uid, facts, isDeleted }: KnownPool): void {
    const pool = this.poolKey(key);
    const now = JSON.stringify([uid, facts, isDeleted ?? false]);
    // Its counts change with each claim.
    if (this.#entered.get(pool) === now) return;
    this.#entered.set(pool, now);
    const { family, unit = widthOf(family) } = facts;
    const intervals = intervalsOf(facts).map((interval) => intervalOnLine(family, interval));
    this.spaces.of(pool).give(intervals, widthOf(family) - unit);
    this.unsettled.add(pool);
  }
}
