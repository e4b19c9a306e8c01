/**
 * A cluster whose claims have addresses of pools of the root, and the root's store of addresses, in virtual time. Each place where one of the two stores may
 * die has a number: before and after the effect of each call between them.
 */
import type { Cluster } from "../../../src/api/registry/clusters/cluster";
import type { AddressPool, PoolAddress, PoolSpec } from "../../../src/api/registry/ipam/ipam";
import { poolAddressesDefinition } from "../../../src/api/registry/ipam/definitions";
import { rootRowOf, rowHolder } from "../../../src/api/registry/ipam/fleet-rows";
import { type FleetPoolsRpc, type FleetQuestion, type FleetReply, type FleetRequest, ROOM_AT_ROOT } from "../../../src/api/rpc/fleet-pools";
import type { StoreExtension } from "../../../src/api/store/state/extension";
import { deferred } from "../../../src/core/base/deferred";
import { FleetAddressBook } from "../../../src/pools/fleet-address-book";
import type { FleetAudit, FleetCluster } from "../../../src/pools/fleet-clusters";
import { PoolBook, type PoolRow } from "../../../src/pools/pool-book";
import { factsOf, storedPool } from "../../../src/pools/pool-facts";
import { RootAddresses } from "../../../src/pools/root-addresses";
import { CLUSTER_GONE } from "../../../src/tenancy/rpc";
import { seededRandom } from "../sim/platform/seeded-random";
import { StoreWorld } from "../worlds/store-world";
import { PoolsWorld } from "./pools-world";

const CALL_MS = 5;
/** The cluster that is played, in the second life of its name. */
export const CLUSTER = "blue~2";

export interface FleetDeath {
  /** number of the place; 0 = nobody dies */
  readonly at: number;
  readonly who: "store" | "root";
}

export class FleetWorld {
  readonly cluster: PoolsWorld;
  readonly root: StoreWorld;
  readonly rootPools = new Map<string, AddressPool>();
  readonly objects = new Map<string, Cluster>();
  readonly kept = new Map<string, FleetCluster>();
  /** questions that arrived at the root */
  readonly asked: FleetQuestion[] = [];
  readonly woken: string[] = [];
  /** problems that were there at any of the places */
  readonly seen = new Set<string>();
  /** of other clusters, by id; undefined = the cluster has ended */
  readonly others = new Map<string, FleetPoolsRpc | undefined>();
  points = 0;
  deaths = 0;
  session = 0;
  comparing: string | undefined;
  audit: FleetAudit = { beganAt: 0 };
  /** asked before each call to the root, and behind it: an error = it has no effect, or its answer is lost */
  fault: (question: FleetQuestion, when: "before" | "after") => Error | undefined = () => undefined;
  own!: RootAddresses;
  book!: FleetAddressBook;
  #rootBook!: PoolBook;
  readonly #rootRows = new Map<string, PoolRow>();
  #inRoot!: StoreExtension<undefined>;
  readonly #random = seededRandom(11);
  readonly #rootRandom = seededRandom(12);
  #life = 0;
  #died = deferred<never>();

