/**
 * What a simulated cluster stands on: virtual time, a network, a directory, tables, and one object that may die for each brain. Which classes of the
 * product the brains are, a SimCluster says. Whatever acts upon a simulated cluster needs no more than this.
 */
import type { Owner } from "../../../../src/addresses/alloc/owner";
import type { IPAddressStorage } from "../../../../src/addresses/clusterip/ip-address-storage";
import type { IPAddressesStore } from "../../../../src/addresses/clusterip/ip-addresses-store";
import type { LedgerStorage } from "../../../../src/addresses/ledger/ledger-storage";
import type { NodePortStorage } from "../../../../src/addresses/node-ports/node-port-storage";
import type { ServicesStore } from "../../../../src/addresses/clusterip/services-store";
import type { PoolsBeside } from "../../../../src/addresses/coordinator/coordinator-ports";
import type { CoordinatorStore } from "../../../../src/addresses/coordinator/coordinator-store";
import type { ServiceCIDRRpc } from "../../../../src/addresses/rpc/service-cidr";
import type { LinkChanges } from "../../../../src/api/rpc/object-links";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import type { ControllerRpc, WriteRequest } from "../../../../src/api/rpc/store";
import type { ClusterStore, StorePeers } from "../../../../src/api/store/cluster-store";
import type { StoreExtension } from "../../../../src/api/store/state/extension";
import type { SocketWatches } from "../../../../src/api/store/watch/socket-watches";
import type { QuotaStorage } from "../../../../src/api/store/quota/quota-guard";
import type { PlainStore } from "../../../../src/controllers/plain-store";
import type { ControllerBrain, ControllerName } from "../../../../durable-objects/platform/controllers";
import type { Rhythm } from "../../../../src/tenancy/directory-keys";
import type { ShardStorage } from "../../../../src/tenancy/shard-storage";
import type { Clock, Random, Recorder } from "../../../../src/core/base/ports";
import { type Config, parseConfig } from "../../../../src/core/config/config";
import type { Family } from "../../../../src/core/net/family";
import { type Contents, MemoryCoordinatorStorage } from "../../memory/coordinator-storage";
import { SimDirectory } from "../directory";
import { SimGrants } from "../grants";
import { SimKin } from "../kin";
import type { CommitSteps } from "./journal";
import { ALWAYS, type Caller, type Life, SimNetwork, SimNode } from "./network";
import { GatedOwnerStorage, makeOwner } from "../owner";
import { stepsOfCommit } from "../protocol-steps";
import { seededRandom } from "./seeded-random";
import { SimScheduler } from "./scheduler";
import { ControllerTables, JointJournal, StoreTables, Tables } from "../tables";

/** Protections that are removed on purpose: a test shows that each absence is noticed. Each wraps a port or replaces a method. */
export interface Sabotage {
  owner?(owner: ServiceCIDRRpc, uid: string): ServiceCIDRRpc;
  ledger?(storage: LedgerStorage): LedgerStorage;
  addresses?(storage: IPAddressStorage): IPAddressStorage;
  nodePorts?(storage: NodePortStorage): NodePortStorage;
  /** what stands around the extension of the services and ipaddresses stores */
  extension?<Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply>;
  /** with its rows; may replace methods */
  services?(store: ServicesStore, rows: LedgerStorage): void;
  /** what becomes of the garbage collector's writes, and of what it hears from a store */
  collectorWrite?(request: WriteRequest): WriteRequest;
  linkChanges?(changes: LinkChanges): LinkChanges;
  /** what a store does when cron visits it */
  visited?(store: Pick<PlainStore, "visit">): void;
  /** of the repair controller */
  repairClock?(clock: Clock): Clock;
  /** the watches of Workers at a store, as its object comes to memory; may replace methods */
  sockets?(sockets: SocketWatches): void;
  /** what a shard of the directory of clusters keeps */
  shard?(storage: ShardStorage): ShardStorage;
  /** Who has entered is all that was ever used, although the release before enters nothing. */
  neverInDoubt?: true;
}

