/**
 * Pools in a simulated cluster: the stores of pools, claims and addresses, the book in the last one, the controller, and the comparison of ranges of
 * Services with pools. The objects have the right time: the book tells by it whether a write that claimed may still come.
 */
import type { ServiceCIDR } from "../../../../src/api/meta/kubernetes";
import { qualifiedResource } from "../../../../src/api/meta/status";
import { addressClaimsDefinition, poolAddressesDefinition, poolDefinitions } from "../../../../src/api/registry/ipam/definitions";
import {
  type AddressClaim,
  type AddressPool,
  askedLength,
  type PoolAddress,
  partsOfPoolKey,
  type PoolKind,
} from "../../../../src/api/registry/ipam/ipam";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import type { PoolAnswer, PoolBookRpc, RangeOfServices, StoredPool } from "../../../../src/api/rpc/pool-book";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { StoreExtension } from "../../../../src/api/store/state/extension";
import { overlap } from "../../../../src/core/net/interval";
import type { Controller } from "../../../../src/controllers/frame/controller";
import { UsedStores } from "../../../../src/controllers/followed/used-stores";
import { PlainStore, type PlainStorePorts } from "../../../../src/controllers/plain-store";
import { GuardedPools } from "../../../../src/pools/guarded-pools";
import { GuardedRanges } from "../../../../src/pools/guarded-ranges";
import { PoolBook, type PoolRow } from "../../../../src/pools/pool-book";
import { addressesOf } from "../../../../src/pools/held-addresses";
import { storedPool } from "../../../../src/pools/pool-facts";
import { poolsController } from "../../../../src/pools/pools-controller";
import {
  heldTwice,
  observedClaim,
  observedPool,
  type ObservedPoolAddress,
  observedPoolAddress,
  type ObservedPools,
  wrongPools,
} from "../../../../src/tools/check/pools";
import { MemoryRowStorage } from "../../memory/row-storage";
import { overriding } from "../../worlds/overriding";
import { controllerLife } from "../controller-life";
import { visitListOf } from "../peers";
import { JournaledMap } from "../platform/journal";
import { ALWAYS, type Caller, type Life, SimNode, whileAlive } from "../platform/network";
import { plainCopy } from "../platform/plain-copy";
import type { SimPlatform } from "../platform/platform";
import { storePorts } from "../stores";
import { StoreTables } from "../tables";

const POOLS: readonly ResourceDefinition[] = Object.values(poolDefinitions);
const ALL = [addressClaimsDefinition, poolAddressesDefinition, ...POOLS];
const HOLDERS = [poolAddressesDefinition, ...POOLS];

/** What a history of pools should come to. */
export const POOL_MARKS = [
  "pools overlap",
  "pool overlaps a range",
  "range overlaps a pool",
  "shrink refused",
  "deletion refused",
  "address outside",
  "claim exhausted",
  "controller died while claims waited",
  "book died in a write of a pool",
  "store of pools died in a write",
  "row settled behind a lost write",
] as const;
export type PoolMark = (typeof POOL_MARKS)[number];

/** Protections that are removed on purpose. Made anew for every history. */
export interface PoolSabotage {
  /** what stands in the write path of the store of addresses */
  book?<Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply>;
}

interface Stored {
  readonly definition: ResourceDefinition;
  readonly node: SimNode<PlainStore>;
  readonly tables: StoreTables;
}

export class SimPools {
  readonly controller: SimNode<Controller>;
  readonly marks = new Set<PoolMark>();
  /** addresses that were held twice at some moment */
  readonly twice = new Set<string>();
  readonly #stores = new Map<ResourceDefinition, Stored>();
  readonly #rows: JournaledMap<PoolRow>;
  readonly #controllerRows = new MemoryRowStorage();

  constructor(
    private readonly cluster: SimPlatform,
    private readonly sabotage: PoolSabotage = {},
  ) {
    for (const definition of ALL) this.#stores.set(definition, this.#stored(definition));
    this.#rows = new JournaledMap(this.#of(poolAddressesDefinition).tables.journal);
    this.controller = this.#makeController();
    this.#noteDeaths();
    cluster.poolsBeside = (life) => this.#guardedRanges(life);
    cluster.changed = () => this.#judge();
  }

  store(definition: ResourceDefinition): SimNode<PlainStore> {
    return this.#of(definition).node;
  }

  objects<T extends KubeObject>(definition: ResourceDefinition): T[] {
    return this.#of(definition)
      .tables.store.objectScan("", "")
      .map(({ data }) => JSON.parse(data) as T);
  }

