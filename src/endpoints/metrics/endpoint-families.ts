/**
 * The metrics of the controllers of EndpointSlices and of mirroring, as upstream's
 * (endpointslice/metrics/metrics.go, pkg/controller/endpointslicemirroring/metrics/metrics.go).
 */
import { DEFAULT_BOUNDS, doubledBounds } from "../../core/telemetry/histogram";
import type { MetricFamily } from "../../core/telemetry/metrics";
import type { EndpointCounts } from "../rpc/endpoint-counts";

interface EndpointFamily {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** of a histogram */
  readonly bounds?: readonly number[];
}

/** Families by the part of the name behind the prefix, in the order in which they are shown. */
export interface EndpointMetrics {
  readonly prefix: string;
  readonly families: Readonly<Record<string, EndpointFamily>>;
}

const ENDPOINTS_BOUNDS = doubledBounds(2, 15);

export const SLICE_METRICS: EndpointMetrics = {
  prefix: "endpoint_slice_controller_",
  families: {
    endpoints_added_per_sync: histogram("[BETA] Number of endpoints added on each Service sync"),
    endpoints_removed_per_sync: histogram("[BETA] Number of endpoints removed on each Service sync"),
    endpoints_desired: { type: "gauge", help: "[BETA] Number of endpoints desired" },
    num_endpoint_slices: { type: "gauge", help: "[BETA] Number of EndpointSlices" },
    desired_endpoint_slices: {
      type: "gauge",
      help: "[BETA] Number of EndpointSlices that would exist with perfect endpoint allocation",
    },
    changes: { type: "counter", help: "[ALPHA] Number of EndpointSlice changes" },
    endpointslices_changed_per_sync: histogram("[ALPHA] Number of EndpointSlices changed on each Service sync", DEFAULT_BOUNDS),
    syncs: { type: "counter", help: "[ALPHA] Number of EndpointSlice syncs" },
    services_count_by_traffic_distribution: {
      type: "gauge",
      help: "[BETA] Number of Services using some specific trafficDistribution",
    },
  },
};

export const MIRROR_METRICS: EndpointMetrics = {
  prefix: "endpoint_slice_mirroring_controller_",
  families: {
    endpoints_added_per_sync: histogram("[ALPHA] Number of endpoints added on each Endpoints sync"),
    endpoints_updated_per_sync: histogram("[ALPHA] Number of endpoints updated on each Endpoints sync"),
    endpoints_removed_per_sync: histogram("[ALPHA] Number of endpoints removed on each Endpoints sync"),
    addresses_skipped_per_sync: histogram(
      "[ALPHA] Number of addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset",
    ),
    endpoints_sync_duration: histogram("[ALPHA] Duration of syncEndpoints() in seconds", doubledBounds(0.001, 15)),
    endpoints_desired: { type: "gauge", help: "[ALPHA] Number of endpoints desired" },
    num_endpoint_slices: { type: "gauge", help: "[ALPHA] Number of EndpointSlices" },
    desired_endpoint_slices: {
      type: "gauge",
      help: "[ALPHA] Number of EndpointSlices that would exist with perfect endpoint allocation",
    },
    changes: { type: "counter", help: "[ALPHA] Number of EndpointSlice changes" },
  },
};

/** All families, with the series that have occurred. Without counts (undefined = no answer, null = switched off) there are no series. */
export function endpointFamilies({ prefix, families }: EndpointMetrics, counts: EndpointCounts | null | undefined): MetricFamily[] {
  return Object.entries(families).map(([short, { type, help, bounds = [] }]): MetricFamily => {
    const isOf = ({ name }: { name: string }): boolean => name === short;
    const name = prefix + short;
    if (type === "histogram") return { name, type, help, bounds, samples: counts?.histograms.filter(isOf) ?? [] };
    return { name, type, help, samples: counts?.[type === "gauge" ? "gauges" : "counters"].filter(isOf) ?? [] };
  });
}

function histogram(help: string, bounds: readonly number[] = ENDPOINTS_BOUNDS): EndpointFamily {
  return { type: "histogram", help, bounds };
}
