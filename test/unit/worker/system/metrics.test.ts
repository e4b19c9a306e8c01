import { describe, expect, it, vi } from "vitest";
import type { OpenWatches } from "../../../../src/api/rpc/store";
import type { ControllerStatus } from "../../../../src/controllers/frame/status";
import type { EndpointCounts } from "../../../../src/endpoints/rpc/endpoint-counts";
import { parsePrometheus } from "../../../support/values/prometheus";
import { get, send } from "../client";
import { type Answers, fakeEnv } from "../fake-env";

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

const NONE = { static: 0, dynamic: 0 };
const NODE_PORTS = { allocated: 3, available: 2_765, total: { static: 1, dynamic: 2 }, errors: { static: 0, dynamic: 4 } };

const SLICE_COUNTS: EndpointCounts = {
  counters: [{ name: "changes", labels: { operation: "create" }, value: 3 }],
  gauges: [{ name: "num_endpoint_slices", labels: {}, value: 2 }],
  histograms: [{ name: "endpoints_added_per_sync", labels: {}, value: { counts: [1, ...new Array<number>(15).fill(0)], sum: 1 } }],
};

const STATUS: ControllerStatus = {
  sinceMs: 0,
  passes: 4,
  unfinished: 1,
  totals: { read: 5, done: 6, putOff: 7, later: 8 },
  last: { read: 0, done: 0, putOff: 2, later: 0, waiting: 2, left: true, begunMs: 9_500, endedMs: 10_000 },
  behindSinceMs: 9_000,
};

/** The open watches of a store. */
function watchesOf(object: string): OpenWatches[] {
  if (!object.startsWith("SERVICES_STORE")) return [];
  return [{ group: "", version: "v1", resource: "services", scope: "namespace", count: 4 }];
}

/** What the objects of a cluster answer in which nothing was allocated. */
function quiet(method: string): unknown {
  if (method === "topology") return { epoch: 1, claims: [], ranges: [], owners: [], free: [] };
  if (method === "allocations") return [];
  if (method === "nodePortAllocations") return { allocated: 0, available: 2_768, total: NONE, errors: NONE };
  if (method === "counters") return { drains: 0, operations: 0, watchers: 0, watches: [], revision: 0 };
  if (method === "repairCounts") return { sweeps: 0, differingSettings: [], ipErrors: {}, reconcileErrors: 0 };
  return undefined;
}