  get nodes(): readonly { crash(): void }[] {
    return [...[...this.#stores.values()].map(({ node }) => node), this.controller];
  }

  /** What cron does each minute. */
  cron(): void {
    void this.#poked(ALWAYS).catch(() => undefined);
  }

  /** What has to hold when everything is quiet: nothing twice, nothing leaked, every claim served or told why not, and counted. */
  atRest(): string[] {
    const claims = this.objects<AddressClaim>(addressClaimsDefinition);
    const wrong = wrongPools(this.#observed, this.#serviceCIDRs()).filter(({ rule }) => rule === "pool");
    const addresses = this.objects<PoolAddress>(poolAddressesDefinition);
    const live = new Set(claims.filter(({ metadata }) => !metadata?.deletionTimestamp).map(nameOf));
    // An address that somebody deletes stays until its claim goes.
    const going = [...claims, ...addresses].filter((object) => object.metadata?.deletionTimestamp && !live.has(nameOf(object)));
    return [
      ...[...this.twice].map((message) => `at some moment: ${message}`),
      ...wrong.map(({ message }) => message),
      ...going.map((object) => `${nameOf(object)} does not go`),
      ...claims.flatMap((claim) => this.#wrongClaim(claim)),
      ...this.#wrongRows(),
      ...this.#wrongCounts(),
    ];
  }

  #wrongClaim(claim: AddressClaim): string[] {
    const ready = claim.status?.conditions?.find(({ type }) => type === "Ready");
    const { pool } = observedClaim(claim);
    const known = this.#observed.pools.find(({ key, isDeleted }) => key === pool && !isDeleted);
    if (ready?.status === "True") return [];
    const { addresses } = this.#observed;
    // An address that a client has made under its name is in the way.
    if (ready?.reason === "AllocationFailed" && addresses.some(({ key }) => key === nameOf(claim))) return [];
    if (known && (askedLength(claim) ?? 0) > (this.#unitOf(known.key) ?? 32))
      return ready?.reason === "AllocationFailed"
        ? []
        : [`${nameOf(claim)} asks for too long a prefix, and is ${ready?.reason ?? "told nothing"}`];
    if (!known) return ready?.reason === "PoolNotReady" ? [] : [`${nameOf(claim)} is ${ready?.reason ?? "told nothing"} without a pool`];
    if (ready?.reason !== "PoolExhausted") return [`${nameOf(claim)} is ${ready?.reason ?? "told nothing"}: ${ready?.message ?? ""}`];
    this.marks.add("claim exhausted");
    const held = addresses.flatMap((one) => (one.pool === pool && one.place ? [addressesOf(one.place)] : []));
    const unit = this.#unitOf(known.key);
    const length = unit === undefined ? 32 : Math.min(askedLength(claim) ?? unit, unit);
    const size = 1n << BigInt(32 - length);
    const isFree = known.intervals.some((interval) => {
      for (let value = interval.first; value + size - 1n <= interval.last; value++) {
        const wanted = { first: value, last: value + size - 1n };
        if (value % size === 0n && !held.some((one) => overlap(one, wanted))) return true;
      }
      return false;
    });
    return isFree ? [`${nameOf(claim)} waits, and its pool has room`] : [];
  }

  /** The book has a row of each pool, as it is stored, and no other. */
  #wrongRows(): string[] {
    const stored = new Map(this.#storedPools().map(([key, pool]) => [key, pool]));
    // Addresses keep the row of a pool that is gone, so that nobody else comes to cover them.
    const held = new Set(this.#observed.addresses.map(({ pool }) => pool));
    const leaked = this.#rows.keys().filter((key) => !stored.has(key) && !held.has(key));
    const wrong = [...stored].filter(([key, { facts, closed }]) => {
      const row = this.#rows.get(key);
      return JSON.stringify(row?.facts) !== JSON.stringify(facts) || (row?.closed ?? false) !== closed || row?.token !== undefined;
    });
    return [
      ...leaked.map((key) => `leak: the book has ${key}, which does not exist: ${JSON.stringify(this.#rows.get(key))}`),
      ...wrong.map(([key]) => `the book has ${key} as ${JSON.stringify(this.#rows.get(key))}`),
    ];
  }

  #wrongCounts(): string[] {
    const { pools, addresses } = this.#observed;
    return POOLS.flatMap((definition) =>
      this.objects<AddressPool>(definition).flatMap((object) => {
        const { key } = observedPool(definition.kind as PoolKind, object);
        const { spec: { allocationPrefixLength: unit } = {} } = object;
        // What is smaller than a unit, from before the pool, counts as one.
        const unitsOf = ({ place }: ObservedPoolAddress): number =>
          unit === undefined ? 1 : 2 ** Math.max(0, unit - (place?.length ?? unit));
        const used = addresses.reduce((sum, one) => sum + (one.pool === key ? unitsOf(one) : 0), 0);
        const counted = Number(object.status?.ipAddresses?.used ?? -1);
        return pools.some((one) => one.key === key) && counted !== used
          ? [`${key} says that ${counted} of its addresses are used, and ${used} are`]
          : [];
      }),
    );
  }

  get #observed(): ObservedPools {
    const of = (definition: ResourceDefinition) =>
      this.objects<AddressPool>(definition).map((pool) => observedPool(definition.kind as PoolKind, pool));
    return {
      pools: POOLS.flatMap(of),
      claims: this.objects<AddressClaim>(addressClaimsDefinition).map(observedClaim),
      addresses: this.objects<PoolAddress>(poolAddressesDefinition).map(observedPoolAddress),
      unreadable: [],
    };
  }

  #storedPools(): [string, StoredPool][] {
    return POOLS.flatMap((definition) =>
      this.objects<AddressPool>(definition).map((object): [string, StoredPool] => [
        observedPool(definition.kind as PoolKind, object).key,
        storedPool(object),
      ]),
    );
  }

  #unitOf(pool: string): number | undefined {
    return this.#storedPools().find(([key]) => key === pool)?.[1].facts.unit;
  }

  #serviceCIDRs(): ServiceCIDR[] {
    return this.cluster.tables.coordinator.store.objectScan("", "").map(({ data }) => JSON.parse(data) as ServiceCIDR);
  }

  /** Behind each commit of a store whose objects may meet others. */
  #judge(): void {
    const observed = this.#observed;
    if (observed.pools.some(({ outOfRange }) => outOfRange > 0)) this.marks.add("address outside");
    for (const { message } of heldTwice(observed, this.#serviceCIDRs())) this.twice.add(message);
  }

  #of(definition: ResourceDefinition): Stored {
    const found = this.#stores.get(definition);
    if (!found) throw new Error(`no store of ${definition.resource}`);
    return found;
  }

  #noteDeaths(): void {
    const isWritten = (): boolean => this.#rows.values().some(({ token }) => token !== undefined);
    this.#of(poolAddressesDefinition).node.onCrash = () => void (isWritten() && this.marks.add("book died in a write of a pool"));
    for (const definition of POOLS) {
      this.#of(definition).node.onCrash = () => void (isWritten() && this.marks.add("store of pools died in a write"));
    }
    this.controller.onCrash = () => {
      const waits = this.objects<AddressClaim>(addressClaimsDefinition).some(({ status }) => !status?.addressRef);
      if (waits) this.marks.add("controller died while claims waited");
    };
  }

