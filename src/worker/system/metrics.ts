/**
 * GET /metrics of one cluster: how much each of its stores and owners of addresses has written, and in how many commits. Counted by the
 * objects themselves since they started, so a restart starts them anew, as it does any process's counters. What allocators and repair count is kept
 * and goes on. What an isolate refused it counts itself.
 */
import type { Env } from "../../../durable-objects/env";
import { coordinator, owner, repairController, servicesStore, storedResource, storeStub } from "../../../durable-objects/peers";
import { systemClock } from "../../../durable-objects/ports";
import { allocatorFamilies, type CidrUsage } from "../../addresses/alloc/allocation-metrics";
import { inParallel } from "../../core/base/in-parallel";
import { pause } from "../../core/base/pause";
import { definitions } from "../../api/registry/all";
import type { StoreCounters } from "../../api/rpc/store";
import type { RepairCounts } from "../../addresses/rpc/repair";
import { type MetricFamily, metricsText } from "../../core/telemetry/metrics";
import { partsOfRanges } from "../../addresses/topology/range-parts";
import { clusterName, DEFAULT_CLUSTER } from "../../tenancy/cluster-id";
import { READY_TIMEOUT_MS } from "../http/limits";
import { log } from "../http/log";
import { call } from "../routing/call";
import { inFlightFamily } from "../http/in-flight";
import { processStartFamily } from "../http/process-start";
import { requestMetrics } from "../http/request-metrics";
import { terminations } from "../http/terminations";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

interface Reading extends StoreCounters {
  store: string;
}

/** Owners asked side by side: a scrape among a thousand ranges keeps nobody from a thread that may be everybody's. */
const OWNERS_AT_ONCE = 32;

/** An object that does not answer is left out: half of the metrics are better than none. */
async function read<T>(what: string, attempt: () => Promise<T>): Promise<T | undefined> {
  const answer = await call(attempt, { what, repeatable: true, timeoutMs: READY_TIMEOUT_MS });
  if (answer.ok) return answer.value;
  log("warn", "metrics are incomplete", { what, message: answer.error.message ?? "" });
  return undefined;
}

async function storeReadings(env: Env, cluster: string): Promise<Reading[]> {
  const stored = definitions.filter((definition) => definition.representationOf === undefined);
  const readings = await Promise.all(
    stored.map(async (definition) => {
      const counters = await read(`${definition.resource}.counters`, () => storeStub(env, cluster, storedResource(definition)).counters());
      return counters && { store: definition.resource, ...counters };
    }),
  );
  return readings.filter((reading) => reading !== undefined);
}

interface OwnerReading {
  owner: string;
  drains: number;
  operations: number;
}

/** What the owners say of themselves and of the ranges that give out addresses now. An address in several ranges counts in each, as it does upstream. */
async function ownerReadings(env: Env, cluster: string): Promise<{ owners: OwnerReading[]; usage: CidrUsage[] }> {
  const topology = await read("coordinator.topology", () => coordinator(env, cluster).topology());
  if (!topology) return { owners: [], usage: [] };
  const parts = partsOfRanges(topology);
  const taken = new Map(parts.ranges.map(({ cidr }) => [cidr, 0]));
  const unknown = new Set<string>();
  const owners = new Map<string, OwnerReading>();
  await inParallel([...parts.byOwner], OWNERS_AT_ONCE, async ([uid, intervals]) => {
    const answer = await read("owner.usage", () => owner(env, cluster, uid).usage(intervals.map(({ first, last }) => ({ first, last }))));
    for (const [index, { cidr }] of intervals.entries()) {
      if (answer) taken.set(cidr, (taken.get(cidr) ?? 0) + (answer.taken[index] ?? 0));
      else unknown.add(cidr);
    }
    if (answer) owners.set(uid, { owner: uid, drains: answer.drains, operations: answer.weight });
    await pause(systemClock, 1);
  });
  const known = parts.ranges.filter(({ cidr }) => !unknown.has(cidr));
  return {
    owners: [...parts.byOwner.keys()].flatMap((uid) => owners.get(uid) ?? []),
    usage: known.map(({ cidr, size }) => {
      const allocated = taken.get(cidr) ?? 0;
      return { cidr, allocated, available: Number(size - BigInt(allocated)) };
    }),
  };
}