  constructor(
    private readonly death: FleetDeath = { at: 0, who: "store" },
    controllerDiesAt = 0,
  ) {
    this.cluster = new PoolsWorld(controllerDiesAt, 10_000, (inner) => this.#beginStore(inner));
    const names = ["admit", "committed", "turnCommitted", "turnLost", "writeUndone", "ended"] as const;
    const methods = names.map((name) => [
      name,
      (...args: never[]) => (this.#inRoot[name] as ((...of: never[]) => unknown) | undefined)?.(...args),
    ]);
    const extension = Object.fromEntries(methods) as StoreExtension<undefined>;
    this.root = new StoreWorld({ definition: poolAddressesDefinition, scheduler: this.cluster.world.scheduler, extension, seed: 21 });
    this.#beginRoot();
    this.own.attach({ internally: (work) => this.cluster.world.stores.addresses.store.internally(work) });
  }

  /** A global pool of the root, settled. */
  pool(name: string, spec: PoolSpec, annotations: Record<string, string> = {}): void {
    const object: AddressPool = { metadata: { name, uid: `uid of ${name}`, annotations }, spec: { prefix: 24, ...spec } };
    this.rootPools.set(name, object);
    this.#rootRows.set(`GlobalInClusterIPPool//${name}`, { facts: factsOf(object) });
    this.restartRoot();
    this.book.settled(`GlobalInClusterIPPool//${name}`);
  }

  claim(name: string, pool = "p"): ReturnType<PoolsWorld["claim"]> {
    return this.cluster.claim(name, pool, "GlobalInClusterIPPool");
  }

  pass(ms: number): Promise<void> {
    return this.cluster.pass(ms);
  }

  /** A question of another cluster. */
  ask(question: FleetQuestion): Promise<FleetReply> {
    return this.cluster.world.scheduler.run(this.book.askFleet(question));
  }

  take(cluster: string, session: number, request: Partial<FleetRequest> & { row: string }): Promise<FleetReply> {
    const requests = [{ claim: "ns/other", uid: "u", pool: "p", since: 0, ...request }];
    return this.ask({ does: "take", cluster, session, requests });
  }

  maintainRoot(): Promise<void> {
    return this.cluster.world.scheduler.run(this.book.maintain());
  }

  /** Cron's visit, made again where the store dies under it. */
  async maintain(): Promise<void> {
    let isOver = false;
    while (!isOver) {
      const dead = this.#died.promise.catch(() => false);
      isOver = await this.cluster.world.scheduler.run(Promise.race([this.own.maintain().then(() => true), dead]));
    }
  }

  restartRoot(): void {
    this.root.restart();
    this.#beginRoot();
  }

  /** The store of addresses of the cluster dies, and starts again. */
  restartStore(): void {
    this.deaths++;
    this.#died.reject(new Error("the store of addresses has died"));
    this.cluster.restartBook();
    this.cluster.world.restartStore("addresses");
    this.own.attach({ internally: (work) => this.cluster.world.stores.addresses.store.internally(work) });
  }

  /** `cluster claim address` of each row. */
  get rows(): string[] {
    const objects = [...this.root.storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as PoolAddress);
    return objects
      .flatMap((object) => {
        const holder = rowHolder(object);
        return holder ? [`${holder.cluster} ${holder.claim} ${object.spec?.address ?? ""}`] : [];
      })
      .toSorted();
  }

  /** The same of the IPAddresses of the cluster that are of pools of the root. */
  get held(): string[] {
    return this.cluster.world
      .objects<PoolAddress>("addresses")
      .filter((object) => rootRowOf(object) !== undefined)
      .map(({ metadata, spec }) => `${CLUSTER} ns/${metadata?.name ?? ""} ${spec?.address ?? ""}`)
      .toSorted();
  }

  /** Every object has its row, and no address is two rows'. */
  get problems(): string[] {
    const { rows } = this;
    const addresses = rows.map((row) => row.split(" ")[2]);
    return [
      ...this.held.filter((one) => !rows.includes(one)).map((one) => `${one} has no row`),
      ...addresses.filter((one, i) => addresses.indexOf(one) !== i).map((one) => `${one} is given twice`),
    ];
  }

  /** Rows of the cluster that nobody has. */
  get leaks(): string[] {
    return this.rows.filter((row) => row.startsWith(`${CLUSTER} `) && !this.held.includes(row));
  }

  #beginStore(inner: StoreExtension<undefined>): StoreExtension<undefined> {
    const life = ++this.#life;
    this.#died = deferred<never>();
    this.#died.promise.catch(() => undefined);
    // The world of the cluster is being made when its store begins for the first time.
    const world = (): PoolsWorld => this.cluster;
    const isAlive = (): boolean => life === this.#life;
    const own: RootAddresses = new RootAddresses({
      clock: { now: () => world().world.now, after: (ms, work) => world().world.scheduler.after(ms, () => isAlive() && work()) },
      random: this.#random,
      recorder: { log: () => undefined },
      cluster: CLUSTER,
      storage: { objectScan: (from, to) => world().world.stores.addresses.storage.objectScan(from, to) },
      book: {
        compareRange: (address, operation) => world().book.compareRange(address, operation),
        whyNot: (held) => world().book.whyNot(held),
        get pools() {
          return world().book.pools;
        },
      },
      sessions: { load: () => this.session, save: (session) => void (this.session = session) },
      root: () => Promise.resolve({ askFleet: (question) => this.#call(question, life) }),
      wakeAt: (atMs) => void world().world.scheduler.after(Math.max(0, atMs - world().world.now), () => void (isAlive() && own.alarm())),
    });
    this.own = own;
    return own.around(inner);
  }

  #beginRoot(): void {
    const { scheduler } = this.cluster.world;
    const clock = { now: () => scheduler.now, after: (ms: number, work: () => void) => scheduler.after(ms, work) };
    const { storage } = this.root;
    this.#rootBook = new PoolBook({
      ...{ clock, storage },
      claimOf: () => Promise.resolve(undefined),
      poolOf: (pool) => {
        const object = this.rootPools.get(pool.split("/")[2] ?? "");
        return Promise.resolve(object && storedPool(object));
      },
      serviceRanges: () => Promise.resolve([]),
      rows: {
        load: () => [...this.#rootRows],
        save: (pool, row) => this.#rootRows.set(pool, row).size > 0,
        remove: (pool) => void this.#rootRows.delete(pool),
      },
    });
    this.book = new FleetAddressBook({
      ...{ clock, storage, book: this.#rootBook },
      random: this.#rootRandom,
      recorder: { log: () => undefined },
      rows: {
        load: () => [...this.kept],
        save: (id, kept) => void (kept ? this.kept.set(id, kept) : this.kept.delete(id)),
        comparing: () => this.comparing,
        saveComparing: (after) => void (this.comparing = after),
        audit: () => this.audit,
        saveAudit: (audit) => void (this.audit = audit),
      },
      poolsNamed: (names) => Promise.resolve(names.map((name) => this.rootPools.get(name))),
      clusterNamed: (name) => Promise.resolve(this.objects.get(name)),
      storeOf: (id) => {
        if (id === CLUSTER && !this.others.has(id)) return this.own;
        const other = this.others.get(id);
        return other ?? { askFleet: () => Promise.reject(new Error(CLUSTER_GONE)) };
      },
      suspicious: (ids) => Promise.resolve(new Set(ids.filter((id) => this.others.has(id)))),
      clustersBehind: () => Promise.resolve({ ids: [CLUSTER] }),
      wakeAt: (atMs) => {
        const { book } = this;
        scheduler.after(Math.max(0, atMs - scheduler.now), () => void (book === this.book && book.alarm()));
      },
      wake: (id) => {
        this.woken.push(id);
        if (id === CLUSTER) this.cluster.world.poke([{ store: ROOM_AT_ROOT, incarnation: "", revision: 0 }]);
      },
    });
    this.book.attach({ internally: (work) => this.root.store.internally(work) });
    this.#inRoot = this.book.around(this.#rootBook.around({}));
  }

  async #call(question: FleetQuestion, life: number): Promise<FleetReply> {
    this.asked.push(question);
    await this.#away(life);
    const fault = this.fault(question, "before");
    if (fault) throw fault;
    const answer = await this.book.askFleet(question);
    await this.#away(life);
    const lost = this.fault(question, "after");
    if (lost) throw lost;
    return answer;
  }

  /** Some time passes. The caller may die meanwhile, or the root. */
  async #away(life: number): Promise<void> {
    const { promise, resolve } = deferred<undefined>();
    this.cluster.world.scheduler.after(CALL_MS, () => resolve(undefined));
    await promise;
    for (const problem of this.problems) this.seen.add(problem);
    if (life === this.#life && ++this.points === this.death.at) {
      if (this.death.who === "store") this.restartStore();
      else {
        this.deaths++;
        this.restartRoot();
        throw new Error("the root has died");
      }
    }
    if (life !== this.#life) await this.#never();
  }

  #never(): Promise<never> {
    return new Promise(() => undefined);
  }
}
