/** What the controllers of slices count for /metrics, and what outlives them. */
import { describe, expect, it } from "vitest";
import { forbidden } from "../../../../src/api/meta/status";
import { endpointSlicesDefinition } from "../../../../src/api/registry/endpoint-slices/definition";
import type { Endpoints } from "../../../../src/api/meta/kubernetes";
import { KeptCounts, savedCounts } from "../../../../src/endpoints/controller/kept-counts";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { SLICE_METRICS } from "../../../../src/endpoints/metrics/endpoint-families";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { EndpointWorld, type WorldOptions } from "../../../support/worlds/endpoint-world";
import { aNode, aPod, aService, ipv4 } from "../../../support/worlds/slice-world";

type Counts = ReturnType<EndpointWorld["counts"]>;

/** The series that differ: counters and histograms by how much, gauges as they are. */
function changed(before: Counts, after: Counts): Counts {
  const isGauge = (id: string): boolean => /^(endpoints_desired|num_|desired_|services_count)/.test(id);
  return Object.fromEntries(
    Object.entries(after).flatMap(([id, now]): [string, Counts[string]][] => {
      const was = before[id] ?? (Array.isArray(now) ? [0, 0] : 0);
      if (JSON.stringify(was) === JSON.stringify(now)) return [];
      if (Array.isArray(now) && Array.isArray(was)) return [[id, [now[0] - was[0], now[1] - was[1]]]];
      return [[id, isGauge(id) ? now : Number(now) - Number(was)]];
    }),
  );
}

