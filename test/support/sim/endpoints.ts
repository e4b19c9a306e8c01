/** Stores of Pods, Nodes, slices and Endpoints beside a simulated cluster, and the controllers of endpoints, each in an object that dies. */
import type { EndpointSlice, Endpoints, KubeObject } from "../../../src/api/meta/kubernetes";
import { qualifiedResource } from "../../../src/api/meta/status";
import { endpointsDefinition } from "../../../src/api/registry/endpoints/definition";
import { endpointSlicesDefinition } from "../../../src/api/registry/endpoint-slices/definition";
import { nodesDefinition } from "../../../src/api/registry/nodes/definition";
import { podsDefinition } from "../../../src/api/registry/pods/definition";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import { servicesDefinition } from "../../../src/api/registry/services/definition";
import type { ControllerRpc, StoreNews } from "../../../src/api/rpc/store";
import type { Controller } from "../../../src/controllers/frame/controller";
import { PlainStore } from "../../../src/controllers/plain-store";
import type { CalledStore, WrittenStore } from "../../../src/controllers/followed/called-store";
import type { RowStorage } from "../../../src/controllers/followed/row-storage";
import {
  endpointsController,
  endpointSliceController,
  type EndpointControllerSetting,
  mirroringController,
} from "../../../src/endpoints/endpoint-controllers";
import { MemoryRowStorage } from "../memory/row-storage";
import { controllerLife } from "./controller-life";
import { ALWAYS, type Caller, type Life, SimNode, whileAlive } from "./platform/network";
import { plainCopy } from "./platform/plain-copy";
import type { SimPlatform } from "./platform/platform";
import { storePorts } from "./stores";
import { StoreTables } from "./tables";

const ENTRIES = [endpointSliceController, endpointsController, mirroringController];
const KEPT = [podsDefinition, nodesDefinition, endpointSlicesDefinition, endpointsDefinition];
/** So that a few Pods fill a slice. */
export const MAX_PER_SLICE = 3;

/** A store as the controllers and clients call it. */
type Store = WrittenStore & CalledStore;

export interface SimEndpointsOptions {
  batchMs: number;
  /** a protection that is removed on purpose */
  rows?(storage: RowStorage): RowStorage;
}

export class SimEndpoints {
  readonly controllers: readonly SimNode<Controller>[];
  readonly #stores = new Map<ResourceDefinition, { node: SimNode<Store>; objects(): KubeObject[] }>();

  constructor(
    private readonly cluster: SimPlatform,
    private readonly options: SimEndpointsOptions,
  ) {
    this.#add(servicesDefinition, cluster.services, cluster.tables.services);
    for (const definition of KEPT)
      this.#add(definition, this.#plain(definition), cluster.moreDependents.at(-1)?.tables ?? new StoreTables());
    this.controllers = ENTRIES.map((_, i) => this.#controller(i));
    cluster.serviceFollowers = (life) => this.#followers(servicesDefinition, life);
  }

  /** The object of the store, as clients reach it. */
  store(definition: ResourceDefinition): SimNode<Store> {
    const found = this.#stores.get(definition);
    if (!found) throw new Error(`no store of ${definition.resource}`);
    return found.node;
  }

  /** What is stored. */
  objects<T extends KubeObject>(definition: ResourceDefinition): T[] {
    return (this.#stores.get(definition)?.objects() ?? []) as T[];
  }

  get slices(): EndpointSlice[] {
    return this.objects(endpointSlicesDefinition);
  }

  get endpoints(): Endpoints[] {
    return this.objects(endpointsDefinition);
  }

  /** What cron does each minute. */
  cron(): void {
    for (const node of this.controllers) void this.#poked(ALWAYS, node).catch(() => undefined);
  }

  /** Any object of these. */
  get nodes(): readonly { crash(): void }[] {
    return [...[...this.#stores.values()].map(({ node }) => node), ...this.controllers];
  }

  #add(definition: ResourceDefinition, node: unknown, { store }: StoreTables): void {
    const objects = (): KubeObject[] => store.objectScan("", "").map(({ data }) => JSON.parse(data) as KubeObject);
    this.#stores.set(definition, { node: node as SimNode<Store>, objects });
  }

  #plain(definition: ResourceDefinition): SimNode<PlainStore> {
    const { cluster } = this;
    const { group, resource } = definition;
    const tables = new StoreTables();
    const make = (life: Life): PlainStore => {
      const ports = storePorts(cluster, life, { group, resource, tables });
      const followers = (): readonly ControllerRpc[] => this.#followers(definition, life);
      return new PlainStore({
        ...ports,
        peers: { ...ports.peers, followers, stores: () => [], endsNamespaces: () => true },
        isFollowed: true,
        advertiseAddresses: [],
      });
    };
    const node = new SimNode<PlainStore>(resource, cluster.network, make, () => Promise.resolve());
    tables.journal.gate = node.gate;
    cluster.moreDependents.push({ definition, node, tables });
    return node;
  }

  #controller(index: number): SimNode<Controller> {
    const { network } = this.cluster;
    const rows = new MemoryRowStorage();
    const make = (life: Life): Controller => {
      const entry = ENTRIES[index];
      if (!entry) throw new Error(`no controller ${index}`);
      return entry.make(this.#setting(life, node, rows));
    };
    const node = new SimNode<Controller>(`controllers/${String(ENTRIES[index]?.upstream)}`, network, make, (brain) => brain.alarm());
    node.hasRightTime = true;
    rows.journal.gate = node.gate;
    return node;
  }

  #setting(life: Life, node: SimNode<Controller>, rows: MemoryRowStorage): EndpointControllerSetting {
    const { cluster, options } = this;
    const { network } = cluster;
    const noEvents = (): Promise<never> => Promise.reject(new Error("there is no store of Events"));
    return {
      cluster: "default",
      clock: life.clock,
      recorder: cluster.recorder(life),
      config: () => ({ maxEndpointsPerSlice: MAX_PER_SLICE, endpointsBatchMs: options.batchMs }),
      peers: { events: () => ({ get: noEvents, write: noEvents }), storeOf: (definition) => this.#called(definition, life) },
      tables: { rows: whileAlive(options.rows?.(rows) ?? rows, life) },
      ...controllerLife(network, life, () => node),
    };
  }

  #called(definition: ResourceDefinition, caller: Caller): CalledStore {
    const { network } = this.cluster;
    const call = <T>(work: (store: Store) => Promise<T>): Promise<T> => network.call(caller, this.store(definition), work);
    return {
      objectsSince: (cursor, limit) => call((store) => store.objectsSince(cursor, limit)),
      objectsAfter: (after, limit) => call((store) => store.objectsAfter(after, limit)),
      objectsNamed: (keys) => call((store) => store.objectsNamed(plainCopy(keys))),
      write: (request) => call((store) => store.write(plainCopy(request))),
      writeAll: (requests) => call((store) => store.writeAll(plainCopy(requests))),
    };
  }

  #followers(definition: ResourceDefinition, caller: Caller): ControllerRpc[] {
    const resource = qualifiedResource(definition);
    return this.controllers
      .filter((_, i) => ENTRIES[i]?.follows.includes(resource))
      .map((node) => ({ poke: (news) => this.#poked(caller, node, news) }));
  }

  #poked(caller: Caller, node: SimNode<Controller>, news?: StoreNews[]): Promise<unknown> {
    return this.cluster.network.call(caller, node, (brain) => brain.poke(plainCopy(news)));
  }
}
