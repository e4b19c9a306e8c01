import { expect, it } from "vitest";
import { ProxyMetrics } from "../../../../src/clients/proxy/proxy-metrics";
import { TriggerTimes } from "../../../../src/clients/proxy/trigger-times";
import { parsePrometheus } from "../../../support/values/prometheus";
import { aSlice } from "../../../support/values/endpoint-objects";

const NOW = 1_700_000_000_000;

function read(metrics: ProxyMetrics) {
  const families = parsePrometheus(metrics.text({ withoutLocalEndpoints: (policy) => (policy === "internalTrafficPolicy" ? 2 : 0) }));
  return (name: string) =>
    (families.get(`kubeproxy_${name}`)?.samples ?? []).map(({ labels, value }) => [...Object.values(labels), value].join(" "));
}

it("changes, syncs and answers: counted under kube-proxy's names", () => {
  const metrics = new ProxyMetrics();
  metrics.noteChanges("service", 3);
  metrics.noteChanges("endpoint", 2);
  metrics.noteQueued(NOW);
  metrics.noteAnswer("/healthz", 200);
  metrics.noteAnswer("/healthz", 200);
  metrics.noteAnswer("/livez", 503);
  expect(read(metrics)("sync_proxy_rules_service_changes_pending")).toEqual(["3"]);
  metrics.noteSync(NOW, NOW + 20, [{ family: "IPv4", at: NOW - 700 }]);
  metrics.noteChanges("endpoint", 5);
  const values = read(metrics);
  expect(values("sync_proxy_rules_service_changes_pending")).toEqual(["0"]);
  expect(values("sync_proxy_rules_service_changes_total")).toEqual(["3"]);
  expect(values("sync_proxy_rules_endpoint_changes_pending")).toEqual(["5"]);
  expect(values("sync_proxy_rules_endpoint_changes_total")).toEqual(["7"]);
  expect(values("proxy_healthz_total")).toEqual(["200 2"]);
  expect(values("proxy_livez_total")).toEqual(["503 1"]);
  expect(values("sync_proxy_rules_last_queued_timestamp_seconds")).toEqual(["IPv4 1700000000", "IPv6 1700000000"]);
  expect(values("sync_proxy_rules_last_timestamp_seconds")).toEqual(["IPv4 1700000000.02", "IPv6 1700000000.02"]);
  expect(values("sync_proxy_rules_no_local_endpoints_total")).toEqual([
    "IPv4 internal 2",
    "IPv4 external 0",
    "IPv6 internal 2",
    "IPv6 external 0",
  ]);
});

it("durations: upstream's buckets", () => {
  const metrics = new ProxyMetrics();
  metrics.noteSync(NOW, NOW + 20, [{ family: "IPv4", at: NOW - 700 }]);
  const text = metrics.text({ withoutLocalEndpoints: () => 0 });
  const bounds = (name: string) => [...text.matchAll(new RegExp(`${name}_bucket\\{ip_family="IPv4",le="(.*?)"\\} (\\d+)`, "g"))];
  const sync = bounds("sync_proxy_rules_duration_seconds");
  expect([sync.length, sync[0]?.[1], sync.at(-2)?.[1]]).toEqual([16, "0.001", "16.384"]);
  expect(sync.find(([, , count]) => count === "1")?.[1]).toBe("0.032");
  const programming = bounds("network_programming_duration_seconds").map(([, bound]) => bound);
  expect([programming.length, ...programming.slice(0, 4)]).toEqual([81, "0.25", "0.5", "1", "2"]);
  expect(programming.slice(60, 63)).toEqual(["59", "60", "65"]);
  expect(programming.slice(-3)).toEqual(["270", "300", "+Inf"]);
});

it("TriggerTimes: what slices say since the start, once", () => {
  const times = new TriggerTimes(Date.UTC(2025, 0, 1));
  const slice = (at: string | undefined, addressType = "IPv4") => {
    const made = aSlice("a", "web", [], { addressType });
    const annotations: Record<string, string> = at ? { "endpoints.kubernetes.io/last-change-trigger-time": at } : {};
    return { ...made, metadata: { ...made.metadata, annotations } };
  };
  for (const at of ["2024-12-31T23:59:59Z", undefined, "no time", "2025-01-01T00:00:00Z"]) times.note(slice(at));
  times.note(slice("2025-01-01T00:00:02Z", "IPv6"));
  times.note(slice("2025-01-01T00:00:02Z", "FQDN"));
  expect(times.take()).toEqual([
    { family: "IPv4", at: Date.UTC(2025, 0, 1) },
    { family: "IPv6", at: Date.UTC(2025, 0, 1, 0, 0, 2) },
  ]);
  expect(times.take()).toEqual([]);
});