describe("the slice controller", () => {
  /** Service s with the first `count` Pods on node n1, 10 to a slice. */
  async function cluster(count: number, options: WorldOptions = {}): Promise<EndpointWorld> {
    const world = new EndpointWorld({ max: 10, ...options });
    await world.putNode(aNode("n1", "z1"));
    for (let i = 0; i < count; i++) await world.putPod(pod(i));
    await world.putService(aService());
    await world.settle();
    return world;
  }

  function pod(i: number, nodeName = "n1") {
    return aPod({ name: `p${i}`, ips: [ipv4(256 + i)], nodeName });
  }

  it("25 Pods behind one Service: exactly these series", async () => {
    const world = await cluster(25);
    expect(world.counts("slices")).toEqual({
      "changes create": 3,
      "syncs success": 1,
      endpoints_desired: 25,
      num_endpoint_slices: 3,
      desired_endpoint_slices: 3,
      endpoints_added_per_sync: [1, 25],
      endpoints_removed_per_sync: [1, 0],
      "endpointslices_changed_per_sync Disabled ": [1, 3],
    });
  });

  const quiet = { endpoints_added_per_sync: [1, 0], endpoints_removed_per_sync: [1, 0], "syncs success": 1 };
  const refusal = { ok: false as const, status: forbidden(endpointSlicesDefinition, "s-1", "no"), warnings: [] };

  it.each<[string, (world: EndpointWorld) => unknown, object]>([
    [
      "a Pod comes",
      (world) => world.putPod(pod(12)),
      {
        ...quiet,
        "changes update": 1,
        endpoints_added_per_sync: [1, 1],
        endpoints_desired: 13,
        "endpointslices_changed_per_sync Disabled ": [1, 1],
      },
    ],
    [
      "a Pod goes",
      (world) => world.delete("pods", "p0"),
      {
        ...quiet,
        "changes update": 1,
        endpoints_removed_per_sync: [1, 1],
        endpoints_desired: 11,
        "endpointslices_changed_per_sync Disabled ": [1, 1],
      },
    ],
    [
      "hints are asked for",
      (world) => world.patch("services", "s", { spec: { trafficDistribution: "PreferSameZone" } }),
      {
        ...quiet,
        "changes update": 2,
        "endpointslices_changed_per_sync Disabled PreferSameZone": [1, 2],
        "services_count_by_traffic_distribution PreferSameZone": 1,
      },
    ],
    [
      "hints by the annotation Auto, which is honoured as off",
      (world) => world.patch("services", "s", { metadata: { annotations: { "service.kubernetes.io/topology-mode": "Auto" } } }),
      { ...quiet, "endpointslices_changed_per_sync Disabled ": [1, 0] },
    ],
    [
      "the Service loses its selector",
      (world) => world.patch("services", "s", { spec: { selector: null } }),
      {
        "syncs success": 1,
        endpoints_desired: 0,
        num_endpoint_slices: 0,
        desired_endpoint_slices: 0,
      },
    ],
    [
      "the Service goes",
      (world) => world.delete("services", "s"),
      {
        "syncs success": 1,
        endpoints_desired: 0,
        num_endpoint_slices: 0,
        desired_endpoint_slices: 0,
      },
    ],
    [
      "a Pod whose Node is not there",
      (world) => world.putPod(pod(12, "n2")),
      {
        "syncs error": 1,
        endpoints_added_per_sync: [1, 0],
        endpoints_removed_per_sync: [1, 0],
        "endpointslices_changed_per_sync Disabled ": [1, 0],
      },
    ],
    [
      "a refused write, and its retry",
      async (world) => {
        let refusals = 0;
        world.fault = (call) => (call.startsWith("endpointslices update") && refusals++ === 0 ? refusal : undefined);
        await world.putPod(pod(12));
      },
      {
        "syncs error": 1,
        "syncs success": 1,
        "changes update": 1,
        endpoints_added_per_sync: [2, 2],
        endpoints_removed_per_sync: [2, 0],
        endpoints_desired: 13,
        "endpointslices_changed_per_sync Disabled ": [1, 1],
      },
    ],
  ])("12 Pods; %s: the series of the row, and no others", async (_, change, expected) => {
    const world = await cluster(12);
    const before = world.counts("slices");
    await change(world);
    await world.settle();
    expect(changed(before, world.counts("slices"))).toEqual(expected);
  });

  it("two families: the gauges have the second one's figures, histograms count both", async () => {
    const world = new EndpointWorld();
    await world.putNode(aNode("n1"));
    await world.putPod(aPod({ name: "both", ips: ["10.1.0.1", "fd00::1"] }));
    await world.putPod(aPod({ name: "four", ips: ["10.1.0.2"] }));
    await world.putService(aService({ ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" }));
    await world.settle();
    expect(world.counts("slices")).toMatchObject({
      endpoints_desired: 1,
      num_endpoint_slices: 1,
      endpoints_added_per_sync: [2, 3],
      "changes create": 2,
      "syncs success": 1,
    });
  });

  it("a Service without Pods: one slice is there and one is wanted", async () => {
    const world = await cluster(0);
    expect(world.counts("slices")).toMatchObject({ endpoints_desired: 0, num_endpoint_slices: 1, desired_endpoint_slices: 1 });
  });

  it("the object ends: what it counted goes on, and the gauges need no read of Pods or slices", async () => {
    const world = await cluster(12);
    const before = world.counts("slices");
    world.sleep();
    world.calls = [];
    expect(world.counts("slices")).toEqual(before);
    expect(world.calls).toEqual([]);
    world.wake();
    await world.settle();
    expect(world.counts("slices")).toEqual(before);
    await world.putPod(pod(12));
    await world.settle();
    expect(world.counts("slices")).toMatchObject({ "syncs success": 2, endpoints_desired: 13, endpoints_added_per_sync: [2, 13] });
    expect(world.calls).not.toContain("pods objectsAfter");
  });
});

describe("the mirroring controller", () => {
  function byHand(ips: readonly string[]): Endpoints {
    const ports = [{ name: "http", port: 80, protocol: "TCP" }];
    return { metadata: { namespace: "ns", name: "s" }, subsets: [{ addresses: ips.map((ip) => ({ ip })), ports }] };
  }

  async function cluster(ips: readonly string[]): Promise<EndpointWorld> {
    const world = new EndpointWorld({ controllers: ["mirror"] });
    await world.put("endpoints", byHand(ips));
    await world.settle();
    await world.putService(aService({ selector: undefined }));
    await world.settle();
    return world;
  }

  it("three addresses: exactly these series, and a duration", async () => {
    const { endpoints_sync_duration: durations, ...others } = (await cluster(["10.1.1.1", "10.1.1.2", "fd00::1"])).counts("mirror");
    expect(others).toEqual({
      "changes create": 2,
      endpoints_desired: 3,
      num_endpoint_slices: 2,
      desired_endpoint_slices: 2,
      endpoints_added_per_sync: [1, 3],
      endpoints_updated_per_sync: [1, 0],
      endpoints_removed_per_sync: [1, 0],
      addresses_skipped_per_sync: [1, 0],
    });
    const [count = 0, seconds = 0] = durations as number[];
    expect(count).toBeGreaterThan(0);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(1);
  });

  const gone = { endpoints_desired: 0, num_endpoint_slices: 0, desired_endpoint_slices: 0, "changes delete": 1 };
  const none = {
    endpoints_added_per_sync: [1, 0],
    endpoints_updated_per_sync: [1, 0],
    endpoints_removed_per_sync: [1, 0],
    addresses_skipped_per_sync: [1, 0],
  };

  it.each<[string, (world: EndpointWorld) => Promise<void>, object]>([
    [
      "an address comes and one goes",
      (world) => world.put("endpoints", byHand(["10.1.1.2", "10.1.1.3"])),
      { ...none, endpoints_added_per_sync: [1, 1], endpoints_removed_per_sync: [1, 1], "changes update": 1 },
    ],
    ["the Endpoints go", (world) => world.delete("endpoints", "s"), gone],
    ["the Service gets a selector", (world) => world.patch("services", "s", { spec: { selector: { a: "b" } } }), gone],
  ])("two addresses; %s: the series of the row, and no others", async (_, change, expected) => {
    const world = await cluster(["10.1.1.1", "10.1.1.2"]);
    const before = world.counts("mirror");
    await change(world);
    await world.settle();
    const { endpoints_sync_duration: _durations, ...others } = changed(before, world.counts("mirror"));
    expect(others).toEqual(expected);
  });

  it("more addresses than are mirrored: those left out are counted", async () => {
    const world = await cluster(Array.from({ length: 1_002 }, (_, i) => ipv4(i + 256)));
    expect(world.counts("mirror")).toMatchObject({
      endpoints_desired: 1_000,
      addresses_skipped_per_sync: [1, 2],
      desired_endpoint_slices: 1,
    });
  });
});

describe("counts of rows that are not saved", () => {
  function saved(storage: MemoryRowStorage): KeptCounts {
    const rows = new KeptRows(storage);
    rows.load();
    const counts = new KeptCounts(rows, SLICE_METRICS);
    counts.load();
    counts.count("syncs", { result: "success" });
    counts.observe("endpoints_added_per_sync", 3);
    rows.save();
    counts.count("syncs", { result: "success" });
    return counts;
  }

  it("a crash: only what nobody has seen is lost, and no counter goes back", () => {
    const storage = new MemoryRowStorage();
    const shown = (): number[] => savedCounts(storage).counters.map(({ value }) => value);
    saved(storage);
    expect(shown()).toEqual([1]);
    saved(storage);
    expect(shown()).toEqual([2]);
    expect(savedCounts(storage).histograms).toMatchObject([{ name: "endpoints_added_per_sync", value: { sum: 6 } }]);
  });

  it("nothing was counted yet: no series", () => {
    expect(savedCounts(new MemoryRowStorage())).toEqual({ counters: [], gauges: [], histograms: [] });
  });
});
