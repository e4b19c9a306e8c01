/**
 * The Coordinator of one cluster, named `<cluster>/coordinator`: the `servicecidrs` store and the topology in one object, so that objects,
 * claims and epochs have one order. A shell: the rules are in src/addresses/coordinator.
 */
import { Coordinator as Brain } from "../src/addresses/coordinator/coordinator";
import type { CoordinatorStorage } from "../src/addresses/coordinator/coordinator-storage";
import type { Fence } from "../src/addresses/coordinator/intents";
import { rangesReading } from "../src/addresses/coordinator/ranges-reading";
import { storeObjects } from "../src/addresses/coordinator/store-objects";
import { EventRecorder } from "../src/api/events/event-recorder";
import type { CoordinatorRpc, RangesReading, RangesRpc, Topology } from "../src/addresses/rpc/coordinator";
import type { GetResult, ObjectKey, WriteRequest, WriteResult } from "../src/api/rpc/store";
import type { Publisher } from "../src/api/store/publisher";
import { clusterName } from "../src/tenancy/cluster-id";
import { sealTopology, topologyCopyKey, topologyVersion } from "../src/addresses/topology/topology-copy";
import type { Env } from "./env";
import { eventsStore, ipAddressesStore, owner } from "./peers";
import { setAlarm, systemDigest } from "./ports";
import { publisher } from "./publisher";
import {
  CLOSED_OWNERS_SCHEMA,
  COORDINATOR_SCHEMA,
  coordinatorStorage,
  HANDOFF_SCHEMA,
  HANDOFFS_BY_TARGET_SCHEMA,
} from "./sql/coordinator-sql";
import { type ObjectIdentity, openStore, STORE_MIGRATIONS, StoreObject } from "./store-object";

/** Who reports on the default ServiceCIDR, and on all others, by upstream's names. */
const DEFAULT_RANGE_CONTROLLER = "kubernetes-service-cidr-controller";
const RANGE_CONTROLLER = "service-cidr-controller";

export const COORDINATOR_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  { id: 2, sql: COORDINATOR_SCHEMA },
  { id: 3, sql: HANDOFF_SCHEMA },
  { id: 4, sql: HANDOFFS_BY_TARGET_SCHEMA },
  { id: 5, sql: CLOSED_OWNERS_SCHEMA },
];

function identify(name: string): ObjectIdentity {
  return { cluster: name.slice(0, name.indexOf("/")), group: "networking.k8s.io", resource: "servicecidrs" };
}

export class Coordinator extends StoreObject<Fence> implements CoordinatorRpc, RangesRpc {
  readonly #brain: Brain;
  readonly #storage: CoordinatorStorage;
  readonly #copies: Publisher;
  /** what somebody was answered last */
  #answered: Topology | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, COORDINATOR_MIGRATIONS, identify);
    const { cluster, clock, random, recorder, config } = setting;
    const storage = coordinatorStorage(ctx.storage);
    const eventsOf = (controller: string): EventRecorder =>
      new EventRecorder(
        // Readers know the cluster by its name, whichever life of it this is.
        { controller, instance: `${controller}-${clusterName(cluster)}` },
        { clock, recorder, events: () => eventsStore(env, cluster) },
      );
    const ports = {
      storage,
      objects: storeObjects(() => this.store),
      peers: { owner: (uid: string) => owner(env, cluster, uid), ipAddresses: () => ipAddressesStore(env, cluster) },
      alarm: { arm: (atMs: number) => setAlarm(ctx.storage, atMs) },
      clock,
      random,
      recorder,
      events: eventsOf(DEFAULT_RANGE_CONTROLLER),
      rangeEvents: eventsOf(RANGE_CONTROLLER),
    };
    const brain = new Brain(ports, {
      defaultRanges: config.serviceRanges,
      ...(config.onlyRanges ? { onlyRanges: config.onlyRanges } : {}),
      staticBands: config.featureGates.ServiceIPStaticSubrange,
    });
    super(ctx, env, setting, brain.intents);
    this.#brain = brain;
    this.#storage = storage;
    this.#copies = publisher(
      { ctx, env, setting, key: topologyCopyKey(cluster) },
      { version: () => (this.#answered ? topologyVersion(this.#answered) : ""), take: () => this.#takeCopy(cluster) },
    );
    brain.kick();
  }

  async topology(): Promise<Topology> {
    return this.#published(await this.#brain.topology());
  }

  countedTopology(): Promise<Topology> {
    return this.#brain.countedTopology();
  }

  async readyTopology(waitMs: number): Promise<Topology> {
    return this.#published(await this.#brain.readyTopology(waitMs));
  }

  /** The rows and the revision of one moment: a ServiceCIDR object and its rows change in one transaction. */
  async ranges(): Promise<RangesReading> {
    await this.#brain.bootstrapped();
    const reading = rangesReading(this.#storage.load(), this.store.revision);
    await this.store.afterPublication(() => undefined);
    return reading;
  }

  override async write(request: WriteRequest): Promise<WriteResult> {
    await this.#brain.bootstrapped();
    return super.write(request);
  }

  override async get(key: ObjectKey, resourceVersion: string): Promise<GetResult> {
    await this.#brain.bootstrapped();
    return super.get(key, resourceVersion);
  }

  override async fetch(request: Request): Promise<Response> {
    await this.#brain.bootstrapped();
    return super.fetch(request);
  }

  /** Only this object knows the owners of the cluster: none may be left that nobody would wipe. */
  override wipe(listed: string[]): Promise<string[]> {
    const known = new Set(listed);
    const unlisted = this.#storage.load().owners.filter(({ uid }) => !known.has(uid));
    return unlisted.length > 0 ? Promise.resolve(unlisted.map(({ uid }) => uid)) : super.wipe(listed);
  }

  #published(topology: Topology): Topology {
    this.#answered = topology;
    this.#copies.demand();
    return topology;
  }

  async #takeCopy(cluster: string): Promise<Uint8Array | undefined> {
    const topology = this.#answered;
    await this.store.afterPublication(() => undefined);
    return topology && sealTopology(cluster, topology, systemDigest);
  }

  override maintain(): Promise<void> {
    return this.#brain.maintain();
  }

  override alarm(): Promise<void> {
    return this.#brain.alarm();
  }
}
