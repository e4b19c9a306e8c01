/** Families of /metrics from the counters of a cluster's objects. */
import type { RepairCounts } from "../../addresses/rpc/repair";
import type { MetricFamily } from "../../core/telemetry/metrics";
import { DEFAULT_CLUSTER } from "../../tenancy/cluster-id";
import type { OpenWatches } from "../../api/rpc/store";
import type { StoreWatches } from "../../api/relay/relay";
import type { Reading } from "./metric-readings";

/** Names, labels and help as upstream's; every type is there from the beginning. */
const NODE_PORT_TYPES = ["leak", "repair", "full", "outOfRange", "duplicate", "unknown"] as const;
const REPAIR_TYPES = [...NODE_PORT_TYPES, "invalid"] as const;

export function repairFamilies(counts: RepairCounts | undefined): MetricFamily[] {
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
    ...nodePortRepairFamilies(counts),
    {
      name: "servicenet_configuration_differs",
      type: "gauge",
      help: "1 for each setting in which a Worker differed from this cluster's objects in the last minutes.",
      samples: (counts?.differingSettings ?? []).map((setting) => ({ labels: { setting }, value: 1 })),
    },
    {
      name: "servicenet_job_last_run_timestamp_seconds",
      type: "gauge",
      help: "When cron last visited the cluster, and when repair last ended a slice of its sweep; seconds since the epoch, 0 is never.",
      samples: counts?.lastRuns
        ? [
            { labels: { job: "cron" }, value: counts.lastRuns.cronMs / 1000 },
            { labels: { job: "repair" }, value: counts.lastRuns.repairMs / 1000 },
          ]
        : [],
    },
    {
      name: "servicenet_repair_sweeps_total",
      type: "counter",
      help: "Full sweeps of repair that came to their end: every Service, IPAddress and owner of addresses was looked at.",
      samples: counts ? [{ labels: {}, value: counts.sweeps }] : [],
    },
  ];
}

/** An object of the release before does not tell the counts of node ports. */
function nodePortRepairFamilies({ nodePorts }: Partial<RepairCounts> = {}): MetricFamily[] {
  return [
    {
      name: "apiserver_nodeport_repair_port_errors_total",
      type: "counter",
      help:
        "[ALPHA] Number of errors detected on ports by the repair loop broken down by type of error: " +
        "leak, repair, full, outOfRange, duplicate, unknown",
      samples: nodePorts ? NODE_PORT_TYPES.map((type) => ({ labels: { type }, value: nodePorts.portErrors[type] ?? 0 })) : [],
    },
    {
      name: "apiserver_nodeport_repair_reconcile_errors_total",
      type: "counter",
      help: "[ALPHA] Number of reconciliation failures on the nodeport repair reconcile loop",
      samples: nodePorts ? [{ labels: {}, value: nodePorts.reconcileErrors }] : [],
    },
  ];
}

/** How many watches of a store clients have in this isolate. */
export function watchesIn(relayed: readonly StoreWatches[], store: string): number {
  const { watches = [] } = relayed.find((one) => one.store === store) ?? {};
  return watches.reduce((sum, { count }) => sum + count, 0);
}

/**
 * Name, labels and help: upstream apiserver endpoints/metrics/metrics.go. Clients' watches are counted by the isolate that answers, those of objects by
 * the stores.
 */
export function longRunningFamily(stores: readonly Reading[], relayed: readonly StoreWatches[]): MetricFamily {
  return {
    name: "apiserver_longrunning_requests",
    type: "gauge",
    help:
      "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. " +
      "Not all requests are tracked this way.",
    samples: summed([...relayed, ...stores].flatMap(({ watches = [] }) => watches)).map(({ group, version, resource, scope, count }) => ({
      labels: { verb: "WATCH", group, version, resource, subresource: "", scope, component: "apiserver" },
      value: count,
    })),
  };
}

/** Watches of the same collections together. */
function summed(watches: readonly OpenWatches[]): OpenWatches[] {
  const sums = new Map<string, OpenWatches>();
  for (const { count, ...watched } of watches) {
    const key = `${watched.group} ${watched.version} ${watched.resource} ${watched.scope}`;
    sums.set(key, { ...watched, count: count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()];
}

/** The families with a label `cluster`, which tells the series of several clusters apart. */
export function ofCluster(families: readonly MetricFamily[], cluster: string): readonly MetricFamily[] {
  if (cluster === DEFAULT_CLUSTER) return families;
  const labelled = <T extends { labels: object }>(sample: T): T => ({ ...sample, labels: { ...sample.labels, cluster } });
  return families.map((family) =>
    family.type === "histogram"
      ? { ...family, samples: family.samples.map(labelled) }
      : { ...family, samples: family.samples.map(labelled) },
  );
}
