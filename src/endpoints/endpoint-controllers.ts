/** The controllers of endpoints: each is upstream's of that name, made of its setting. */
import type { Clock } from "../core/base/ports";
import type { Config } from "../core/config/config";
import { EventRecorder, type EventRecorderPorts } from "../api/events/event-recorder";
import { MIRRORING_CONTROLLER, SLICE_CONTROLLER } from "../api/meta/endpoint-keys";
import { qualifiedResource } from "../api/meta/status";
import { endpointsDefinition } from "../api/registry/endpoints/definition";
import { endpointSlicesDefinition } from "../api/registry/endpoint-slices/definition";
import { nodesDefinition } from "../api/registry/nodes/definition";
import { podsDefinition } from "../api/registry/pods/definition";
import type { ResourceDefinition } from "../api/registry/resource";
import { servicesDefinition } from "../api/registry/services/definition";
import { Controller, type ControllerPorts as LoopPorts, type Pass } from "../controllers/frame/controller";
import { madeOnce } from "../controllers/frame/made-once";
import type { ControllerEntry } from "../controllers/controller-table";
import { type CalledPeers, gatheredStores, type WrittenStore } from "../controllers/followed/called-store";
import type { RowStorage } from "../controllers/followed/row-storage";
import { clusterName } from "../tenancy/cluster-id";
import {
  changesForeignEndpoints,
  changesMirroredService,
  changesNodeZone,
  changesPodEndpoint,
  changesServiceWithPods,
  changesSliceOf,
} from "./controller/asked-changes";
import { ENDPOINTS_WRITER, endpointsPass } from "./controller/endpoints-pass";
import { savedCounts } from "./controller/kept-counts";
import { mirrorPass } from "./controller/mirror-pass";
import type { EndpointControllerPorts } from "./controller/ports";
import { slicesPass } from "./controller/slices-pass";
import type { EndpointCounts, EndpointCountsRpc } from "./rpc/endpoint-counts";

export interface EndpointControllerSetting extends LoopPorts {
  /** id of the cluster */
  cluster: string;
  clock: Clock;
  /** the configuration that the objects of the cluster run under; throws when it is broken */
  config(): Pick<Config, "maxEndpointsPerSlice" | "endpointsBatchMs">;
  /** `storeOf` makes a stub for one call */
  peers: Pick<EventRecorderPorts, "events"> & CalledPeers;
  tables: { rows: RowStorage };
}

type Entry<Brain extends Controller = Controller> = ControllerEntry<EndpointControllerSetting, Brain>;

/** A controller with metrics. */
class CountedController extends Controller implements EndpointCountsRpc {
  constructor(
    private readonly setting: EndpointControllerSetting,
    pass: Pass,
  ) {
    super(setting, pass);
  }

  endpointCounts(): Promise<EndpointCounts | null> {
    const { isOn, tables } = this.setting;
    return Promise.resolve(isOn() ? savedCounts(tables.rows) : null);
  }
}

const SERVICES = qualifiedResource(servicesDefinition);
const PODS = qualifiedResource(podsDefinition);
const NODES = qualifiedResource(nodesDefinition);
const SLICES = qualifiedResource(endpointSlicesDefinition);
const ENDPOINTS = qualifiedResource(endpointsDefinition);

export const endpointSliceController: Entry<CountedController> = {
  follows: [SERVICES, PODS, NODES, SLICES],
  filters: {
    [SERVICES]: changesServiceWithPods,
    [PODS]: changesPodEndpoint,
    [NODES]: changesNodeZone,
    [SLICES]: changesSliceOf(SLICE_CONTROLLER),
  },
  upstream: "endpointslice-controller",
  make: (setting) =>
    new CountedController(
      setting,
      passOf(setting, "endpoint-slice-controller", (ports, store) =>
        slicesPass({
          ...ports,
          services: store(servicesDefinition),
          pods: store(podsDefinition),
          nodes: store(nodesDefinition),
          slices: store(endpointSlicesDefinition),
          maxPerSlice: setting.config().maxEndpointsPerSlice,
        }),
      ),
    ),
};

export const endpointsController: Entry = {
  follows: [SERVICES, PODS, ENDPOINTS],
  hearsCreations: true,
  filters: { [SERVICES]: changesServiceWithPods, [PODS]: changesPodEndpoint },
  upstream: "endpoints-controller",
  make: (setting) =>
    new Controller(
      setting,
      passOf(setting, "endpoint-controller", (ports, store) =>
        endpointsPass({
          ...ports,
          services: store(servicesDefinition),
          pods: store(podsDefinition),
          endpoints: store(endpointsDefinition),
        }),
      ),
    ),
};

export const mirroringController: Entry<CountedController> = {
  follows: [SERVICES, ENDPOINTS, SLICES],
  filters: {
    [SERVICES]: changesMirroredService,
    [ENDPOINTS]: changesForeignEndpoints(ENDPOINTS_WRITER),
    [SLICES]: changesSliceOf(MIRRORING_CONTROLLER),
  },
  upstream: "endpointslice-mirroring-controller",
  make: (setting) =>
    new CountedController(
      setting,
      passOf(setting, "endpoint-slice-mirroring-controller", (ports, store) =>
        mirrorPass({
          ...ports,
          services: store(servicesDefinition),
          endpoints: store(endpointsDefinition),
          slices: store(endpointSlicesDefinition),
        }),
      ),
    ),
};

/** `reporter`: upstream's component of its events. */
function passOf(
  setting: EndpointControllerSetting,
  reporter: string,
  make: (ports: EndpointControllerPorts, store: (definition: ResourceDefinition) => WrittenStore) => Pass,
): Pass {
  const { clock, cluster, config, peers, recorder, tables } = setting;
  const instance = `${reporter}-${clusterName(cluster)}`;
  return madeOnce(() => {
    const events = new EventRecorder({ controller: reporter, instance }, { clock, recorder, events: () => peers.events() });
    const ports = { clock, recorder, storage: tables.rows, events, batchMs: config().endpointsBatchMs };
    return make(ports, gatheredStores(setting));
  });
}
