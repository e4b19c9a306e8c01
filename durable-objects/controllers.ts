/**
 * The controllers of a cluster, by the last part of their object's name. A controller is one entry: the stores whose changes ask for a pass, and how it
 * is made of its setting. The object (controller.ts) and the simulation make them from this table.
 */
import type { Clock } from "../src/core/base/ports";
import type { Config } from "../src/core/config/config";
import type { RepairControllerRpc } from "../src/addresses/rpc/repair";
import { RepairController } from "../src/addresses/repair/repair-controller";
import { type RepairPeers, repairPorts, repairReporter } from "../src/addresses/repair/repair-peers";
import type { RepairStorage } from "../src/addresses/repair/repair-ports";
import type { SettingsStorage } from "../src/addresses/repair/settings-watch";
import { EventRecorder, type EventRecorderPorts } from "../src/api/events/event-recorder";
import type { Namespace } from "../src/api/meta/kubernetes";
import type { ResourceDefinition } from "../src/api/registry/resource";
import type { LinkedStore } from "../src/api/rpc/object-links";
import type { CollectionRequest, ControllerRpc, MaintainedStore, StoreRpc } from "../src/api/rpc/store";
import { Controller, type ControllerPorts } from "../src/controllers/controller";
import { garbageCollectionPass } from "../src/controllers/garbage-collection/garbage-collection-pass";
import type { GraphStorage } from "../src/controllers/garbage-collection/ports";
import { namespaceDeletionPass } from "../src/controllers/namespaces/namespace-deletion-pass";
import { clusterName } from "../src/tenancy/cluster-id";

/** Objects of the cluster; each function makes a stub for one call. */
export interface ControllerPeers extends RepairPeers {
  /** every store of the cluster */
  stores(): readonly { definition: ResourceDefinition; store(): StoreRpc & MaintainedStore & LinkedStore }[];
  namespaces(): Pick<StoreRpc, "get" | "write">;
  /** a list of the namespaces store; rejects when the store refuses it */
  listNamespaces(request: CollectionRequest): Promise<{ items?: Namespace[] }>;
  events(): ReturnType<EventRecorderPorts["events"]>;
}

/** What a controller has of its object. The tables of all controllers are in every object. */
export interface ControllerSetting extends ControllerPorts {
  /** id of the cluster */
  cluster: string;
  clock: Clock;
  /** the configuration that the objects of the cluster run under; throws when it is broken */
  config(): Config;
  peers: ControllerPeers;
  tables: { graph: GraphStorage; repair: RepairStorage; settings: SettingsStorage };
}

/** A controller as its object calls it; some answer more calls than the loop's. */
export type ControllerBrain = ControllerRpc & { alarm(): Promise<void> } & Partial<RepairControllerRpc>;

interface ControllerEntry {
  /** qualified resources: every change of a stored object of them asks for a pass */
  follows: readonly string[];
  make(setting: ControllerSetting): ControllerBrain;
}

const ENTRIES = {
  namespaces: {
    follows: ["namespaces"],
    make(setting) {
      const { peers } = setting;
      const namespaced = peers.stores().filter(({ definition }) => definition.namespaced);
      const content = namespaced.map(({ definition: { group, resource }, store }) => ({ group, resource, store }));
      return new Controller(
        setting,
        namespaceDeletionPass({
          ...setting,
          content,
          namespaces: () => peers.namespaces(),
          list: (request) => peers.listNamespaces(request),
        }),
      );
    },
  },
  // Every store pokes it after the turns that it may have to act upon.
  "garbage-collection": {
    follows: [],
    make: (setting) =>
      new Controller(setting, garbageCollectionPass({ ...setting, storage: setting.tables.graph, stores: setting.peers.stores() })),
  },
  // The stores poke it when they leave something for it.
  repair: {
    follows: [],
    make(setting) {
      const { clock, cluster, peers, recorder, tables } = setting;
      const events = new EventRecorder(repairReporter(clusterName(cluster)), { clock, recorder, events: () => peers.events() });
      const own = { clock, recorder, events, storage: tables.repair };
      const repair = (config: Config): ReturnType<typeof repairPorts> => repairPorts({ ...own, config }, peers);
      return new RepairController({ ...setting, storage: tables.repair, settings: tables.settings, repair });
    },
  },
} satisfies Record<string, ControllerEntry>;

export type ControllerName = keyof typeof ENTRIES;

const CONTROLLERS: Readonly<Record<ControllerName, ControllerEntry>> = ENTRIES;
export const CONTROLLER_NAMES = Object.keys(ENTRIES) as readonly ControllerName[];

/** The controllers that ask for every change of the resource. */
export function followersOf(qualifiedResource: string): ControllerName[] {
  return CONTROLLER_NAMES.filter((name) => CONTROLLERS[name].follows.includes(qualifiedResource));
}

/** The controller of an object's name, as `default/controllers/repair`. Throws for any other name. */
export function controllerOf(objectName: string): ControllerEntry {
  const name = CONTROLLER_NAMES.find((one) => one === objectName.slice(objectName.lastIndexOf("/") + 1));
  if (!name) throw new Error(`no controller ${objectName}`);
  return CONTROLLERS[name];
}
