/**
 * GET /metrics of one cluster. Its stores and owners count their turns since they started, so a restart begins at 0. Counters of allocators, of
 * repair and of the controllers of slices are kept. The isolate that answers counts requests.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { proxyHealthStub, repairStub, servicesStore, slicesStub } from "../../../durable-objects/peers/peers";
import { allocatorFamilies } from "../../addresses/metrics/allocator-families";
import { nodePortFamilies } from "../../addresses/metrics/node-port-metrics";
import { type MetricFamily, metricsText } from "../../core/telemetry/metrics";
import { endpointFamilies, MIRROR_METRICS, SLICE_METRICS } from "../../endpoints/metrics/endpoint-families";
import { healthFamilies } from "../../proxy-health/health-families";
import { clusterName } from "../../tenancy/cluster-id";
import { inFlightFamilies } from "../http/in-flight";
import { processStartFamily } from "../http/connection/process-start";
import { requestMetrics } from "../http/connection/request-metrics";
import { terminations } from "../http/connection/terminations";
import { instancesOf } from "../routing/instances";
import { controllerFamilies, controllerViews } from "./controller-statuses";
import { healthSlis } from "./health-slis";
import { longRunningFamily, ofCluster, repairFamilies } from "./metric-families";
import { ownerReadings, read, type Reading, storeReadings } from "./metric-readings";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** GET /metrics/slis: the results of health checks, in the isolate that answers. Upstream serves them nowhere else. */
export function slisResponse(cluster: string): Response {
  const name = clusterName(cluster);
  return new Response(metricsText(ofCluster(healthSlis.families(name), name)), { headers: { "Content-Type": CONTENT_TYPE } });
}

export async function metricsResponse(env: Env, cluster: string): Promise<Response> {
  const [stores, { owners, usage }, allocations, nodePorts, repair, slices, mirrored, instances, health, controllers] = await Promise.all([
    storeReadings(env, cluster),
    ownerReadings(env, cluster),
    read("services.allocations", () => servicesStore(env, cluster).allocations()),
    read("services.nodePortAllocations", () => servicesStore(env, cluster).nodePortAllocations()),
    read("repair.counts", () => repairStub(env, cluster).repairCounts()),
    read("endpointslice-controller.counts", () => slicesStub(env, cluster, "endpointslice-controller").endpointCounts()),
    read("endpointslice-mirroring-controller.counts", () =>
      slicesStub(env, cluster, "endpointslice-mirroring-controller").endpointCounts(),
    ),
    read("leases.list of identities", () => instancesOf(env, cluster)),
    read("proxy-health.healthCounts", () => proxyHealthStub(env, cluster).healthCounts()),
    controllerViews(env, cluster),
  ]);
  const perStore = (name: string, type: "counter" | "gauge", help: string, value: (reading: Reading) => number): MetricFamily => ({
    name,
    type,
    help,
    samples: stores.map((reading) => ({ labels: { store: reading.store }, value: value(reading) })),
  });
  const name = clusterName(cluster);
  const families: MetricFamily[] = [
    perStore(
      "servicenet_store_drains_total",
      "counter",
      "Turns of a store that decided at least one operation; each is at most one commit.",
      (r) => r.drains,
    ),
    perStore(
      "servicenet_store_operations_total",
      "counter",
      "Operations decided by a store; a client's write may take several.",
      (r) => r.operations,
    ),
    perStore("servicenet_store_watchers", "gauge", "Open watches of a store.", (r) => r.watchers),
    perStore("servicenet_store_revision", "gauge", "Newest resourceVersion of a store.", (r) => r.revision),
    {
      name: "servicenet_store_expired_total",
      type: "counter" as const,
      help: "Objects that a store deleted because their time was over: Events, and identity Leases that nobody renewed.",
      samples: stores.flatMap(({ store, expired }) => (expired === undefined ? [] : [{ labels: { store }, value: expired }])),
    },
    {
      name: "servicenet_owner_drains_total",
      type: "counter" as const,
      help: "Commits of the object that owns the addresses of a ServiceCIDR.",
      samples: owners.map(({ owner: uid, drains }) => ({ labels: { owner: uid }, value: drains })),
    },
    {
      name: "servicenet_owner_operations_total",
      type: "counter" as const,
      help: "Allocations, releases and seeds carried out by the object that owns the addresses of a ServiceCIDR.",
      samples: owners.map(({ owner: uid, operations }) => ({ labels: { owner: uid }, value: operations })),
    },
    {
      name: "servicenet_identity_leases",
      type: "gauge" as const,
      help: "Identity Leases of the places that serve the cluster: renewed recently, or run out and not yet deleted.",
      samples: instances
        ? [
            { labels: { state: "living" }, value: instances.living.length },
            { labels: { state: "expired" }, value: instances.expired },
          ]
        : [],
    },
    ...allocatorFamilies(usage, allocations ?? []),
    ...nodePortFamilies(nodePorts),
    ...repairFamilies(repair),
    ...endpointFamilies(SLICE_METRICS, slices),
    ...endpointFamilies(MIRROR_METRICS, mirrored),
    ...healthFamilies(health),
    ...controllerFamilies(controllers),
    ...requestMetrics.families(name),
    longRunningFamily(stores),
    terminations.family(name),
    ...inFlightFamilies(),
    processStartFamily(),
  ];
  return new Response(metricsText(ofCluster(families, name)), { headers: { "Content-Type": CONTENT_TYPE } });
}
