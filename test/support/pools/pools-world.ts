/** The controller of pools on the frame, with the stores of claims, addresses and pools, and the book in that of addresses. */
import { serialize } from "node:v8";
import type { AddressClaim, AddressPool, PoolAddress, PoolKind, PoolSpec } from "../../../src/api/registry/ipam/ipam";
import { IPAM_GROUP, POOL_KINDS } from "../../../src/api/registry/ipam/ipam";
import { addressClaimsDefinition, poolAddressesDefinition, poolDefinitions } from "../../../src/api/registry/ipam/definitions";
import type { Status } from "../../../src/api/meta/status";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import type { PoolAnswer, PoolBookRpc, PoolQuestion, RangeOfServices, StoredPool } from "../../../src/api/rpc/pool-book";
import type { DeleteOptionsRequest, WriteOptions, WriteResult } from "../../../src/api/rpc/store";
import type { StoreExtension } from "../../../src/api/store/state/extension";
import { GuardedPools } from "../../../src/pools/guarded-pools";
import { PoolBook, type PoolRow } from "../../../src/pools/pool-book";
import { storedPool } from "../../../src/pools/pool-facts";
import { poolsPass } from "../../../src/pools/pools-pass";
import { seededRandom } from "../sim/platform/seeded-random";
import { ControllerWorld } from "../worlds/controller-world";
import { createRequest, WRITE } from "../worlds/store-world";

type Kind = "claims" | "addresses" | "pools" | "globalPools" | "prefixPools" | "globalPrefixPools";

const OF_KIND = {
  InClusterIPPool: "pools",
  GlobalInClusterIPPool: "globalPools",
  InClusterPrefixPool: "prefixPools",
  GlobalInClusterPrefixPool: "globalPrefixPools",
} as const satisfies Record<PoolKind, Kind>;

const OPTIONS = { group: IPAM_GROUP };

function claimOf(name: string, pool: string, kind: PoolKind = "InClusterIPPool", metadata: KubeObject["metadata"] = {}): AddressClaim {
  return { metadata: { namespace: "ns", ...metadata, name }, spec: { poolRef: { apiGroup: IPAM_GROUP, kind, name: pool } } };
}

export class PoolsWorld {
  readonly world: ControllerWorld<Kind>;
  readonly rows = new Map<string, PoolRow>();
  /** of the current life of the store of addresses */
  book!: PoolBook;
  #inBook!: StoreExtension<undefined>;
  serviceRanges: RangeOfServices[] = [];
  /** how a write of a pool reads them */
  rangesRead: () => Promise<readonly RangeOfServices[]> = () => Promise.resolve(this.serviceRanges);
  /** how the book reads a pool */
  poolRead: (pool: string) => Promise<StoredPool | undefined> = (pool) => Promise.resolve(this.storedPool(pool));
  /** the stores whose changes the controller is told of */
  readonly follows: Kind[] = ["claims", "addresses", ...Object.values(OF_KIND)];
  /** asked before an address is made: why the store refuses it; undefined = it does not */
  refusal: (address: PoolAddress) => Status | undefined = () => undefined;
  /** in bytes */
  rowSizeMax = Infinity;
  /** asked before each question to the book: an error = it does not arrive */
  bookFault: (question: PoolQuestion) => Error | undefined = () => undefined;

  /** asked behind each question: an error = the answer is lost */
  answerFault: (question: PoolQuestion) => Error | undefined = () => undefined;

  /** what stands around the book in the store of addresses */
  #outer: (inner: StoreExtension<undefined>) => StoreExtension<undefined>;

