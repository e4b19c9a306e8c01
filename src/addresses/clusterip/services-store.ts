/** The services store: creating a Service and taking its ClusterIPs is one operation (service-extension.ts). */
import { AllocationMetrics, type AllocationCountStorage } from "../metrics/allocation-metrics";
import { keptTogether } from "../metrics/kept-counters";
import { NodePortMetrics } from "../metrics/node-port-metrics";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { withTimeout } from "../../core/base/timeout";
import type { CidrAllocations, GetResult, NodePortAllocations, ServicesStoreRpc, WriteRequest, WriteResult } from "../../api/rpc/store";
import type { BalancedServicesRpc } from "../../api/rpc/load-balancers";
import { ClusterStore } from "../../api/store/cluster-store";
import type { StoreExtension } from "../../api/store/state/extension";
import type { StoredObject } from "../../api/store/state/store-storage";
import type { StoreTurn } from "../../api/store/state/store-turn";
import type { Poke } from "../../api/store/feeds/deliveries";
import { type ChangeFilter, type Followers, pokesOfAll, pokingFollowers } from "../../api/store/feeds/follower-pokes";
import type { OwnRanges } from "../../tenancy/own-ranges";
import type { RangedObject } from "../../tenancy/rpc";
import { directoryKey } from "../../tenancy/directory-keys";
import type { LabelledStore, LabelSource, ToldNamespace } from "../../api/rpc/namespace-labels";
import type { CoordinatorRpc } from "../rpc/topology";
import type { IPAddressesRpc } from "../rpc/ip-addresses";
import type {
  AuditedStore,
  GiveUpResult,
  HeldAddress,
  RepairedAddresses,
  RepairedServices,
  WholeResult,
  WholeServices,
  WrittenAddress,
} from "../rpc/repair";
import type {
  ComparedService,
  LeakedNodePort,
  LeakedPage,
  LeakResult,
  ListedNodePorts,
  NodePortFinding,
  NodePortRow,
  RepairedNodePorts,
} from "../rpc/repaired-node-ports";
import type { HeldNodePort } from "../../api/registry/services/held-by-service";
import type { AddressLedger } from "../ledger/address-ledger";
import { CountKeeper } from "../ledger/count-keeper";
import { isHeldByStored } from "./address-plan";
import { DefaultService } from "./default-service";
import type { FreeCountStorage } from "../ledger/free-counts";
import { type LedgerParts, ledgerParts, type LedgerPeers, type LedgerStorePorts } from "../ledger/ledger-store";
import type { NodePortStorage } from "../node-ports/node-port-storage";
import { isZoned } from "../topology/tenants";
import { NamespaceLabels } from "./namespace-labels";
import { NodePortRepair } from "../node-ports/node-port-repair";
import { NodePorts } from "../node-ports/node-ports";
import { Pairing } from "./pairing";
import { ReleaseInquiry } from "../ledger/release-inquiry";
import { ServiceExtension } from "./service-extension";
import { ServiceRepair } from "./service-repair";
import type { ServiceSupply } from "./service-supply";
import type { TopologySource } from "../ledger/topology-source";

/** How long the first request of a new cluster waits for the default ServiceCIDR to give out addresses. */
const BOOTSTRAP_WAIT_MS = 10_000;
/** Whether the directory of clusters has had this one: 1, or 0. */
const ENTERED = "entered";

export interface ServicesStorePeers extends LedgerPeers {
  coordinator(): Pick<CoordinatorRpc, "topology" | "countedTopology" | "readyTopology">;
  followers: Followers;
  /** the store of Namespaces; absent = ranges are kept for nobody */
  labelSource?(): LabelSource;
  ipAddresses(): Pick<IPAddressesRpc & RepairedAddresses, "createMany" | "deleteMany" | "pendingReleases" | "restoreMany">;
}

/** The directory of clusters, by which cron finds those that have no record. */
export interface Directory {
  has(key: string): Promise<boolean>;
  add(key: string): Promise<void>;
}

export interface ServicesStorePorts extends LedgerStorePorts {
  /** with which the cluster begins: they say the families of its Services, and the address of `default/kubernetes` */
  ranges: OwnRanges;
  peers: ServicesStorePeers;
  /** those of all followers that have one */
  filters?: readonly ChangeFilter[];
  directory: Directory;
  /** in the same database as `storage`, like the two below */
  nodePorts: NodePortStorage;
  freeCounts: FreeCountStorage;
  allocationCounts: AllocationCountStorage;
  /** what gives Services addresses of pools; absent = nothing does */
  balancers?: BalancersOfServices;
}

