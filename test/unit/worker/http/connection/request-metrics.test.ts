import { describe, expect, it } from "vitest";
import { metricsText } from "../../../../../src/core/telemetry/metrics";
import { type CountedRequest, dryRunLabel } from "../../../../../src/worker/http/negotiate/request-labels";
import { REQUEST_SERIES_MAX } from "../../../../../src/worker/http/limits";
import { RequestMetrics } from "../../../../../src/worker/http/connection/request-metrics";
import { parsePrometheus } from "../../../../support/values/prometheus";

function asked(overrides: Partial<CountedRequest> = {}): CountedRequest {
  const lease = { group: "coordination.k8s.io", version: "v1", resource: "leases", subresource: "", namespace: "default", name: "a" };
  return { verb: "get", ...lease, headers: new Headers(), ...overrides };
}

describe("RequestMetrics", () => {
  it("answers of one kind of request: one histogram, one counter for each code", () => {
    const metrics = new RequestMetrics();
    for (const [code, seconds] of [
      [200, 0.005],
      [200, 0.3],
      [404, 61],
    ] as const) {
      metrics.note("blue", asked(), "", code, seconds);
    }
    const families = parsePrometheus(metricsText(metrics.families("blue")));
    const totals = families.get("apiserver_request_total")?.samples.map(({ labels, value }) => `${labels["code"] ?? ""} ${String(value)}`);
    expect(totals).toEqual(["200 2", "404 1"]);
    const durations = families.get("apiserver_request_duration_seconds")?.samples ?? [];
    const bucket = (le: string) => durations.find(({ labels }) => labels["le"] === le)?.value;
    expect(["0.005", "0.2", "0.4", "60", "+Inf"].map(bucket)).toEqual([1, 1, 2, 2, 3]);
    expect(durations.find(({ name }) => name.endsWith("_sum"))?.value).toBeCloseTo(61.305);
  });

  it("a request of another cluster: its own series", () => {
    const metrics = new RequestMetrics();
    metrics.note("blue", asked(), "", 200, 0);
    expect(metrics.families("green").map(({ samples }) => samples.length)).toEqual([0, 0]);
  });

  it("more series than the limit: counting starts over", () => {
    const metrics = new RequestMetrics();
    for (let i = 0; i <= REQUEST_SERIES_MAX; i++) metrics.note(`c-${String(i)}`, asked(), "", 200, 0);
    expect(metrics.families("c-0")[0]?.samples).toEqual([]);
    expect(metrics.families(`c-${String(REQUEST_SERIES_MAX)}`)[0]?.samples).toHaveLength(1);
  });
});

describe("dryRunLabel", () => {
  it.each([
    ["", ""],
    ["dryRun=", ""],
    ["dryRun=All", "All"],
    ["dryRun=All&dryRun=All", "All"],
    ["dryRun=Some", "invalid"],
    ["dryRun=All&dryRun=Some", "invalid"],
  ])("%j: %j", (query, label) => {
    expect(dryRunLabel(new URLSearchParams(query))).toBe(label);
  });
});