/** A ServiceCIDR that a client took away against its finalizer: addresses given out up to that epoch may lie uncovered. */
interface ForcedRemoval {
  cidrs: readonly string[];
  epoch: number;
}

export interface SimOptions {
  seed: number;
  /** SERVICE_CLUSTER_IP_RANGE */
  ranges: readonly string[];
  families: readonly Family[];
  /** of the Service default/kubernetes; without it the cluster has none */
  apiServerServiceIP?: string;
  sabotage?: Sabotage;
  /** small ones, so that a few addresses make several lots and chunks */
  handoff?: { rowsMax: number; chunkRowsMax: number };
  /** so long, in milliseconds, a commit of a store or an owner is not known to be durable; 0 unless told otherwise */
  commitMs?: number;
}

/** The id of the one cluster that is simulated. */
export const CLUSTER = "sim";

/** The controllers that are simulated with the addresses; those of endpoints are added by SimEndpoints. */
export const SIMULATED = ["garbage-collection", "namespaces", "repair"] as const satisfies readonly ControllerName[];
export type Simulated = (typeof SIMULATED)[number];
/** The plain stores that a simulated cluster has. */
export type PlainName = "namespaces" | "leases";

/** The classes of the product, each for one life of its object. */
export interface Brains {
  services(life: Life): ServicesStore;
  ipAddresses(life: Life): IPAddressesStore;
  coordinator(life: Life): CoordinatorStore;
  plain(name: PlainName, life: Life): PlainStore;
  controller(name: Simulated, life: Life): ControllerBrain;
}

/** What limits of quotas add to the stores that count. */
export interface SimLimits {
  /** undefined = the simulation has no quotas of the resource */
  rows(resource: string, life: Life): QuotaStorage | undefined;
  peers(life: Life): Pick<StorePeers, "quotaController" | "limitSource">;
  /** the extension, with a look at what is committed */
  judged<Supply>(resource: string, extension: StoreExtension<Supply>): StoreExtension<Supply>;
}

/** A store as its sockets reach it. */
export type SocketStore = Pick<ClusterStore<never>, "sockets" | "opened" | "source"> & { store: { incarnation: string } };

/** The sockets of Workers at one store. */
export interface SimSockets {
  /** The object is in memory again. As its constructor does, it takes up the sockets that there are. */
  born(life: Caller, brain: SocketStore): void;
}

/** Who waits for a deletion looks again within 5 s; what failed and is put off for longer is hurried by `maintain`, or has a row that is waited for. */
const CALM_MS = 12_000;
const LOOK_MS = 3_000;

export abstract class SimPlatform {
  readonly scheduler = new SimScheduler();
  readonly network: SimNetwork;
  readonly directory: SimDirectory;
  readonly kin: SimKin;
  readonly tables: {
    services: Tables;
    ipAddresses: Tables;
    coordinator: StoreTables;
    namespaces: StoreTables;
    leases: StoreTables;
    controllers: ControllerTables;
  };
  readonly coordinatorStorage: MemoryCoordinatorStorage;
  readonly services: SimNode<ServicesStore>;
  readonly ipAddresses: SimNode<IPAddressesStore>;
  readonly coordinator: SimNode<CoordinatorStore>;
  readonly plain: Readonly<Record<PlainName, SimNode<PlainStore>>>;
  readonly controllerNodes: Readonly<Record<Simulated, SimNode<ControllerBrain>>>;
  readonly owners = new Map<string, { node: SimNode<Owner>; storage: GatedOwnerStorage }>();
  /** controllers that answer pokes and do nothing */
  readonly off = new Set<Simulated>();
  /** who has asked for cron's visits and has no answer, those that have died meanwhile included */
  readonly unlisted = new Set<Caller>();
  readonly logged: string[] = [];
  /** writes that were committed after their deadline (rule 7) */
  readonly overdue: string[] = [];
  readonly #grants = new SimGrants();
  readonly forced: ForcedRemoval[] = [];
  /** the controllers that follow Services, if any do */
  serviceFollowers: (caller: Life) => readonly ControllerRpc[] = () => [];
  /** what a write tells the directory of clusters, if the cluster is in one */
  noteBusy: (life: Life, rhythm: Rhythm) => void = () => undefined;
  /** the limits of quotas, if the cluster has any */
  limits: SimLimits | undefined;
  /** what keeps ranges apart from pools, if the cluster has any; in one life of the Coordinator */
  poolsBeside: ((life: Life) => PoolsBeside) | undefined;
  /** called behind each commit of the store of ServiceCIDRs */
  changed: () => void = () => undefined;
  /** the sockets of stores that clients watch through a Worker, by resource */
  readonly sockets = new Map<string, SimSockets>();
  /** stores of dependents beside those that every simulated cluster has */
  readonly moreDependents: { definition: ResourceDefinition; node: SimNode<PlainStore>; tables: StoreTables }[] = [];
  /** by key of a Service: when the last one of that name went */
  readonly goneAt = new Map<string, number>();
  /** MultiCIDRServiceAllocator=false: the configured ranges alone count; of the objects that start from now on */
  onlyRanges: readonly string[] | undefined;
  /** The product draws from a stream of its own, so that changing a fault rate does not change every address. */
  readonly random: Random;
  #coordinatorCommits = 0;

