/**
 * The `servicecidrs` store and the Coordinator in one object, so that objects, claims and epochs have one order. It publishes a copy of the
 * topology that it answers (topology-copy.ts).
 */
import { EventRecorder, type EventRecorderPorts } from "../../api/events/event-recorder";
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import type { FedPage } from "../../api/rpc/object-feed";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { RangeOfServices, ServiceRangesRpc } from "../../api/rpc/pool-book";
import type { CollectionRequest, GetResult, ObjectKey, WriteRequest, WriteResult } from "../../api/rpc/store";
import { ClusterStore, type ClusterStorePorts, type StorePeers } from "../../api/store/cluster-store";
import { type Publisher, publisherAt } from "../../api/store/list/publisher";
import { parseJson } from "../../core/encoding/exact-json";
import { clusterName } from "../../tenancy/cluster-id";
import type { OwnRanges } from "../../tenancy/own-ranges";
import type { RangedObject } from "../../tenancy/rpc";
import type { CoordinatorRpc, RangesNews, RangesReading, RangesRpc, RepairedRanges, Topology } from "../rpc/topology";
import { sealTopology, topologyCopyKey, topologyVersion } from "../topology/topology-copy";
import { Coordinator, type CoordinatorPorts } from "./coordinator";
import type { CoordinatorPeers, PoolsBeside } from "./coordinator-ports";
import { rangesBesidePools } from "./ranges-beside-pools";
import type { CoordinatorStorage } from "./state/coordinator-storage";
import type { Fence } from "./intents";
import { rangesReading } from "./ranges-reading";
import type { CoordinatorSettings } from "./state/coordinator-settings";
import { storeObjects } from "./store-objects";

/** Who reports on the default ServiceCIDR, and on all others, by upstream's names. */
const DEFAULT_RANGE_CONTROLLER = "kubernetes-service-cidr-controller";
const RANGE_CONTROLLER = "service-cidr-controller";

/** Whom the Coordinator's store calls. Each function answers for one call. */
export interface CoordinatorStorePeers extends StorePeers, CoordinatorPeers {
  events(): ReturnType<EventRecorderPorts["events"]>;
}

export interface CoordinatorStorePorts extends ClusterStorePorts, Pick<CoordinatorPorts, "handoffRowsMax"> {
  /** in the same database as `storage` */
  topology: CoordinatorStorage;
  settings: Omit<CoordinatorSettings, "defaultRanges">;
  /** of the default ServiceCIDR */
  ranges: OwnRanges;
  peers: CoordinatorStorePeers;
  /** absent = the cluster has no pools of addresses */
  pools?: PoolsBeside;
  /** replaces the object's alarm by one at `atMs` (ms since the epoch), durable with the writes of this turn */
  setAlarm(atMs: number): void;
}

