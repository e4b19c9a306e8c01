/** What the controller of pools knows of pools, claims and addresses: facts, and beside them which addresses of each pool are free. */
import type { KubeObject } from "../api/meta/kubernetes";
import {
  ADDRESS_FINALIZER,
  type AddressClaim,
  type AddressPool,
  CLAIM_FINALIZER,
  isPaused,
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
import { serviceHolding } from "../api/registry/ipam/service-row";
import { integerOf } from "../core/encoding/exact-json";
import { formatAddress } from "../core/net/address";
import type { Family } from "../core/net/family";
import { type FactRows, KeptFacts } from "../controllers/followed/kept-facts";
import { FreeAddresses } from "./free-addresses";
import { heldBy } from "./held-addresses";
import { factsOf, intervalsOf } from "./pool-facts";

export const READY = "Ready";
const INT64_MAX = 2n ** 63n - 1n;
/** where the addresses of IPv6 begin on the line that both families share */
const IPV6_FROM = 1n << 32n;

/** An address on the line of both families: the same number of the other family is another place. */
function placeOf(family: Family, value: bigint): bigint {
  return family === "IPv4" ? value : IPV6_FROM + value;
}

/** The text of the address at a place. */
export function addressAt(place: bigint): string {
  return place < IPV6_FROM ? formatAddress("IPv4", place) : formatAddress("IPv6", place - IPV6_FROM);
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
}

export interface AddressFacts {
  /** absent = it is of a pool of somebody else: it has its name, and nothing of any pool here */
  readonly pool?: PoolKey;
  /** the claim that owns it, by uid; absent = it names none */
  readonly owner?: string;
  /** see `placeOf` */
  readonly place?: string;
  /** It names another claim than that of its own name. */
  readonly isForOther?: true;
  /** A Service of type LoadBalancer has it: it is no matter of claims. */
  readonly isOfService?: true;
  readonly createdAt: number;
  readonly isHeld?: true;
  readonly deletedAt?: number;
}

export interface KnownPool {
  readonly uid: string;
  readonly facts: PoolFacts;
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
  return {
    uid: metadata?.uid ?? "",
    pool,
    createdAt: Date.parse(metadata?.creationTimestamp ?? "") || 0,
    ...(metadata?.deletionTimestamp && { deletedAt: Date.parse(metadata.deletionTimestamp) }),
    ...(metadata?.finalizers?.includes(CLAIM_FINALIZER) && { isHeld: true }),
    ...(has && { has }),
    ...(condition && { ready: `${condition.status}/${condition.reason}` }),
    ...(isPaused(claim) && { isPaused: true }),
  };
}

export function addressFacts(address: PoolAddress): AddressFacts {
  const held = heldBy(address);
  const { metadata, spec } = address;
  const owner = claimOwning(address);
  return {
    ...(held && { pool: held.pool, place: String(placeOf(held.family, held.value)) }),
    ...(spec?.claimRef?.name !== metadata?.name && { isForOther: true }),
    ...(serviceHolding(address) !== undefined && { isOfService: true }),
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

/** The free addresses of every pool that is there, or of which somebody has an address. */
export class PoolSpaces {
  readonly #spaces = new Map<PoolKey, FreeAddresses>();

  of(pool: PoolKey): FreeAddresses {
    const found = this.#spaces.get(pool);
    if (found) return found;
    const made = new FreeAddresses();
    this.#spaces.set(pool, made);
    return made;
  }

  /** pools that have free addresses here */
  get pools(): Iterable<PoolKey> {
    return this.#spaces.keys();
  }

  /** A pool that is not there, and of which nobody has an address, is forgotten. */
  drop(pool: PoolKey): void {
    this.#spaces.delete(pool);
  }

  /** What the status of the pool is to say. A total beyond 2^63-1 is that. */
  counts(pool: PoolKey): PoolCounts {
    const space = this.of(pool);
    const total = space.total > INT64_MAX ? INT64_MAX : space.total;
    return {
      total: integerOf(total),
      free: integerOf(total - BigInt(space.used)),
      used: space.used,
      outOfRange: space.outside,
    };
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

  /** Keys of all but those of Services, which may be many more. */
  get ofClaims(): Iterable<string> {
    return this.#ofClaims;
  }

  protected override entered(key: string, { pool, place, isOfService }: AddressFacts): void {
    if (!isOfService) this.#ofClaims.add(key);
    if (pool !== undefined && place !== undefined) this.spaces.of(pool).take(BigInt(place), key);
  }

  protected override left(key: string, { pool, place }: AddressFacts): void {
    this.#ofClaims.delete(key);
    if (pool !== undefined && place !== undefined) this.spaces.of(pool).release(BigInt(place), key);
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
      return kind === this.poolKind && !this.get(namespace === "" ? name : `${namespace}/${name}`) && this.spaces.of(pool).used === 0;
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
    const { family } = facts;
    this.spaces
      .of(pool)
      .give(intervalsOf(facts).map(({ first, last }) => ({ first: placeOf(family, first), last: placeOf(family, last) })));
    this.unsettled.add(pool);
  }
}