  constructor(readonly options: SimOptions) {
    this.random = seededRandom(options.seed);
    const network = new SimNetwork(this.scheduler, seededRandom(options.seed ^ 0x5eed));
    this.network = network;
    this.directory = new SimDirectory(network);
    this.kin = new SimKin(
      () => this.controllerNodes["garbage-collection"].deaths,
      (what) => network.occurred(what),
    );
    this.services = new SimNode(
      "services",
      network,
      (life) => this.brains.services(life),
      (store) => store.alarm(),
    );
    this.ipAddresses = new SimNode(
      "ipaddresses",
      network,
      (life) => this.brains.ipAddresses(life),
      (store) => store.alarm(),
    );
    this.coordinator = new SimNode(
      "coordinator",
      network,
      (life) => this.brains.coordinator(life),
      (store) => store.alarm(),
    );
    const stepsSince = (before: Contents): CommitSteps => ({
      isRare: false,
      all: () => stepsOfCommit(before, this.coordinatorStorage.contents),
    });
    this.coordinatorStorage = new MemoryCoordinatorStorage(
      (before) => this.coordinator.gate.beforeCommit?.(stepsSince(before)),
      (before) => {
        this.#coordinatorCommits++;
        this.#grants.committed(this.coordinatorStorage.contents);
        this.coordinator.gate.afterCommit?.(stepsSince(before));
      },
    );
    this.tables = {
      services: new Tables(),
      ipAddresses: new Tables(),
      coordinator: new StoreTables(new JointJournal(this.coordinatorStorage)),
      namespaces: new StoreTables(),
      leases: new StoreTables(),
      controllers: new ControllerTables(),
    };
    this.tables.services.journal.gate = this.services.gate;
    this.tables.ipAddresses.journal.gate = this.ipAddresses.gate;
    const plain = (name: PlainName): SimNode<PlainStore> => {
      const node = new SimNode<PlainStore>(
        name,
        network,
        (life) => this.brains.plain(name, life),
        () => Promise.resolve(),
      );
      this.tables[name].journal.gate = node.gate;
      return node;
    };
    this.plain = { namespaces: plain("namespaces"), leases: plain("leases") };
    const controller = (name: Simulated): SimNode<ControllerBrain> => {
      const node = new SimNode<ControllerBrain>(
        `controllers/${name}`,
        network,
        (life) => this.brains.controller(name, life),
        (brain) => brain.alarm(),
      );
      node.hasRightTime = true;
      return node;
    };
    this.controllerNodes = {
      "garbage-collection": controller("garbage-collection"),
      namespaces: controller("namespaces"),
      repair: controller("repair"),
    };
    this.tables.controllers.graphJournal.gate = this.controllerNodes["garbage-collection"].gate;
  }

  protected abstract readonly brains: Brains;