export class CoordinatorStore
  extends ClusterStore<Fence>
  implements CoordinatorRpc, RangesRpc, RepairedRanges, RangedObject, ServiceRangesRpc
{
  readonly coordinator: Coordinator;
  readonly #ports: CoordinatorStorePorts;
  readonly #copies: Publisher;
  /** what somebody was answered last */
  #answered: Topology | undefined;

  constructor(ports: CoordinatorStorePorts) {
    const { cluster, clock, random, recorder, peers, pools, topology, ranges, handoffRowsMax } = ports;
    const settings: CoordinatorSettings = {
      ...ports.settings,
      get defaultRanges() {
        return ranges.current.serviceRanges;
      },
    };
    const eventsOf = (controller: string): EventRecorder =>
      new EventRecorder(
        // Readers know the cluster by its name, whichever life of it this is.
        { controller, instance: `${controller}-${clusterName(cluster)}` },
        { clock, recorder, events: () => peers.events() },
      );
    const coordinator = new Coordinator(
      {
        storage: topology,
        objects: storeObjects(() => this.store),
        peers,
        ...(pools && { pools }),
        alarm: { arm: (atMs) => ports.setAlarm(atMs) },
        clock,
        random,
        recorder,
        events: eventsOf(DEFAULT_RANGE_CONTROLLER),
        rangeEvents: eventsOf(RANGE_CONTROLLER),
        ...(handoffRowsMax === undefined ? {} : { handoffRowsMax }),
      },
      settings,
    );
    super(pools ? { ...ports, extended: (inner) => pools.around(inner) } : ports, coordinator.intents);
    this.coordinator = coordinator;
    this.#ports = ports;
    this.#copies = publisherAt(
      ports,
      { key: topologyCopyKey(cluster) },
      { version: () => (this.#answered ? topologyVersion(this.#answered) : ""), take: () => this.#takeCopy() },
    );
    // A new cluster may hear of its ranges first: the first request makes its first range.
    if (topology.load().cidrs.length > 0) coordinator.kick();
  }

  /** A range that is there came from the variable, or from an object of the release before. */
  beginWith(serviceRanges: readonly string[]): Promise<boolean> {
    const { ranges, topology } = this.#ports;
    return Promise.resolve((ranges.isOwn || topology.load().cidrs.length === 0) && ranges.take(serviceRanges));
  }

  async topology(): Promise<Topology> {
    return this.#published(await this.coordinator.topology());
  }

  countedTopology(): Promise<Topology> {
    return this.coordinator.countedTopology();
  }

  async readyTopology(waitMs: number): Promise<Topology> {
    return this.#published(await this.coordinator.readyTopology(waitMs));
  }

  /** The rows and the revision of one moment: a ServiceCIDR object and its rows change in one transaction. */
  async ranges(): Promise<RangesReading> {
    await this.coordinator.bootstrapped();
    const reading = rangesReading(this.#ports.topology.load(), this.store.revision);
    await this.store.afterPublication(() => undefined);
    return reading;
  }

  async rangesSince(cursor: StoreCursor): Promise<RangesNews> {
    const fed = await this.objectsSince(cursor, 1);
    const owners = this.#ports.topology.load().claims.map(({ ownerUid }) => ownerUid);
    return { isSame: fed.kind === "changes" && fed.changes.length === 0, owners: [...new Set(owners)] };
  }

  async serviceRanges(): Promise<RangeOfServices[]> {
    // Only a cluster without a first range may still hear of others.
    await this.coordinator.bootstrapped();
    const { pools, ranges, settings, topology } = this.#ports;
    const stored = [...this.store.storage.objectScan("", "")].map(({ data }) => parseJson(data) as ServiceCIDR);
    const claims = topology.load().claims.map(({ prefix }) => prefix);
    const { onlyRanges } = settings;
    return [...rangesBesidePools({ stored, configured: ranges.current.serviceRanges, onlyRanges, claims }), ...(pools?.underWay ?? [])];
  }

  override async write(request: WriteRequest): Promise<WriteResult> {
    await this.coordinator.bootstrapped();
    return super.write(request);
  }

  override async get(key: ObjectKey, resourceVersion: string): Promise<GetResult> {
    await this.coordinator.bootstrapped();
    return super.get(key, resourceVersion);
  }

  /** Who reads everything here, as repair does, must not take a cluster without its default range for one without ranges. */
  override async objectsAfter(after: string, limit: number): Promise<FedPage> {
    await this.coordinator.bootstrapped();
    return super.objectsAfter(after, limit);
  }

  override async opened(request: CollectionRequest): Promise<void> {
    await this.coordinator.bootstrapped();
    await super.opened(request);
  }

  /** Only this object knows the owners of the cluster: none may be left that nobody would wipe. */
  override wipe(listed: string[]): Promise<string[]> {
    const known = new Set(listed);
    const unlisted = this.#ports.topology.load().owners.filter(({ uid }) => !known.has(uid));
    return unlisted.length > 0 ? Promise.resolve(unlisted.map(({ uid }) => uid)) : super.wipe(listed);
  }

  override maintain(): Promise<void> {
    return this.coordinator.maintain();
  }

  /** The object's alarm went off. */
  alarm(): Promise<void> {
    return this.coordinator.alarm();
  }

  #published(topology: Topology): Topology {
    this.#answered = topology;
    this.#copies.demand();
    return topology;
  }

  async #takeCopy(): Promise<Uint8Array | undefined> {
    const topology = this.#answered;
    await this.store.afterPublication(() => undefined);
    return topology && sealTopology(this.#ports.cluster, topology, this.#ports.digest);
  }
}
