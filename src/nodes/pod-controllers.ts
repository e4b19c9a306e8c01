/** The controllers of Pods without a kubelet: upstream's pod-garbage-collector-controller and taint-eviction-controller. */
import type { Clock } from "../core/base/ports";
import type { Config } from "../core/config/config";
import { EventRecorder, type EventRecorderPorts } from "../api/events/event-recorder";
import { qualifiedResource } from "../api/meta/status";
import { nodesDefinition } from "../api/registry/nodes/definition";
import { podsDefinition } from "../api/registry/pods/definition";
import { Controller, type ControllerPorts } from "../controllers/frame/controller";
import { madeOnce } from "../controllers/frame/made-once";
import type { ControllerEntry } from "../controllers/controller-table";
import { type CalledPeers, gatheredStores, type WrittenStore } from "../controllers/followed/called-store";
import type { RowStorage } from "../controllers/followed/row-storage";
import { clusterName } from "../tenancy/cluster-id";
import { nodeAsksForCollection } from "./pod-collection/collected-nodes";
import { asksForCollection } from "./pod-collection/collected-pods";
import { changesToleration } from "./taint-eviction/evicted-pods";
import { podCollectionPass } from "./pod-collection/pod-collection-pass";
import { taintEvictionPass } from "./taint-eviction/taint-eviction-pass";
import { changesTaints } from "./taint-eviction/tainted-nodes";

export interface PodControllerSetting extends ControllerPorts {
  /** id of the cluster */
  cluster: string;
  clock: Clock;
  /** the configuration that the objects of the cluster run under; throws when it is broken */
  config(): Pick<Config, "terminatedPodThreshold">;
  /** each function makes a stub for one call */
  peers: Pick<EventRecorderPorts, "events"> & CalledPeers;
  tables: { rows: RowStorage };
}

type Entry = ControllerEntry<PodControllerSetting, Controller>;

const PODS = qualifiedResource(podsDefinition);
const NODES = qualifiedResource(nodesDefinition);

export const podCollectionController: Entry = {
  follows: [PODS, NODES],
  filters: { [PODS]: asksForCollection, [NODES]: nodeAsksForCollection },
  upstream: "pod-garbage-collector-controller",
  make: (setting) =>
    new Controller(
      setting,
      madeOnce(() => {
        const { clock, recorder, tables, config } = setting;
        const { terminatedPodThreshold: terminatedThreshold } = config();
        const ports = { clock, recorder, storage: tables.rows, ...storesOf(setting) };
        return podCollectionPass(ports, { terminatedThreshold });
      }),
    ),
};

const EVICTOR = "taint-eviction-controller";

export const taintEvictionController: Entry = {
  follows: [PODS, NODES],
  filters: { [PODS]: changesToleration, [NODES]: changesTaints },
  upstream: EVICTOR,
  make: (setting) =>
    new Controller(
      setting,
      madeOnce(() => {
        const { clock, cluster, recorder, tables, peers } = setting;
        const instance = `${EVICTOR}-${clusterName(cluster)}`;
        const events = new EventRecorder({ controller: EVICTOR, instance }, { clock, recorder, events: () => peers.events() });
        return taintEvictionPass({ clock, recorder, storage: tables.rows, events, ...storesOf(setting) });
      }),
    ),
};

function storesOf(setting: PodControllerSetting): Record<"pods" | "nodes", WrittenStore> {
  const store = gatheredStores(setting);
  return { pods: store(podsDefinition), nodes: store(nodesDefinition) };
}