  /** What the objects of the cluster run under that start from now on. */
  get config(): Config {
    const defaults = parseConfig({});
    if (!defaults.ok) throw new Error(defaults.error.join());
    const { families, ranges } = this.options;
    return { ...defaults.value, serviceFamilies: families, serviceRanges: ranges, onlyRanges: this.onlyRanges };
  }

  get sabotage(): Sabotage {
    return this.options.sabotage ?? {};
  }

  /** What was wrong at some moment, whatever became of it since. */
  get momentary(): string[] {
    return [...this.overdue, ...this.#grants.violations];
  }

  /** The stores, the Coordinator and every owner. */
  get nodes(): SimNode<never>[] {
    const owners = [...this.owners.values()].map(({ node }) => node);
    return [this.services, this.ipAddresses, this.coordinator, ...Object.values(this.plain), ...owners] as unknown as SimNode<never>[];
  }

  /** As a deployment with another value of MultiCIDRServiceAllocator: every object begins anew, one after the other. */
  setGate(isOn: boolean): void {
    this.onlyRanges = isOn ? undefined : this.options.ranges;
    for (const node of [this.coordinator, this.services, this.ipAddresses, this.controllerNodes.repair]) {
      this.scheduler.after(this.network.random.below(2_000), () => node.crash());
    }
  }

  owner(uid: string): { node: SimNode<Owner>; storage: GatedOwnerStorage } {
    const known = this.owners.get(uid);
    if (known) return known;
    const storage = new GatedOwnerStorage(
      () => this.network.step,
      (row) => this.#grants.given(uid, row),
    );
    const node = new SimNode<Owner>(
      uid,
      this.network,
      (life) => {
        const { handoff, commitMs = 0 } = this.options;
        return makeOwner(life, storage, {
          random: this.random,
          recorder: this.recorder(life),
          copyRowsMax: handoff?.chunkRowsMax,
          commitMs,
        });
      },
      () => Promise.resolve(),
    );
    storage.gate = node.gate;
    const made = { node, storage };
    this.owners.set(uid, made);
    return made;
  }

  /** Transactions of all objects that were kept and wrote something. */
  get commits(): number {
    const { services, ipAddresses, namespaces, leases } = this.tables;
    let count = this.#coordinatorCommits;
    for (const { journal } of [services, ipAddresses, namespaces, leases]) count += journal.commits;
    for (const { storage } of this.owners.values()) count += storage.commits;
    return count;
  }

  /** Everything that cron and time would bring about, with a network that works. */
  async quiesce(): Promise<void> {
    await this.calm(180_000);
    for (let round = 0; round < 3; round++) {
      const { commits } = this;
      await this.scheduler.run(this.network.call(ALWAYS, this.coordinator, (store) => store.maintain()));
      await this.scheduler.run(this.network.call(ALWAYS, this.services, (brain) => brain.maintain()));
      await this.scheduler.run(this.network.call(ALWAYS, this.ipAddresses, (brain) => brain.maintain()));
      await this.calm(70_000);
      if (commits === this.commits) break;
    }
  }

  /** Lets time pass until nothing was written and no message was on its way for CALM_MS; no longer than `limitMs`. */
  async calm(limitMs: number): Promise<void> {
    const { scheduler, network } = this;
    const end = scheduler.now + limitMs;
    let { commits } = this;
    for (let calmSince = scheduler.now; scheduler.now < end && scheduler.now - calmSince < CALM_MS;) {
      await scheduler.pass(Math.min(LOOK_MS, end - scheduler.now));
      const isReleasing = [this.tables.services, this.tables.ipAddresses].some(({ ledger }) => ledger.releases.size > 0);
      if (commits !== this.commits || network.isBusy || isReleasing) calmSince = scheduler.now;
      ({ commits } = this);
    }
  }

  recorder(life: Life): Recorder {
    return {
      log: (level, event, fields) => {
        if (life.isAlive() && level === "error") this.logged.push(`${event} ${JSON.stringify(fields ?? {})}`);
      },
    };
  }
}