  /**
   * @param dieAt the number of the place where the controller dies; 0 = it does not
   * @param outer asked in each life of the store of addresses; absent = the cluster is served by no root
   */
  constructor(dieAt = 0, historyEntries = 10_000, outer?: (inner: StoreExtension<undefined>) => StoreExtension<undefined>) {
    this.#outer = outer ?? ((inner) => inner);
    this.restartBook();
    this.world = new ControllerWorld<Kind>({
      definitions: {
        claims: addressClaimsDefinition,
        addresses: poolAddressesDefinition,
        pools: poolDefinitions.InClusterIPPool,
        globalPools: poolDefinitions.GlobalInClusterIPPool,
        prefixPools: poolDefinitions.InClusterPrefixPool,
        globalPrefixPools: poolDefinitions.GlobalInClusterPrefixPool,
      },
      extensions: {
        addresses: {
          admit: (change, operation) => {
            const status = change.before ? undefined : this.refusal(change.after as PoolAddress);
            return status ? { kind: "refuse", status } : (this.#inBook.admit?.(change, operation) ?? { kind: "go" });
          },
          committed: (change, operation) => this.#inBook.committed?.(change, operation),
          turnCommitted: () => this.#inBook.turnCommitted?.(),
          ended: (operation) => this.#inBook.ended?.(operation),
          writeUndone: () => this.#inBook.writeUndone?.(),
          turnLost: () => this.#inBook.turnLost?.(),
        },
        pools: this.#guarded("InClusterIPPool").around({}),
        globalPools: this.#guarded("GlobalInClusterIPPool").around({}),
        prefixPools: this.#guarded("InClusterPrefixPool").around({}),
        globalPrefixPools: this.#guarded("GlobalInClusterPrefixPool").around({}),
      },
      dieAt,
      follows: this.follows,
      historyEntries,
      make: ({ stores: { claims, addresses, ...stores }, called, ...ports }) =>
        poolsPass({
          ...{ ...ports, claims, addresses },
          pools: {
            InClusterIPPool: stores.pools,
            GlobalInClusterIPPool: stores.globalPools,
            InClusterPrefixPool: stores.prefixPools,
            GlobalInClusterPrefixPool: stores.globalPrefixPools,
          },
          servedByRoot: outer !== undefined,
          book: { askPools: async (question) => (await called(`book ${question.does}`, () => this.#asked(question)))() },
        }),
    });
  }

  /** A new life of the store of addresses: what it only remembered is lost. */
  restartBook(): void {
    this.book = new PoolBook({
      clock: { now: () => this.world.now, after: (ms, work) => this.world.scheduler.after(ms, work) },
      claimOf: ({ namespace, name }) => Promise.resolve(this.objectOf<AddressClaim>("claims", `${namespace}/${name}`)),
      poolOf: (pool) => this.poolRead(pool),
      serviceRanges: () => this.rangesRead(),
      storage: { objectScan: (from, to) => this.world.stores.addresses.storage.objectScan(from, to) },
      rows: {
        load: () => [...this.rows],
        save: (pool, row) => {
          if (serialize(row).length > this.rowSizeMax) return false;
          this.rows.set(pool, structuredClone(row));
          return true;
        },
        remove: (pool) => void this.rows.delete(pool),
      },
    });
    this.#inBook = this.#outer(this.book.around({}));
  }

  /** The pool as its store has it. */
  storedPool(pool: string): StoredPool | undefined {
    const [of, namespace = "", name = ""] = pool.split("/");
    const object = this.objectOf<AddressPool>(OF_KIND[of as PoolKind], namespace === "" ? name : `${namespace}/${name}`);
    return object && storedPool(object);
  }

  pass(ms: number): Promise<void> {
    return this.world.pass(ms);
  }

  /** Creates a pool; its namespace makes it one of a namespace. */
  pool(name: string, spec: PoolSpec, metadata: KubeObject["metadata"] = { namespace: "ns" }): Promise<WriteResult> {
    const kind = metadata.namespace === undefined ? "globalPools" : "pools";
    const object: AddressPool = { metadata: { ...metadata, name }, spec: { prefix: 24, ...spec } };
    return this.#create(kind, object);
  }

  /** Creates a pool of prefixes; its namespace makes it one of a namespace. */
  prefixPool(name: string, spec: PoolSpec, metadata: KubeObject["metadata"] = { namespace: "ns" }): Promise<WriteResult> {
    const kind = metadata.namespace === undefined ? "globalPrefixPools" : "prefixPools";
    return this.#create(kind, { metadata: { ...metadata, name }, spec } as AddressPool);
  }

  async updatePool(
    name: string,
    spec: PoolSpec,
    metadata: KubeObject["metadata"] = {},
    kind: "pools" | "prefixPools" = "pools",
  ): Promise<WriteResult> {
    const stored = this.objectOf<AddressPool>(kind, `ns/${name}`);
    const object = { ...stored, metadata: { ...stored?.metadata, ...metadata }, spec: { ...stored?.spec, ...spec } };
    return this.world.stores[kind].update(object, OPTIONS);
  }

  /** Updates of one pool that begin at once, each of the version that is stored now. */
  updatesAtOnce(name: string, specs: readonly PoolSpec[]): Promise<WriteResult[]> {
    const { scheduler, stores } = this.world;
    const stored = this.objectOf<AddressPool>("pools", `ns/${name}`);
    const update = (spec: PoolSpec): Promise<WriteResult> => {
      const object = { ...stored, spec: { ...stored?.spec, ...spec } };
      const options = { ...WRITE, ...OPTIONS, version: "v1alpha2" };
      return stores.pools.store.write({
        verb: "update",
        key: { namespace: "ns", name },
        subresource: "",
        object: JSON.stringify(object),
        options,
      });
    };
    return scheduler.run(Promise.all(specs.map(update)));
  }

  claim(name: string, pool: string, kind: PoolKind = "InClusterIPPool", metadata: KubeObject["metadata"] = {}): Promise<WriteResult> {
    return this.#create("claims", claimOf(name, pool, kind, metadata));
  }

  /** Claims that are made at once. */
  claimsAtOnce(names: readonly string[], pool: string, kind: PoolKind = "InClusterIPPool"): Promise<WriteResult[]> {
    const { scheduler, stores } = this.world;
    return scheduler.run(Promise.all(names.map((name) => stores.claims.store.write(createRequest(claimOf(name, pool, kind), OPTIONS)))));
  }

  /** An address that no controller made. */
  address(
    name: string,
    address: string,
    pool: string,
    spec: PoolAddress["spec"] = {},
    options: Partial<WriteOptions> = {},
  ): Promise<WriteResult> {
    const object: PoolAddress = {
      metadata: { namespace: "ns", name },
      spec: { claimRef: { name }, poolRef: { apiGroup: IPAM_GROUP, kind: "InClusterIPPool", name: pool }, address, prefix: 24, ...spec },
    };
    return this.world.stores.addresses.create(object, { ...OPTIONS, ...options });
  }

  remove(kind: Kind, key: string, options: Partial<DeleteOptionsRequest> = {}): Promise<WriteResult> {
    const slash = key.indexOf("/");
    return this.world.stores[kind].delete(key.slice(slash + 1), options, slash < 0 ? "" : key.slice(0, slash));
  }

  objectOf<T extends KubeObject>(kind: Kind, key: string): T | undefined {
    const stored = this.world.stores[kind].storage.objectGet(key);
    return stored && (JSON.parse(stored.data) as T);
  }

  /** `name address/prefix` of each address. */
  get givenPrefixes(): string[] {
    return this.world
      .objects<PoolAddress>("addresses")
      .map(({ metadata, spec }) => `${metadata?.name ?? ""} ${spec?.address ?? ""}/${spec?.prefix}`);
  }

  /** `name address` of each address. */
  get given(): string[] {
    return this.world.objects<PoolAddress>("addresses").map(({ metadata, spec }) => `${metadata?.name ?? ""} ${spec?.address ?? ""}`);
  }

  /** `name reason address` of each claim. */
  get claims(): string[] {
    return this.world.objects<AddressClaim>("claims").map(({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return `${metadata?.name ?? ""} ${ready?.reason ?? "-"} ${status?.addressRef?.name ?? "-"}`;
    });
  }

  /** `used/total outOfRange` of a pool. */
  counts(name: string, kind: "pools" | "prefixPools" = "pools"): string {
    const { used, total, free, outOfRange } = this.objectOf<AddressPool>(kind, `ns/${name}`)?.status?.ipAddresses ?? {};
    return `${used}/${total} free ${free} outside ${outOfRange}`;
  }

  #create(kind: Kind, object: KubeObject): Promise<WriteResult> {
    return this.world.stores[kind].create(object, OPTIONS);
  }

  /** The answer is taken behind the call, so that a death before it loses the answer alone. */
  #asked(question: PoolQuestion): () => Promise<PoolAnswer> {
    const fault = this.bookFault(question);
    const answer = fault ? undefined : this.book.askPools(question);
    const lost = this.answerFault(question);
    return () => (lost ? Promise.reject(lost) : (answer ?? Promise.reject(fault ?? new Error("no answer"))));
  }

  #guarded(kind: PoolKind): GuardedPools {
    const book: PoolBookRpc = { askPools: (question) => this.#asked(question)() };
    return new GuardedPools({
      clock: { after: (ms, work) => this.world.scheduler.after(ms, work) },
      random: seededRandom(5 + POOL_KINDS.indexOf(kind)),
      definition: poolDefinitions[kind],
      kind,
      book: () => book,
      serviceRanges: () => this.rangesRead(),
      expectBalancerPools: () => Promise.resolve(),
    });
  }
}
