/**
 * GET /metrics of one cluster. Its stores and owners count their turns since they started, so a restart begins at 0. Counters of allocators, of
 * repair and of the controllers of slices are kept. The isolate that answers counts requests. Stores and controllers that nobody ever used have no objects,
 * and no series.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { proxyHealthStub, repairStub, servicesStore, slicesStub } from "../../../durable-objects/peers/peers";
import { allocatorFamilies } from "../../addresses/metrics/allocator-families";
import { nodePortFamilies } from "../../addresses/metrics/node-port-metrics";
import { qualifiedResource } from "../../api/meta/status";
import { storeLabel } from "../../api/registry/all";
import { leasesDefinition } from "../../api/registry/leases/definition";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { ServingInstances } from "../../leases/identity/serving-instances";
import { type MetricFamily, metricsText } from "../../core/telemetry/metrics";
import { endpointFamilies, MIRROR_METRICS, SLICE_METRICS } from "../../endpoints/metrics/endpoint-families";
import { healthFamilies } from "../../proxy-health/health-families";
import { clusterName } from "../../tenancy/cluster-id";
import { inFlightFamilies } from "../http/in-flight";
import { processStartFamily } from "../http/connection/process-start";
import { requestMetrics } from "../http/connection/request-metrics";
import { terminations } from "../http/connection/terminations";
import { usedObjects } from "./used-objects";
import { relay } from "../routing/relay";
import { instancesOf } from "../routing/instances";
import { controllerFamilies, controllerViews } from "./controller-statuses";
import { healthSlis } from "./health-slis";
import { longRunningFamily, ofCluster, repairFamilies, watchesIn } from "./metric-families";
import { ownerReadings, read, type Reading, storeReadings } from "./metric-readings";

const LEASES = qualifiedResource(leasesDefinition);
/** in a cluster that no place serves yet */
const NO_INSTANCES: Pick<ServingInstances, "living" | "expired"> = { living: [], expired: 0 };
const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** GET /metrics/slis: the results of health checks, in the isolate that answers. Upstream serves them nowhere else. */
export function slisResponse(cluster: string): Response {
  const name = clusterName(cluster);
  return new Response(metricsText(ofCluster(healthSlis.families(name), name)), { headers: { "Content-Type": CONTENT_TYPE } });
}

export async function metricsResponse(env: Env, cluster: string): Promise<Response> {
  const used = await usedObjects(env, cluster);
  const relayed = relay.open(cluster);
  // A watch makes the store that it follows.
  const isThere = (definition: ResourceDefinition): boolean =>
    used.hasStore(qualifiedResource(definition)) || watchesIn(relayed, storeLabel(definition)) > 0;
  const ofSlices = async (name: Parameters<typeof slicesStub>[2]) =>
    used.hasController(name) ? read(`${name}.counts`, () => slicesStub(env, cluster, name).endpointCounts()) : undefined;
  const [stores, { owners, usage }, allocations, nodePorts, repair, slices, mirrored, instances, health, controllers] = await Promise.all([
    storeReadings(env, cluster, isThere),
    ownerReadings(env, cluster),
    read("services.allocations", () => servicesStore(env, cluster).allocations()),
    read("services.nodePortAllocations", () => servicesStore(env, cluster).nodePortAllocations()),
    read("repair.counts", () => repairStub(env, cluster).repairCounts()),
    ofSlices("endpointslice-controller"),
    ofSlices("endpointslice-mirroring-controller"),
    used.hasStore(LEASES) ? read("leases.list of identities", () => instancesOf(env, cluster)) : NO_INSTANCES,
    used.hasController("proxy-health") ? read("proxy-health.healthCounts", () => proxyHealthStub(env, cluster).healthCounts()) : undefined,
    controllerViews(env, cluster, used),
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
    perStore(
      "servicenet_store_watchers",
      "gauge",
      "Open watches of a store, those of clients as the isolate that answers has them.",
      (r) => r.watchers + watchesIn(relayed, r.store),
    ),
    perStore(
      "servicenet_store_sockets",
      "gauge",
      "Sockets over which Workers follow a store for all their watches.",
      (r) => r.sockets ?? 0,
    ),
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
    longRunningFamily(stores, relayed),
    terminations.family(name),
    ...inFlightFamilies(),
    processStartFamily(),
  ];
  return new Response(metricsText(ofCluster(families, name)), { headers: { "Content-Type": CONTENT_TYPE } });
}
