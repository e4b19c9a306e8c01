/**
 * The metrics of allocators by CIDR, with upstream's names and labels (pkg/registry/core/service/ipallocator/metrics.go). The counters are those of
 * the object that asks for addresses. The gauges come from the object that has the bitmap, when they are read.
 */
import type { CidrAllocations } from "../../api/rpc/store";
import type { Band } from "../../core/net/band";
import type { MetricFamily } from "../../core/telemetry/metrics";
import { DURATION_BOUNDS } from "./allocation-metrics";

const PREFIX = "kube_apiserver_clusterip_allocator_";

/** What a CIDR has at this moment. */
export interface CidrUsage {
  cidr: string;
  allocated: number;
  available: number;
}

/** All families; of a counter only the scopes that have occurred, as in upstream's registry. */
export function allocatorFamilies(usage: readonly CidrUsage[], allocations: readonly CidrAllocations[]): MetricFamily[] {
  const gauge = (name: string, help: string, value: (usage: CidrUsage) => number): MetricFamily => ({
    name: PREFIX + name,
    type: "gauge",
    help: `[ALPHA] ${help}`,
    samples: usage.map((each) => ({ labels: { cidr: each.cidr }, value: value(each) })),
  });
  const counter = (name: string, help: string, value: (allocations: CidrAllocations) => Record<Band, number>): MetricFamily => ({
    name: PREFIX + name,
    type: "counter",
    help: `[ALPHA] ${help}`,
    samples: allocations.flatMap((each) =>
      (["dynamic", "static"] as const)
        .filter((scope) => value(each)[scope] > 0)
        .map((scope) => ({ labels: { cidr: each.cidr, scope }, value: value(each)[scope] })),
    ),
  });
  return [
    gauge("allocated_ips", "Gauge measuring the number of allocated IPs for Services", ({ allocated }) => allocated),
    gauge("available_ips", "Gauge measuring the number of available IPs for Services", ({ available }) => available),
    counter("allocation_total", "Number of Cluster IPs allocations", ({ total }) => total),
    counter("allocation_errors_total", "Number of errors trying to allocate Cluster IPs", ({ errors }) => errors),
    {
      name: `${PREFIX}allocation_duration_seconds`,
      type: "histogram",
      help: "[ALPHA] Duration in seconds to allocate a Cluster IP by ServiceCIDR",
      bounds: DURATION_BOUNDS,
      samples: allocations
        .filter(({ total }) => total.static + total.dynamic > 0)
        .map(({ cidr, durations }) => ({ labels: { cidr }, value: durations })),
    },
  ];
}