/** Names, labels and help as upstream's; every type is there from the beginning. */
const REPAIR_TYPES = ["leak", "repair", "full", "outOfRange", "duplicate", "unknown", "invalid"] as const;

function repairFamilies(counts: RepairCounts | undefined): MetricFamily[] {
  return [
    {
      name: "apiserver_clusterip_repair_ip_errors_total",
      type: "counter",
      help:
        "[ALPHA] Number of errors detected on clusterips by the repair loop broken down by type of error: " +
        "leak, repair, full, outOfRange, duplicate, unknown, invalid",
      samples: counts ? REPAIR_TYPES.map((type) => ({ labels: { type }, value: counts.ipErrors[type] ?? 0 })) : [],
    },
    {
      name: "apiserver_clusterip_repair_reconcile_errors_total",
      type: "counter",
      help: "[ALPHA] Number of reconciliation failures on the clusterip repair reconcile loop",
      samples: counts ? [{ labels: {}, value: counts.reconcileErrors }] : [],
    },
    {
      name: "servicenet_configuration_differs",
      type: "gauge",
      help: "1 for each setting in which a Worker differed from this cluster's objects in the last minutes.",
      samples: (counts?.differingSettings ?? []).map((setting) => ({ labels: { setting }, value: 1 })),
    },
    {
      name: "servicenet_repair_sweeps_total",
      type: "counter",
      help: "Full sweeps of repair that came to their end: every Service, IPAddress and owner of addresses was looked at.",
      samples: counts ? [{ labels: {}, value: counts.sweeps }] : [],
    },
  ];
}

/** Name, labels and help: upstream apiserver endpoints/metrics/metrics.go. The stores count, so it is all watches of the cluster. */
function longRunningFamily(stores: readonly Reading[]): MetricFamily {
  return {
    name: "apiserver_longrunning_requests",
    type: "gauge",
    help:
      "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. " +
      "Not all requests are tracked this way.",
    samples: stores.flatMap(({ watches }) =>
      watches.map(({ group, version, resource, scope, count }) => ({
        labels: { verb: "WATCH", group, version, resource, subresource: "", scope, component: "apiserver" },
        value: count,
      })),
    ),
  };
}

/** The families with a label `cluster`, without which those of several clusters could not be told apart. */
function ofCluster(families: readonly MetricFamily[], cluster: string): readonly MetricFamily[] {
  if (cluster === DEFAULT_CLUSTER) return families;
  const labelled = <T extends { labels: object }>(sample: T): T => ({ ...sample, labels: { ...sample.labels, cluster } });
  return families.map((family) =>
    family.type === "histogram"
      ? { ...family, samples: family.samples.map(labelled) }
      : { ...family, samples: family.samples.map(labelled) },
  );
}

export async function metricsResponse(env: Env, cluster: string): Promise<Response> {
  const [stores, { owners, usage }, allocations, repair] = await Promise.all([
    storeReadings(env, cluster),
    ownerReadings(env, cluster),
    read("services.allocations", () => servicesStore(env, cluster).allocations()),
    read("repair.counts", () => repairController(env, cluster).repairCounts()),
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
    ...allocatorFamilies(usage, allocations ?? []),
    ...repairFamilies(repair),
    ...requestMetrics.families(name),
    longRunningFamily(stores),
    terminations.family(name),
    inFlightFamily(),
    processStartFamily(),
  ];
  return new Response(metricsText(ofCluster(families, name)), { headers: { "Content-Type": CONTENT_TYPE } });
}