  #stored(definition: ResourceDefinition): Stored {
    const { cluster } = this;
    const tables = new StoreTables();
    const make = (life: Life): PlainStore => {
      const { group, resource } = definition;
      const ports = storePorts(cluster, life, { group, resource, tables });
      const { pools, extended } = this.#further(definition, life);
      return new PlainStore({
        ...ports,
        ...(pools && { pools }),
        extended: <Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> => {
          const around = extended?.(inner) ?? inner;
          const looked = ports.extended?.(around) ?? around;
          return overriding(looked, { turnCommitted: () => (looked.turnCommitted?.(), this.#judge()) });
        },
        peers: {
          ...ports.peers,
          followers: () => [{ poke: (news) => this.#poked(life, news) }],
          stores: () => [],
          entered: () => visitListOf(cluster, life).entered(),
          endsNamespaces: () => true,
        },
        isFollowed: true,
        advertiseAddresses: [],
      });
    };
    const node = new SimNode<PlainStore>(qualifiedResource(definition), cluster.network, make, () => Promise.resolve());
    node.hasRightTime = true;
    tables.journal.gate = node.gate;
    return { definition, node, tables };
  }

  #further(definition: ResourceDefinition, life: Life): Pick<PlainStorePorts, "pools" | "extended"> {
    const { cluster } = this;
    if (definition === addressClaimsDefinition) return {};
    if (definition === poolAddressesDefinition) {
      const book = this.#book(life);
      return {
        pools: book,
        extended: (inner) => {
          const guarded = book.around(inner);
          return this.sabotage.book?.(guarded) ?? guarded;
        },
      };
    }
    const guarded = new GuardedPools({
      ...{ clock: life.clock, random: cluster.random, definition, kind: definition.kind as PoolKind },
      book: () => this.#bookOf(life),
      serviceRanges: () => this.#serviceRanges(life),
      // No pool here is for load balancers.
      expectBalancerPools: () => Promise.resolve(),
    });
    return { extended: (inner) => guarded.around(inner) };
  }

  #book(life: Life): PoolBook {
    const { tables } = this.#of(poolAddressesDefinition);
    const rows = this.#rows;
    const named = async <T extends KubeObject>(definition: ResourceDefinition, namespace: string, name: string): Promise<T | undefined> => {
      const { node } = this.#of(definition);
      const [text] = await this.cluster.network.call(life, node, (store) => store.objectsNamed([{ namespace, name }]));
      return text ? (JSON.parse(text) as T) : undefined;
    };
    const change = (work: () => void): void => {
      if (life.isAlive()) tables.journal.transaction(work);
    };
    return new PoolBook({
      clock: life.clock,
      storage: whileAlive(tables.store, life),
      claimOf: ({ namespace, name }) => named<AddressClaim>(addressClaimsDefinition, namespace, name),
      poolOf: async (pool) => {
        const { kind, namespace, name } = partsOfPoolKey(pool);
        const object = await named<AddressPool>(poolDefinitions[kind], namespace, name);
        return object && storedPool(object);
      },
      serviceRanges: () => this.#serviceRanges(life),
      rows: {
        load: () => rows.keys().flatMap((key): [string, PoolRow][] => [[key, plainCopy(rows.get(key) as PoolRow)]]),
        save: (pool, row) => {
          const before = rows.get(pool);
          change(() => rows.set(pool, plainCopy(row)));
          const isLost = before?.token !== undefined && row.token === undefined && life.clock.now() > (before.at ?? 0) + LOST_MS;
          if (isLost) this.marks.add("row settled behind a lost write");
          return true;
        },
        remove: (pool) => change(() => rows.delete(pool)),
      },
    });
  }

  #serviceRanges(caller: Caller): Promise<RangeOfServices[]> {
    const { network, coordinator } = this.cluster;
    return network.call(caller, coordinator, (store) => store.serviceRanges());
  }

  #bookOf(caller: Caller): PoolBookRpc {
    const { node } = this.#of(poolAddressesDefinition);
    return {
      askPools: (question): Promise<PoolAnswer> => this.cluster.network.call(caller, node, (store) => store.askPools(plainCopy(question))),
    };
  }

