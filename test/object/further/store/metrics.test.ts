/** What /metrics shows after each kind of write that allocates addresses or fails to, on real Durable Objects. */
import { env } from "cloudflare:test";
import { expect, it } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { metricsResponse } from "../../../../src/worker/system/metrics";
import { aService } from "../../../support/worlds/repair-world";
import { addressOf, createRequest, messageOf, ObjectCluster, plant } from "../../../support/objects/object-cluster";
import { parsePrometheus } from "../../../support/values/prometheus";

const bindings = env as unknown as Env;
const RANGE = "10.97.0.0/29";

/** Of the small range: used, free, given by scope, refused by scope, timed. */
interface Shown {
  allocated: number;
  available: number;
  dynamic: number;
  static: number;
  dynamicErrors: number;
  staticErrors: number;
  timed: number;
}

async function shown({ name }: ObjectCluster): Promise<Shown> {
  const families = parsePrometheus(await (await metricsResponse(bindings, name)).text());
  const of = (family: string, labels: Record<string, string> = {}, suffix = ""): number => {
    const metric = `kube_apiserver_clusterip_allocator_${family}`;
    const wanted = Object.entries({ cidr: RANGE, ...labels });
    const found = families
      .get(metric)
      ?.samples.find((sample) => sample.name === metric + suffix && wanted.every(([label, value]) => sample.labels[label] === value));
    return found?.value ?? 0;
  };
  return {
    allocated: of("allocated_ips"),
    available: of("available_ips"),
    dynamic: of("allocation_total", { scope: "dynamic" }),
    static: of("allocation_total", { scope: "static" }),
    dynamicErrors: of("allocation_errors_total", { scope: "dynamic" }),
    staticErrors: of("allocation_errors_total", { scope: "static" }),
    timed: of("allocation_duration_seconds", {}, "_count"),
  };
}

it("each write: changes the series that upstream's changes, and no others", async () => {
  const cluster = await new ObjectCluster().ready();
  await cluster.onlyRange(RANGE);
  let before: Shown = { allocated: 0, available: 6, dynamic: 0, static: 0, dynamicErrors: 0, staticErrors: 0, timed: 0 };
  expect(await shown(cluster)).toEqual(before);
  const after = async (what: string, change: Partial<Shown>): Promise<void> => {
    const expected = { ...before };
    for (const [name, by] of Object.entries(change)) expected[name as keyof Shown] += by;
    before = await shown(cluster);
    expect(before, what).toEqual(expected);
  };
  const dry = (spec: object) => cluster.services.write(createRequest("dry", spec, { dryRun: true }));

  const any = addressOf(await cluster.create("any"));
  await after("a dynamic address", { allocated: 1, available: -1, dynamic: 1, timed: 1 });
  const free = ["10.97.0.1", "10.97.0.2"].find((address) => address !== any) ?? "";
  expect(addressOf(await cluster.create("named", { clusterIP: free }))).toBe(free);
  await after("a static address", { allocated: 1, available: -1, static: 1, timed: 1 });

  expect(messageOf(await cluster.create("clash", { clusterIP: free }))).toContain("provided IP is already allocated");
  await after("one that is taken", { staticErrors: 1 });
  expect(messageOf(await cluster.create("outside", { clusterIP: "10.98.0.1" }))).toContain("does not match the current range");
  await after("one in no ServiceCIDR: the allocator is never asked", {});
  expect(messageOf(await cluster.create("edge", { clusterIP: "10.97.0.0" }))).toContain("does not match the current range");
  await after("the network address", {});
  expect(messageOf(await dry({}))).toBe("");
  expect(messageOf(await dry({ clusterIP: free }))).toBe("");
  await after("dry runs", {});
  expect(messageOf(await cluster.create("", {}))).toContain("name or generateName is required");
  expect(messageOf(await cluster.create("bad", { ports: [] }))).toContain("spec.ports: Required value");
  expect(messageOf(await cluster.create("six", { ipFamilies: ["IPv6"] }))).toContain("not configured on this cluster");
  expect(messageOf(await cluster.create("headless", { clusterIP: "None" }))).toBe("");
  await after("what is refused, or needs no address, before any is looked at", {});
  expect(messageOf(await cluster.create("any", {}))).toContain("already exists");
  await after("a name that is taken", {});

  expect(messageOf(await cluster.patch("named", {}))).toBe("");
  expect(messageOf(await cluster.patch("named", { metadata: { labels: { a: "b" } }, spec: { clusterIP: free, clusterIPs: [free] } }))).toBe(
    "",
  );
  await after("an update that changes nothing, and one that keeps the address", {});

  for (let i = 0; i < 4; i++) addressOf(await cluster.create(`fill-${String(i)}`));
  await after("the rest of the range", { allocated: 4, available: -4, dynamic: 4, timed: 4 });
  expect(messageOf(await cluster.create("full"))).toContain("range is full");
  await after("a full range, less than a minute after the refusal before", {});
  await cluster.remove("named");
  await after("a release, whose commit keeps the refusal", { allocated: -1, available: 1, dynamicErrors: 1 });

  await cluster.ranges.shut("only");
  expect(messageOf(await cluster.create("none"))).toBe(
    '500 Internal error occurred: failed to allocate a serviceIP for Service "none": no ServiceCIDR with IPv4 addresses is Ready',
  );
  expect(messageOf(await cluster.create("none", { clusterIP: free }))).toContain("does not match the current range");
  // No gauges of a range that gives out nothing.
  await after("no range at all: it is not full", { allocated: -before.allocated, available: -before.available });
});

