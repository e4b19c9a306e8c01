/** The controller "repair" of a cluster, made of its setting. The stores poke it when they leave something for it, so it follows no resource. */
import type { Clock } from "../../core/base/ports";
import type { Config } from "../../core/config/config";
import { EventRecorder, type EventRecorderPorts, type EventReporter } from "../../api/events/event-recorder";
import type { ControllerRpc, MaintainedStore } from "../../api/rpc/store";
import { qualifiedResource } from "../../api/meta/status";
import type { StoredResource } from "../../api/registry/all";
import { FIRST_REVISION } from "../../api/store/state/revisions";
import type { VisitOutcome } from "../../api/rpc/visits";
import type { ControllerPorts } from "../../controllers/frame/controller";
import type { ControllerEntry } from "../../controllers/controller-table";
import type { RowStorage } from "../../controllers/followed/row-storage";
import { clusterName } from "../../tenancy/cluster-id";
import { RepairController } from "./repair-controller";
import { type RepairPeers, repairPorts } from "./repair-peers";
import type { RepairStorage } from "./repair-ports";
import type { SettingsStorage } from "./settings-watch";

/** Upstream's names, under which operators know the events. */
const REPORTER = "ipallocator-repair-controller";
const NODE_PORT_REPORTER = "portallocator-repair-controller";
/** Upstream has none: a cloud's controller reports for itself. */
const LOAD_BALANCER_REPORTER = "load-balancer-watch";

export interface RepairSetting extends ControllerPorts {
  /** id of the cluster */
  cluster: string;
  clock: Clock;
  /** the configuration that the objects of the cluster run under; throws when it is broken */
  config(): Config;
  /** see RepairControllerPorts */
  noteBusy?(): void;
  /** `others`: the cluster's other controllers that are switched on */
  peers: RepairPeers &
    Pick<EventRecorderPorts, "events"> & {
      others(): readonly ControllerRpc[];
      /** cron's visit to a store or controller; undefined = none has this name */
      visit(name: string): Promise<VisitOutcome> | undefined;
      /** names of all controllers, switched on or off */
      controllers: readonly string[];
      /** every store of the cluster */
      stores(): readonly { definition: StoredResource; store(): Pick<MaintainedStore, "counters"> }[];
    };
  tables: { repair: RepairStorage; settings: SettingsStorage; rows: RowStorage };
}

export const repairController: ControllerEntry<RepairSetting, RepairController> = {
  follows: [],
  make(setting) {
    const { clock, cluster, peers, recorder, tables } = setting;
    const eventsBy = (controller: string): EventRecorder =>
      new EventRecorder(reporterOf(controller, clusterName(cluster)), { clock, recorder, events: () => peers.events() });
    const own = {
      clock,
      recorder,
      events: eventsBy(REPORTER),
      nodePortEvents: eventsBy(NODE_PORT_REPORTER),
      loadBalancerEvents: eventsBy(LOAD_BALANCER_REPORTER),
      storage: tables.repair,
      rows: tables.rows,
    };
    return new RepairController({
      ...setting,
      storage: tables.repair,
      settings: tables.settings,
      rows: tables.rows,
      visit: (name) => peers.visit(name),
      controllers: peers.controllers,
      stores: () =>
        peers.stores().map(({ definition, store }) => ({
          name: qualifiedResource(definition),
          isUsed: async () => (await store().counters()).revision > FIRST_REVISION,
        })),
      others: () => peers.others(),
      repair: (config) => repairPorts({ ...own, config }, peers),
    });
  },
};

/** Under which name a controller of the cluster reports. `name` = as clients know the cluster. */
function reporterOf(controller: string, name: string): EventReporter {
  return { controller, instance: `${controller}-${name}` };
}
