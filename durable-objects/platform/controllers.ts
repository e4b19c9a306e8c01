/** The table of a cluster's controllers: one line for each. Their rules, and how they are made, are in src. */
import { repairController, type RepairSetting } from "../../src/addresses/repair/cluster-repair";
import type { RepairControllerRpc } from "../../src/addresses/rpc/repair";
import type { VisitListRpc } from "../../src/api/rpc/visits";
import type { Controller } from "../../src/controllers/frame/controller";
import type { ControllerStatusRpc } from "../../src/controllers/frame/status";
import { clusterRolesController, type ClusterRolesControllerSetting } from "../../src/controllers/cluster-roles-controller";
import { ControllerTable } from "../../src/controllers/controller-table";
import {
  type EveryNamespaceControllerSetting,
  rootCertificateController,
  serviceAccountController,
} from "../../src/controllers/every-namespace-controllers";
import { garbageCollectionController, type GarbageCollectionSetting } from "../../src/controllers/garbage-collection-controller";
import { resourceQuotasController, type ResourceQuotasSetting } from "../../src/controllers/resource-quotas-controller";
import { namespacesController, type NamespacesSetting } from "../../src/controllers/namespaces-controller";
import {
  endpointsController,
  type EndpointControllerSetting,
  endpointSliceController,
  mirroringController,
} from "../../src/endpoints/endpoint-controllers";
import type { EndpointCountsRpc } from "../../src/endpoints/rpc/endpoint-counts";
import { clustersController, type ClustersControllerSetting } from "../../src/fleet/clusters-controller";
import { nodeLifecycleController, type NodeLifecycleSetting } from "../../src/nodes/node-lifecycle-controller";
import { podCollectionController, type PodControllerSetting, taintEvictionController } from "../../src/nodes/pod-controllers";
import { poolsController, type PoolsControllerSetting } from "../../src/pools/pools-controller";
import { isRootCluster } from "../../src/tenancy/cluster-id";
import { clusterObjects } from "../../src/tenancy/cluster-objects";
import type { ClusterObject } from "../../src/tenancy/record-storage";
import { proxyHealthController, type ProxyHealthSetting } from "../../src/proxy-health/proxy-health-controller";
import type { ProxyHealthControllerRpc } from "../../src/proxy-health/rpc";

/** A controller as its object calls it; some answer more calls than the loop's. */
export type ControllerBrain = Pick<Controller, "poke" | "alarm"> & Partial<AskedRpc & Pick<Controller, "switched">>;
/** Calls besides the loop's. All controllers answer the first one; a call of a controller that does not answer it is `unsupported`. */
export type AskedRpc = ControllerStatusRpc & RepairControllerRpc & VisitListRpc & EndpointCountsRpc & ProxyHealthControllerRpc;
export const ASKED_CALLS = [
  "controllerStatus",
  "pokeFrom",
  "askVisits",
  "enter",
  "entered",
  "doubt",
  "sweep",
  "repairCounts",
  "endpointCounts",
  "shardState",
  "targets",
  "addHealthTally",
  "healthCounts",
] as const satisfies readonly (keyof AskedRpc)[];
export type ControllerName =
  | "namespaces"
  | "garbage-collection"
  | "repair"
  | "resource-quotas"
  | "endpointslice-controller"
  | "endpoints-controller"
  | "endpointslice-mirroring-controller"
  | "node-lifecycle-controller"
  | "pod-garbage-collector-controller"
  | "taint-eviction-controller"
  | "proxy-health"
  | "serviceaccount-controller"
  | "root-ca-certificate-publisher-controller"
  | "clusterrole-aggregation-controller"
  | "clusters"
  | "ip-pools";
/** The object of a controller as the controller sees it. Every object has the tables of all controllers. */
export type ControllerSetting = NamespacesSetting &
  GarbageCollectionSetting &
  RepairSetting &
  ResourceQuotasSetting &
  EndpointControllerSetting &
  NodeLifecycleSetting &
  PodControllerSetting &
  ProxyHealthSetting &
  EveryNamespaceControllerSetting &
  ClusterRolesControllerSetting &
  ClustersControllerSetting &
  PoolsControllerSetting;

export const CONTROLLERS = new ControllerTable<ControllerName, ControllerSetting, ControllerBrain>({
  namespaces: namespacesController,
  "garbage-collection": garbageCollectionController,
  repair: repairController,
  "resource-quotas": resourceQuotasController,
  "endpointslice-controller": endpointSliceController,
  "endpoints-controller": endpointsController,
  "endpointslice-mirroring-controller": mirroringController,
  "node-lifecycle-controller": nodeLifecycleController,
  "pod-garbage-collector-controller": podCollectionController,
  "taint-eviction-controller": taintEvictionController,
  "proxy-health": proxyHealthController,
  "serviceaccount-controller": serviceAccountController,
  "root-ca-certificate-publisher-controller": rootCertificateController,
  "clusterrole-aggregation-controller": clusterRolesController,
  clusters: clustersController,
  "ip-pools": poolsController,
});

/** The objects of the cluster of this name, besides owners of addresses. */
export function objectsIn(cluster: string): ClusterObject[] {
  const isRoot = isRootCluster(cluster);
  return clusterObjects(CONTROLLERS.namesIn(isRoot), isRoot);
}