  #guardedRanges(life: Life): GuardedRanges {
    const used = new UsedStores(life.clock, () => visitListOf(this.cluster, life).entered());
    return new GuardedRanges({
      clock: life.clock,
      hasPools: async () => (await Promise.all(HOLDERS.map((one) => used.isUnused(qualifiedResource(one))))).includes(false),
      book: () => this.#bookOf(life),
    });
  }

  #makeController(): SimNode<Controller> {
    const { network } = this.cluster;
    const make = (life: Life): Controller =>
      poolsController.make({
        cluster: "default",
        clock: life.clock,
        recorder: this.cluster.recorder(life),
        tables: { rows: whileAlive(this.#controllerRows, life) },
        peers: {
          storeOf: (definition) => this.#called(definition, life),
          entered: () => visitListOf(this.cluster, life).entered(),
          poolBook: () => this.#bookOf(life),
        },
        ...controllerLife(network, life, () => node),
      });
    const node = new SimNode<Controller>("controllers/ip-pools", network, make, (brain) => brain.alarm());
    node.hasRightTime = true;
    this.#controllerRows.journal.gate = node.gate;
    return node;
  }

  #called(definition: ResourceDefinition, caller: Caller) {
    const { node } = this.#of(definition);
    const call = <T>(work: (store: PlainStore) => Promise<T>): Promise<T> => this.cluster.network.call(caller, node, work);
    return {
      objectsSince: (...[cursor, limit]: Parameters<PlainStore["objectsSince"]>) =>
        call((store) => store.objectsSince(plainCopy(cursor), limit)),
      objectsAfter: (after: string, limit: number) => call((store) => store.objectsAfter(after, limit)),
      objectsNamed: (...[keys]: Parameters<PlainStore["objectsNamed"]>) => call((store) => store.objectsNamed(plainCopy(keys))),
      write: (...[request]: Parameters<PlainStore["write"]>) => call((store) => store.write(plainCopy(request))),
      writeAll: (...[requests]: Parameters<PlainStore["writeAll"]>) => call((store) => store.writeAll(plainCopy(requests))),
    };
  }

  #poked(caller: Caller, news?: Parameters<Controller["poke"]>[0]): ReturnType<Controller["poke"]> {
    return this.cluster.network.call(caller, this.controller, (brain) => brain.poke(plainCopy(news)));
  }
}

/** A row that is settled so long behind its claim is one of a write that was lost. */
const LOST_MS = 5_000;

function nameOf({ metadata }: KubeObject): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}
