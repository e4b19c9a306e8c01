import { describe, expect, it } from "vitest";
import { metricsText } from "../../../../src/core/telemetry/metrics";
import { type EndpointMetrics, endpointFamilies, MIRROR_METRICS, SLICE_METRICS } from "../../../../src/endpoints/metrics/endpoint-families";
import type { EndpointCounts } from "../../../../src/endpoints/rpc/endpoint-counts";

const ENDPOINTS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];
const DEFAULTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DURATIONS = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384];

/** Upstream 1.36. */
const SLICES: [name: string, type: string, help: string, bounds?: number[]][] = [
  ["endpoints_added_per_sync", "histogram", "[BETA] Number of endpoints added on each Service sync", ENDPOINTS],
  ["endpoints_removed_per_sync", "histogram", "[BETA] Number of endpoints removed on each Service sync", ENDPOINTS],
  ["endpoints_desired", "gauge", "[BETA] Number of endpoints desired"],
  ["num_endpoint_slices", "gauge", "[BETA] Number of EndpointSlices"],
  ["desired_endpoint_slices", "gauge", "[BETA] Number of EndpointSlices that would exist with perfect endpoint allocation"],
  ["changes", "counter", "[ALPHA] Number of EndpointSlice changes"],
  ["endpointslices_changed_per_sync", "histogram", "[ALPHA] Number of EndpointSlices changed on each Service sync", DEFAULTS],
  ["syncs", "counter", "[ALPHA] Number of EndpointSlice syncs"],
  ["services_count_by_traffic_distribution", "gauge", "[BETA] Number of Services using some specific trafficDistribution"],
];
const MIRRORED: typeof SLICES = [
  ["endpoints_added_per_sync", "histogram", "[ALPHA] Number of endpoints added on each Endpoints sync", ENDPOINTS],
  ["endpoints_updated_per_sync", "histogram", "[ALPHA] Number of endpoints updated on each Endpoints sync", ENDPOINTS],
  ["endpoints_removed_per_sync", "histogram", "[ALPHA] Number of endpoints removed on each Endpoints sync", ENDPOINTS],
  [
    "addresses_skipped_per_sync",
    "histogram",
    "[ALPHA] Number of addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset",
    ENDPOINTS,
  ],
  ["endpoints_sync_duration", "histogram", "[ALPHA] Duration of syncEndpoints() in seconds", DURATIONS],
  ["endpoints_desired", "gauge", "[ALPHA] Number of endpoints desired"],
  ["num_endpoint_slices", "gauge", "[ALPHA] Number of EndpointSlices"],
  ["desired_endpoint_slices", "gauge", "[ALPHA] Number of EndpointSlices that would exist with perfect endpoint allocation"],
  ["changes", "counter", "[ALPHA] Number of EndpointSlice changes"],
];

describe.each<[string, EndpointMetrics, typeof SLICES]>([
  ["endpoint_slice_controller_", SLICE_METRICS, SLICES],
  ["endpoint_slice_mirroring_controller_", MIRROR_METRICS, MIRRORED],
])("%s*", (prefix, metrics, expected) => {
  it("names, types, help and buckets: upstream's", () => {
    expect(endpointFamilies(metrics, null)).toEqual(
      expected.map(([name, type, help, bounds]) => ({ name: prefix + name, type, help, samples: [], ...(bounds && { bounds }) })),
    );
  });
});

it("counts of a controller: the series that have occurred, each in its family", () => {
  const histogram = { counts: [1, 0, 2, ...new Array<number>(13).fill(0)], sum: 13 };
  const counts: EndpointCounts = {
    counters: [
      { name: "changes", labels: { operation: "create" }, value: 3 },
      { name: "syncs", labels: { result: "success" }, value: 4 },
    ],
    gauges: [{ name: "endpoints_desired", labels: {}, value: 13 }],
    histograms: [{ name: "endpoints_added_per_sync", labels: {}, value: histogram }],
  };
  const lines = metricsText(endpointFamilies(SLICE_METRICS, counts)).split("\n");
  expect(lines.filter((line) => !line.startsWith("#") && !line.includes("_bucket"))).toEqual([
    "endpoint_slice_controller_endpoints_added_per_sync_sum 13",
    "endpoint_slice_controller_endpoints_added_per_sync_count 3",
    "endpoint_slice_controller_endpoints_desired 13",
    'endpoint_slice_controller_changes{operation="create"} 3',
    'endpoint_slice_controller_syncs{result="success"} 4',
    "",
  ]);
  expect(lines).toContain('endpoint_slice_controller_endpoints_added_per_sync_bucket{le="8"} 3');
});

it.each([undefined, null])("a controller that does not answer or is switched off (%s): families without series", (counts) => {
  expect(endpointFamilies(MIRROR_METRICS, counts).every(({ samples }) => samples.length === 0)).toBe(true);
});