/** See ServiceAddresses (src/pools/load-balancers). Nothing of it rejects for a reason of a peer. */
export interface BalancersOfServices extends BalancedServicesRpc {
  attach(store: {
    internally<T>(work: (turn: StoreTurn) => T): Promise<T>;
    stored(key: string): StoredObject | undefined;
    objects(): Iterable<StoredObject>;
    wakeAt(atMs: number): void;
  }): void;
  around<Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply>;
  recover(): Promise<void>;
  maintain(): Promise<void>;
  alarm(): Promise<void>;
}

export class ServicesStore
  extends ClusterStore<ServiceSupply>
  implements
    Omit<ServicesStoreRpc, "fetch">,
    RepairedServices,
    RepairedNodePorts,
    ListedNodePorts,
    AuditedStore,
    LabelledStore,
    RangedObject,
    BalancedServicesRpc
{
  /** `default/kubernetes` */
  readonly defaultService: DefaultService;
  readonly #ports: ServicesStorePorts;
  readonly #extension: ServiceExtension;
  readonly #parts: LedgerParts;
  readonly #repair: ServiceRepair;
  readonly #nodePortRepair: NodePortRepair;
  readonly #metrics: AllocationMetrics;
  readonly #nodePorts: NodePorts;
  readonly #nodePortMetrics: NodePortMetrics;
  readonly #counts: CountKeeper;
  readonly #labels: NamespaceLabels;
  #bootstrapping: Promise<void> | undefined;
  /** what a crash may have left undone has been begun; undefined = not yet */
  #recovering: Promise<void> | undefined;

  constructor(ports: ServicesStorePorts) {
    const { clock, recorder, peers, ranges } = ports;
    const serviceFamilies = () => ranges.current.serviceFamilies;
    const labels = new NamespaceLabels({
      clock,
      source: () => {
        if (!peers.labelSource) throw new Error("nobody tells the labels of namespaces");
        return peers.labelSource();
      },
      namespace: (name) => peers.namespace(name),
      isWanted: () => topology.cached !== undefined && isZoned(topology.cached),
    });
    const refused = (): void => counts.refused();
    const metrics = new AllocationMetrics(ports.allocationCounts, refused);
    const nodePortMetrics = new NodePortMetrics(ports.ledger, refused);
    const counts = new CountKeeper({
      ...{ clock, recorder, metrics: keptTogether(metrics, nodePortMetrics), storage: ports.ledger },
      wakeAt: (time) => parts.alarm.by(time),
    });
    const nodePorts = new NodePorts(ports.nodePorts, ports.random);
    const stored = (key: string): string | undefined => this.store.storage.objectGet(key)?.data;
    const parts = ledgerParts(ports, {
      kind: "service",
      holds: (key, address) => isHeldByStored(stored(key), address),
      otherStore: new ReleaseInquiry((asked) => peers.ipAddresses().pendingReleases(asked)),
      services: {
        deleteAddresses: (items) => peers.ipAddresses().deleteMany(items),
        freeCounts: ports.freeCounts,
        metrics,
        tenants: labels,
      },
    });
    const { alarm, ledger, topology, pokeRepair } = parts;
    const pairing = new Pairing({ clock, recorder, ipAddresses: () => peers.ipAddresses() });
    const extension = new ServiceExtension({
      definition: ports.definition,
      families: serviceFamilies,
      ledger,
      storage: ports.ledger,
      nodePorts,
      nodePortMetrics,
      pairing,
      topology,
      labels,
      counts,
      head: () => this.store.revision,
      floor: () => this.store.floor,
      unpaired: pokeRepair,
    });
    const defaultService = new DefaultService(
      {
        clock,
        recorder,
        exists: (key) => this.store.get(key, "").ok,
        write: (request) => this.write(request),
        wakeAt: (time) => alarm.by(time),
      },
      () => ranges.current.apiServerServiceIP,
    );
    const followers = pokingFollowers({
      clock,
      followers: (createdOnly, met) => peers.followers(createdOnly, met),
      news: () => this.news,
      filters: ports.filters,
      deliveries: () => this.deliveries,
    });
    const extended = <Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> => {
      const balanced = ports.balancers?.around(inner) ?? inner;
      return ports.extended?.(balanced) ?? balanced;
    };
    super({ ...ports, serviceFamilies, peers: readingLabels(peers, labels), extended }, extension, [defaultService, followers]);
    this.#ports = ports;
    this.#labels = labels;
    this.defaultService = defaultService;
    this.#extension = extension;
    this.#parts = parts;
    this.#metrics = metrics;
    this.#nodePorts = nodePorts;
    this.#nodePortMetrics = nodePortMetrics;
    this.#counts = counts;
    this.#repair = new ServiceRepair({
      clock,
      recorder,
      ledger,
      storage: ports.ledger,
      pairing,
      topology,
      stored,
      internally: (work) => this.store.internally(work),
      owner: (uid) => peers.owner(uid),
      ipAddresses: () => peers.ipAddresses(),
    });
    this.#nodePortRepair = new NodePortRepair({
      rows: ports.nodePorts,
      stored,
      internally: (work) => this.store.internally(work),
    });
    ports.balancers?.attach({
      internally: (work) => this.store.internally(work),
      stored: (key) => this.store.storage.objectGet(key),
      objects: () => this.store.storage.objectScan("", ""),
      wakeAt: (time) => alarm.by(time),
    });
    ledger.releases.rearm();
    // Before the first commit nothing was left undone, and starting a cluster must not wake its Coordinator.
    if (!this.store.isUntouched) return;
    extension.pairAgain(this.store.storage);
    this.#recovering = Promise.resolve();
  }

  get ledger(): AddressLedger {
    return this.#parts.ledger;
  }

  get topology(): TopologySource {
    return this.#parts.topology;
  }

  override write(request: WriteRequest): Promise<WriteResult> {
    void this.#recovered();
    return super.write(request);
  }

  ensureBootstrapped(namespace?: string): Promise<void> {
    this.#bootstrapping ??= this.#bootstrap().catch((error: unknown) => {
      this.#bootstrapping = undefined;
      throw error;
    });
    if (namespace !== undefined) void this.namespaces.learn(namespace);
    if (!this.defaultService.isThere) return this.#bootstrapping;
    // The cluster has begun: what is left hinders no write.
    this.#bootstrapping.catch(() => undefined);
    return Promise.resolve();
  }

  beginWith(serviceRanges: readonly string[]): Promise<boolean> {
    const { ranges } = this.#ports;
    return Promise.resolve((ranges.isOwn || !this.defaultService.isThere) && ranges.take(serviceRanges));
  }

  /** Only what is kept is shown. The answer leaves when a write of now is durable. */
  async allocations(): Promise<CidrAllocations[]> {
    this.#counts.show();
    return this.#metrics.keptValues();
  }

  /** The gauges are of now; of the counters only what is kept is shown. */
  async nodePortAllocations(): Promise<NodePortAllocations> {
    this.#counts.show();
    return { ...this.#nodePorts.usage(), ...this.#nodePortMetrics.keptValues() };
  }

  makeWhole(items: HeldAddress[]): Promise<WholeResult[]> {
    void this.#recovered();
    return this.#repair.makeWhole(items);
  }

  async makeServicesWhole(items: HeldAddress[], seen: ComparedService[]): Promise<WholeServices> {
    const nodePorts = this.makeNodePortsWhole(seen).catch((error: unknown) => {
      this.#ports.recorder.log("warn", "node ports could not be compared with their rows", { services: seen.length, error: String(error) });
      return null;
    });
    return { addresses: await this.makeWhole(items), nodePorts: await nodePorts };
  }

  giveUp(items: WrittenAddress[]): Promise<GiveUpResult[]> {
    void this.#recovered();
    return this.#repair.giveUp(items);
  }

  makeNodePortsWhole(services: ComparedService[]): Promise<NodePortFinding[][]> {
    return this.#nodePortRepair.makeNodePortsWhole(services);
  }

  leakedNodePorts(after: HeldNodePort, limit: number): Promise<LeakedPage> {
    return this.#nodePortRepair.leakedNodePorts(after, limit);
  }

  settleNodePorts(leaks: LeakedNodePort[]): Promise<LeakResult[]> {
    return this.#nodePortRepair.settleNodePorts(leaks);
  }

  nodePortRows(): Promise<NodePortRow[]> {
    return this.#nodePortRepair.nodePortRows();
  }

  /** See LabelledStore. */
  takeNamespaceLabels(changed: ToldNamespace[] | null): Promise<boolean> {
    return Promise.resolve(this.#labels.take(changed));
  }

  async expectBalancerPools(): Promise<void> {
    await this.#balancers.expectBalancerPools();
  }

  async roomInPools(pools: readonly string[]): Promise<void> {
    await this.#balancers.roomInPools(pools);
  }

  get #balancers(): BalancersOfServices {
    const { balancers } = this.#ports;
    if (!balancers) throw new Error("no pool gives addresses to Services here");
    return balancers;
  }

  auditAll(): Promise<void> {
    void this.ledger.auditAll();
    return Promise.resolve();
  }

  override async maintain(): Promise<void> {
    this.#counts.keep();
    await this.#recovered();
    await Promise.all([this.#extension.maintain(), this.#ports.balancers?.maintain()]);
    await this.defaultService.ensure();
  }

  protected override pokes(): Poke[] {
    const { filters, peers } = this.#ports;
    return [
      ...super.pokes(),
      ...pokesOfAll({ followers: (createdOnly, met) => peers.followers(createdOnly, met), filters, news: () => this.news }),
    ];
  }

  /** The object's alarm went off. Never rejects. */
  async alarm(): Promise<void> {
    this.#parts.alarm.rang();
    void this.#recovered();
    this.#counts.rang();
    await Promise.all([this.ledger.releases.drain(), this.defaultService.ensure(), this.#ports.balancers?.alarm()]);
  }

  /**
   * Once after a start, before the first write: reads need nothing of it, so a store that only they wake calls nobody. Where no write comes, cron
   * begins it: the note of the write that a crash cut off brings it here. Never rejects.
   */
  #recovered(): Promise<void> {
    this.#recovering ??= this.#recover();
    return this.#recovering;
  }

  /** Where the disk does not answer, the next write, alarm or visit of cron begins it again. */
  async #recover(): Promise<void> {
    try {
      await Promise.all([this.#extension.recover(this.store.storage), this.#ports.balancers?.recover()]);
      this.#parts.pokeRepair();
    } catch (error) {
      this.#recovering = undefined;
      this.#ports.recorder.log("warn", "what a crash may have left undone could not be looked for", { error: String(error) });
    }
  }

  /** First the directory, so that cron knows of the cluster whatever happens next; everything may be repeated. */
  async #bootstrap(): Promise<void> {
    const { clock, peers } = this.#ports;
    const { topology } = this.#parts;
    if (this.defaultService.isThere) {
      await Promise.all([this.#enterInDirectory(), topology.current()]);
      return;
    }
    await this.#enterInDirectory();
    const ready = peers.coordinator().readyTopology(BOOTSTRAP_WAIT_MS);
    topology.adopt(await withTimeout(clock, 2 * BOOTSTRAP_WAIT_MS, ready));
    await this.defaultService.ensure();
  }

  /** A cluster that was entered once does without the directory: no answer to a client may depend on KV. */
  async #enterInDirectory(): Promise<void> {
    const { cluster, clock, directory, recorder, ledger } = this.#ports;
    const key = directoryKey(cluster);
    const enter = async (): Promise<void> => {
      if (!(await directory.has(key))) await directory.add(key);
    };
    try {
      await withTimeout(clock, RPC_TIMEOUT_MS, enter());
      if (ledger.numberGet(ENTERED) === 0) ledger.numberSet(ENTERED, 1);
    } catch (error) {
      if (ledger.numberGet(ENTERED) === 0) throw error;
      recorder.log("warn", "the directory of clusters did not answer", { error: String(error) });
    }
  }
}

/** A create in a namespace that is not known to be open reads it: the labels come with that. */
function readingLabels(peers: ServicesStorePeers, labels: NamespaceLabels): ServicesStorePeers {
  const namespace = async (name: string): Promise<GetResult> => {
    const answer = await peers.namespace(name);
    labels.read(name, answer);
    return answer;
  };
  return Object.assign(Object.create(peers) as ServicesStorePeers, { namespace });
}