it("node ports: gauges of now, counters of commits and refusals", async () => {
  const cluster = await new ObjectCluster().ready();
  const lines = async (): Promise<string[]> => {
    const text = await (await metricsResponse(bindings, cluster.name)).text();
    const prefix = "kube_apiserver_nodeport_allocator_";
    const samples = text.split("\n").filter((line) => line.startsWith(prefix));
    return samples.map((line) => line.slice(prefix.length).replace(/,?cluster="[^"]*"/, ""));
  };
  expect(await lines()).toEqual(["allocated_ports{} 0", "available_ports{} 2768"]);
  const named = { type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }] };
  expect(messageOf(await cluster.create("named", named))).toBe("");
  expect(messageOf(await cluster.create("clash", named))).toContain("provided port is already allocated");
  expect(messageOf(await cluster.create("any", { type: "NodePort" }))).toBe("");
  expect(await lines()).toEqual([
    "allocated_ports{} 2",
    "available_ports{} 2766",
    'allocation_total{scope="dynamic"} 1',
    'allocation_total{scope="static"} 1',
    'allocation_errors_total{scope="static"} 1',
  ]);
});

it("counters of repair: have every type from the beginning, and count each finding", async () => {
  const cluster = await new ObjectCluster().ready();
  const counted = async (): Promise<Record<string, number>> => {
    const families = parsePrometheus(await (await metricsResponse(bindings, cluster.name)).text());
    const samples = families.get("apiserver_clusterip_repair_ip_errors_total")?.samples ?? [];
    return Object.fromEntries(samples.map(({ labels, value }) => [labels.type, value]));
  };
  const none = { leak: 0, repair: 0, full: 0, outOfRange: 0, duplicate: 0, unknown: 0, invalid: 0 };
  expect(await counted()).toEqual(none);
  const now = Date.now();
  await plant(
    cluster.servicesObject,
    aService("missing", ["10.96.0.10"], now),
    aService("outside", ["192.168.0.9"], now),
    aService("broken", ["10.96.0.300"], now),
  );
  await cluster.repair();
  expect(await counted()).toEqual({ ...none, repair: 1, outOfRange: 1, invalid: 1 });
});