describe("/metrics", () => {
  it("stores of the release before, which do not tell their watches: everything else is shown", async () => {
    const old = (method: string): unknown =>
      method === "counters" ? { drains: 0, operations: 0, watchers: 3, revision: 0 } : quiet(method);
    const families = parsePrometheus(await (await get("/metrics", {}, { other: old })).text());
    expect(families.get("apiserver_longrunning_requests")?.samples).toEqual([]);
    expect(families.get("servicenet_store_watchers")?.samples.map(({ value }) => value)).toContain(3);
  });

  it("the cluster of the path: counters of its stores and owners", async () => {
    const seen: string[] = [];
    const answers: Answers = {
      other(method, object) {
        seen.push(`${object} ${method}`);
        if (method === "entered") return null;
        if (method === "topology") return TOPOLOGY;
        if (method === "allocations") return ALLOCATIONS;
        if (method === "nodePortAllocations") return NODE_PORTS;
        if (method === "repairCounts")
          return {
            sweeps: 4,
            differingSettings: ["version"],
            ipErrors: { leak: 2, outOfRange: 1 },
            reconcileErrors: 3,
            nodePorts: { portErrors: { leak: 5 }, reconcileErrors: 6 },
            lastRuns: { cronMs: 1_500, repairMs: 0 },
          };
        if (method === "controllerStatus") return object.endsWith("/repair") ? STATUS : null;
        if (method === "endpointCounts") return object.endsWith("/endpointslice-controller") ? SLICE_COUNTS : null;
        if (method === "healthCounts") return { answers: { "/livez 503": 7 }, nodes: { healthy: 8, late: 1, silent: 0 } };
        if (object === "SERVICE_CIDR east/uid-1") return { drains: 3, weight: 40, taken: [20, 15] };
        return object.startsWith("SERVICE_CIDR")
          ? { drains: 1, weight: 4, taken: [7] }
          : { drains: 1, operations: 2, watchers: 4, watches: watchesOf(object), revision: 5 };
      },
    };
    const response = await get("/clusters/east/metrics", {}, answers);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await response.text();
    const lines = text.split("\n");
    expect(lines).toContain('servicenet_store_operations_total{store="services",cluster="east"} 2');
    expect(lines).toContain('servicenet_store_watchers{store="leases",cluster="east"} 4');
    expect(lines).toContain('servicenet_owner_operations_total{owner="uid-1",cluster="east"} 40');
    expect(lines).toContain('servicenet_job_last_run_timestamp_seconds{job="cron",cluster="east"} 1.5');
    expect(lines).toContain('servicenet_job_last_run_timestamp_seconds{job="repair",cluster="east"} 0');
    expect(seen).toContain("SERVICE_CIDR east/uid-1 usage");
    const families = parsePrometheus(text);
    const samples = (name: string): unknown[] => families.get(`kube_apiserver_clusterip_allocator_${name}`)?.samples ?? [];
    const sample = (name: string, labels: object, value: number): object => ({
      name: `kube_apiserver_clusterip_allocator_${name}`,
      labels: { ...labels, cluster: "east" },
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
    const nodePorts = "kube_apiserver_nodeport_allocator_";
    expect(lines.filter((line) => line.startsWith(nodePorts))).toEqual([
      `${nodePorts}allocated_ports{cluster="east"} 3`,
      `${nodePorts}available_ports{cluster="east"} 2765`,
      `${nodePorts}allocation_total{scope="dynamic",cluster="east"} 2`,
      `${nodePorts}allocation_total{scope="static",cluster="east"} 1`,
      `${nodePorts}allocation_errors_total{scope="dynamic",cluster="east"} 4`,
    ]);
    expect(lines).toContain('apiserver_clusterip_repair_ip_errors_total{type="leak",cluster="east"} 2');
    expect(lines).toContain('apiserver_clusterip_repair_ip_errors_total{type="duplicate",cluster="east"} 0');
    expect(lines).toContain('apiserver_clusterip_repair_reconcile_errors_total{cluster="east"} 3');
    expect(lines).toContain('apiserver_nodeport_repair_port_errors_total{type="leak",cluster="east"} 5');
    expect(lines).toContain('apiserver_nodeport_repair_port_errors_total{type="full",cluster="east"} 0');
    expect(lines).toContain('apiserver_nodeport_repair_reconcile_errors_total{cluster="east"} 6');
    expect(lines).toContain('servicenet_repair_sweeps_total{cluster="east"} 4');
    expect(lines).toContain('servicenet_configuration_differs{setting="version",cluster="east"} 1');
    expect(lines).toContain('kubeproxy_proxy_livez_total{code="503",cluster="east"} 7');
    expect(lines).toContain('servicenet_proxy_health_nodes{state="healthy",cluster="east"} 8');
    expect(seen.filter((call) => call.startsWith("NODE_PROXY"))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("servicenet_controller_"))).toEqual(
      [
        'passes_total{controller="repair",result="finished",cluster="east"} 3',
        'passes_total{controller="repair",result="unfinished",cluster="east"} 1',
        'read_total{controller="repair",cluster="east"} 5',
        'work_total{controller="repair",result="done",cluster="east"} 6',
        'work_total{controller="repair",result="put_off",cluster="east"} 7',
        'work_total{controller="repair",result="later",cluster="east"} 8',
        'waiting{controller="repair",cluster="east"} 2',
        'behind_since_timestamp_seconds{controller="repair",cluster="east"} 9',
        'last_pass_timestamp_seconds{controller="repair",cluster="east"} 10',
      ].map((line) => `servicenet_controller_${line}`),
    );
    expect(lines.filter((line) => line.startsWith("endpoint_slice_") && !line.includes("_bucket"))).toEqual([
      'endpoint_slice_controller_endpoints_added_per_sync_sum{cluster="east"} 1',
      'endpoint_slice_controller_endpoints_added_per_sync_count{cluster="east"} 1',
      'endpoint_slice_controller_num_endpoint_slices{cluster="east"} 2',
      'endpoint_slice_controller_changes{operation="create",cluster="east"} 3',
    ]);
    expect(seen.filter((call) => call.endsWith(" endpointCounts"))).toHaveLength(2);
    expect(families.get("apiserver_longrunning_requests")?.samples).toEqual([
      {
        name: "apiserver_longrunning_requests",
        labels: {
          verb: "WATCH",
          group: "",
          version: "v1",
          resource: "services",
          subresource: "",
          scope: "namespace",
          component: "apiserver",
          cluster: "east",
        },
        value: 4,
      },
    ]);
    expect(samples("allocation_duration_seconds")).toContainEqual(
      sample("allocation_duration_seconds_bucket", { cidr: "10.96.0.0/24", le: "0.05" }, 2),
    );
    expect(samples("allocation_duration_seconds")).toContainEqual(
      sample("allocation_duration_seconds_sum", { cidr: "10.96.0.0/24" }, 0.045),
    );
  });

  it("requests of the cluster, and no other's: counted by verb and code, and timed", async () => {
    const { env } = fakeEnv({ other: quiet });
    const path = "/api/v1/namespaces/default/services";
    const ask = (cluster: string, method: string, rest: string, init: RequestInit = {}) =>
      send(`http://h/clusters/${cluster}${path}${rest}`, { method, ...init }, env);
    const body = { body: JSON.stringify({ metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } }) };
    const json = { "Content-Type": "application/json" };
    await ask("counted", "POST", "", { ...body, headers: json });
    await ask("counted", "POST", "", { ...body, headers: json });
    await ask("counted", "POST", "", { ...body, headers: { "Content-Type": "text/plain" } });
    await ask("counted", "POST", "?dryRun=All", { ...body, headers: json });
    await ask("counted", "GET", "", { headers: { Accept: "text/html" } });
    await ask("counted", "GET", "/a");
    await ask("other", "GET", "/a");
    const families = parsePrometheus(await (await send("http://h/clusters/counted/metrics", {}, env)).text());
    const common = { group: "", version: "v1", resource: "services", subresource: "", component: "apiserver", cluster: "counted" };
    const labels = (verb: string, scope: string, dryRun = "") => ({ ...common, verb, scope, dry_run: dryRun });
    const total = (verb: string, scope: string, code: string, value: number, dryRun = "") => ({
      name: "apiserver_request_total",
      labels: { ...labels(verb, scope, dryRun), code },
      value,
    });
    expect(families.get("apiserver_request_total")?.samples).toEqual([
      total("POST", "resource", "201", 2),
      total("POST", "resource", "415", 1),
      total("POST", "resource", "201", 1, "All"),
      total("LIST", "namespace", "406", 1),
      total("GET", "resource", "200", 1),
    ]);
    const durations = families.get("apiserver_request_duration_seconds")?.samples ?? [];
    expect(durations.filter(({ labels: { verb, dry_run: dryRun } }) => verb === "POST" && dryRun === "")).toEqual(
      expect.arrayContaining([
        { name: "apiserver_request_duration_seconds_bucket", labels: { ...labels("POST", "resource"), le: "60" }, value: 3 },
        { name: "apiserver_request_duration_seconds_count", labels: labels("POST", "resource"), value: 3 },
      ]),
    );
    expect(durations.filter(({ labels: { le, verb } }) => le !== undefined && verb === "LIST").map(({ labels: { le } }) => le)).toEqual(
      "0.005 0.025 0.05 0.1 0.2 0.4 0.6 0.8 1 1.25 1.5 2 3 4 5 6 8 10 15 20 30 45 60 +Inf".split(" "),
    );
    const [start] = families.get("process_start_time_seconds")?.samples ?? [];
    expect(start?.labels).toEqual({ cluster: "counted" });
  });

  it("the default cluster: no label of it, so that its series are upstream's", async () => {
    const text = await (await get("/metrics", {}, { other: quiet })).text();
    expect(text).not.toContain("cluster=");
    expect(text).toMatch(/^process_start_time_seconds \d/m);
  });

  it("an object that does not answer: left out and logged", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const answers: Answers = { other: () => Promise.reject(new Error("s3cr3t")) };
    const text = await (await get("/metrics", {}, answers)).text();
    expect(text).toContain("# TYPE servicenet_store_drains_total counter\n");
    expect(text).not.toContain("s3cr3t");
    expect(warn).toHaveBeenCalled();
  });
});
