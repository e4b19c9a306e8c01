import { describe, expect, it, vi } from "vitest";
import type { Answers } from "../fake-env";
import { parsePrometheus } from "../../../support/values/prometheus";
import { get } from "../client";

const TOPOLOGY = {
  epoch: 2,
  claims: [
    { prefix: "10.96.0.0/24", ownerUid: "uid-1" },
    { prefix: "10.96.1.0/24", ownerUid: "uid-2" },
  ],
  ranges: [
    { prefix: "10.96.0.0/23", name: "outer" },
    { prefix: "10.96.0.0/24", name: "inner" },
  ],
  owners: [],
  free: [],
};
const ALLOCATIONS = [
  {
    cidr: "10.96.0.0/24",
    total: { static: 2, dynamic: 0 },
    errors: { static: 0, dynamic: 3 },
    durations: { counts: [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], sum: 0.045 },
  },
];

describe("/metrics", () => {
  it("counts per store and per owner of the cluster in the path", async () => {
    const seen: string[] = [];
    const answers: Answers = {
      other(method, object) {
        seen.push(`${object} ${method}`);
        if (method === "topology") return TOPOLOGY;
        if (method === "allocations") return ALLOCATIONS;
        if (method === "repairCounts")
          return { sweeps: 4, differingSettings: ["version"], ipErrors: { leak: 2, outOfRange: 1 }, reconcileErrors: 3 };
        if (object === "SERVICE_CIDR east/uid-1") return { drains: 3, weight: 40, taken: [20, 15] };
        return object.startsWith("SERVICE_CIDR")
          ? { drains: 1, weight: 4, taken: [7] }
          : { drains: 1, operations: 2, watchers: 4, revision: 5 };
      },
    };
    const response = await get("/clusters/east/metrics", {}, answers);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    const lines = text.split("\n");
    expect(lines).toContain('servicenet_store_operations_total{store="services"} 2');
    expect(lines).toContain('servicenet_store_watchers{store="leases"} 4');
    expect(lines).toContain('servicenet_owner_operations_total{owner="uid-1"} 40');
    expect(seen).toContain("SERVICE_CIDR east/uid-1 usage");
    const families = parsePrometheus(text);
    const samples = (name: string): unknown[] => families.get(`kube_apiserver_clusterip_allocator_${name}`)?.samples ?? [];
    const sample = (name: string, labels: object, value: number): object => ({
      name: `kube_apiserver_clusterip_allocator_${name}`,
      labels,
      value,
    });
    expect(samples("allocated_ips")).toEqual([
      sample("allocated_ips", { cidr: "10.96.0.0/23" }, 27),
      sample("allocated_ips", { cidr: "10.96.0.0/24" }, 15),
    ]);
    expect(samples("available_ips")).toEqual([
      sample("available_ips", { cidr: "10.96.0.0/23" }, 510 - 27),
      sample("available_ips", { cidr: "10.96.0.0/24" }, 254 - 15),
    ]);
    expect(samples("allocation_total")).toEqual([sample("allocation_total", { cidr: "10.96.0.0/24", scope: "static" }, 2)]);
    expect(samples("allocation_errors_total")).toEqual([sample("allocation_errors_total", { cidr: "10.96.0.0/24", scope: "dynamic" }, 3)]);
    expect(lines).toContain('apiserver_clusterip_repair_ip_errors_total{type="leak"} 2');
    expect(lines).toContain('apiserver_clusterip_repair_ip_errors_total{type="duplicate"} 0');
    expect(lines).toContain("apiserver_clusterip_repair_reconcile_errors_total 3");
    expect(lines).toContain("servicenet_repair_sweeps_total 4");
    expect(lines).toContain('servicenet_configuration_differs{setting="version"} 1');
    expect(samples("allocation_duration_seconds")).toContainEqual(
      sample("allocation_duration_seconds_bucket", { cidr: "10.96.0.0/24", le: "0.05" }, 2),
    );
    expect(samples("allocation_duration_seconds")).toContainEqual(
      sample("allocation_duration_seconds_sum", { cidr: "10.96.0.0/24" }, 0.045),
    );
  });

  it("an object that does not answer is left out and logged", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const answers: Answers = { other: () => Promise.reject(new Error("secret")) };
    const text = await (await get("/metrics", {}, answers)).text();
    expect(text).toContain("# TYPE servicenet_store_drains_total counter\n");
    expect(text).not.toContain("secret");
    expect(warn).toHaveBeenCalled();
  });
});
