import { describe, expect, it } from "vitest";
import type { EndpointSlice, Service } from "../../../../src/api/meta/kubernetes";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { portsKey } from "../../../../src/endpoints/slices/slice-ports";
import { aNode, aPod, aService, ipv4, pods, SliceWorld, type Synced } from "../../../support/worlds/slice-world";

/** A world whose slices have as many endpoints as `lengths` says, in this order, all of them wanted. */
function packed(lengths: number[]): SliceWorld {
  const world = new SliceWorld();
  const all = pods(lengths.reduce((sum, length) => sum + length, 0));
  world.max = Math.max(...lengths, 1);
  world.pods = all;
  world.sync();
  const [whole] = world.slices;
  if (!whole) throw new Error("no slice");
  const endpoints = world.slices.flatMap(endpointsOf);
  world.slices = [];
  world.max = 100;
  for (const length of lengths) {
    world.create({ ...whole, metadata: { ...whole.metadata, name: undefined }, endpoints: endpoints.splice(0, length) });
  }
  return world;
}

const outcome = ({ writes, lengths }: Synced): [string, number[]] => [writes, lengths];

// writes are creates/updates/deletes; upstream staging/src/k8s.io/endpointslice/reconciler_test.go
describe("packing numbers", () => {
  it.each<[string, (world: SliceWorld) => void, string, number[]]>([
    ["no Pods: a placeholder", () => undefined, "1/0/0", [0]],
    ["250 Pods", (world) => (world.pods = pods(250)), "3/0/0", [100, 100, 50]],
    ["250 Pods, at most 50", (world) => Object.assign(world, { pods: pods(250), max: 50 }), "5/0/0", [50, 50, 50, 50, 50]],
    ["250 Pods, at most 80", (world) => Object.assign(world, { pods: pods(250), max: 80 }), "4/0/0", [80, 80, 80, 10]],
    ["250 Pods, at most 150", (world) => Object.assign(world, { pods: pods(250), max: 150 }), "2/0/0", [150, 100]],
    ["250 Pods, at most 250", (world) => Object.assign(world, { pods: pods(250), max: 250 }), "1/0/0", [250]],
    ["250 Pods, at most 500", (world) => Object.assign(world, { pods: pods(250), max: 500 }), "1/0/0", [250]],
    ["1,000 Pods, at most 1,000", (world) => Object.assign(world, { pods: pods(1000), max: 1000 }), "1/0/0", [1000]],
    [
      "1 dual-stack Pod",
      (world) => {
        world.service = aService({ ipFamilies: ["IPv4", "IPv6"] });
        world.pods = [aPod({ ips: ["10.0.0.1", "fd00::1"] })];
      },
      "2/0/0",
      [1, 1],
    ],
    [
      "50 Pods, a third not ready, published all the same",
      (world) => {
        world.service = aService({ publishNotReadyAddresses: true });
        world.pods = pods(50, (i) => ({ ready: i % 3 !== 0 }));
      },
      "1/0/0",
      [50],
    ],
    [
      "a named port with 5 numbers over 300 Pods",
      (world) => {
        world.service = aService({ ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: "web" }] });
        world.pods = pods(300, (i) => ({ ports: [{ name: "web", containerPort: 8080 + (i % 5) }] }));
      },
      "5/0/0",
      [60, 60, 60, 60, 60],
    ],
    ["2 Pods, one node missing", (world) => (world.pods = pods(2, (i) => ({ nodeName: `n${i + 1}` }))), "1/0/0", [1]],
    [
      "2 Pods, one node missing, published all the same",
      (world) => {
        world.service = aService({ publishNotReadyAddresses: true });
        world.pods = pods(2, (i) => ({ nodeName: `n${i + 1}` }));
      },
      "1/0/0",
      [2],
    ],
  ])("%s, nothing there: writes and lengths of the row, then none", (_, given, writes, lengths) => {
    const world = new SliceWorld();
    given(world);
    expect(outcome(world.sync())).toEqual([writes, lengths]);
    expect(outcome(world.sync())).toEqual(["0/0/0", lengths]);
  });

  const newPort: Service["spec"] = { ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 9090 }] };

  it.each<[string, number[], (world: SliceWorld) => void, string, number[]]>([
    ["250 Pods instead of 123", [62, 61], (world) => (world.pods = pods(250)), "1/1/0", [100, 89, 61]],
    ["300 Pods instead of 148", [74, 74], (world) => (world.pods = pods(300)), "2/0/0", [100, 74, 74, 52]],
    ["the target port changes", [100, 100, 50], (world) => (world.service = aService(newPort)), "0/3/0", [100, 100, 50]],
    ["labels of the Service", [100, 100, 50], (world) => (world.service = aService({}, { labels: { a: "b" } })), "0/3/0", [100, 100, 50]],
    [
      "reserved labels on the Service",
      [100, 100, 50],
      (world) =>
        (world.service = aService(
          {},
          {
            labels: {
              "kubernetes.io/service-name": "x",
              "endpointslice.kubernetes.io/managed-by": "x",
              "service.kubernetes.io/headless": "x",
            },
          },
        )),
      "0/0/0",
      [100, 100, 50],
    ],
    ["nothing", Array<number>(10).fill(30), () => undefined, "0/0/0", Array<number>(10).fill(30)],
    ["the target port changes", Array<number>(10).fill(30), (world) => (world.service = aService(newPort)), "0/3/7", [100, 100, 100]],
    [
      "one Pod in ten turns unready, 15 new ones",
      [80, 20],
      (world) => (world.pods = pods(115, (i) => ({ ready: i >= 100 || i % 10 !== 0 }))),
      "0/2/0",
      [95, 20],
    ],
    ["10 of 20 Pods go", [20], (world) => (world.pods = pods(10)), "0/1/0", [10]],
    ["all Pods go: one slice becomes the placeholder", [100, 50], (world) => (world.pods = []), "0/1/1", [0]],
    ["both nodes go", [2], (world) => (world.nodes = []), "0/1/0", [0]],
    ["two unchanged slices with room: the one that ends fullest", [40, 60, 70], (world) => (world.pods = pods(205)), "0/1/0", [95, 70, 40]],
    ["too many for each unchanged slice: a new one, no split", [70, 70], (world) => (world.pods = pods(180)), "1/0/0", [70, 70, 40]],
    ["as many new ones as a slice holds: a new one", [0, 50], (world) => (world.pods = pods(150)), "1/0/0", [100, 50, 0]],
  ])("%s, slices of %j: writes and lengths of the row, then none", (_, before, change, writes, lengths) => {
    const world = packed(before);
    change(world);
    expect(outcome(world.sync())).toEqual([writes, [...lengths].sort((a, b) => b - a)]);
    expect(outcome(world.sync())).toEqual(["0/0/0", [...lengths].sort((a, b) => b - a)]);
  });

  it("Pods appear behind the placeholder: the placeholder is used", () => {
    const world = new SliceWorld();
    world.sync();
    world.pods = pods(3);
    expect(outcome(world.sync())).toEqual(["0/1/0", [3]]);
  });

  it("20,000 Pods: 200 full slices; one Pod that turns unready: one write", () => {
    const world = new SliceWorld();
    world.pods = pods(20_000);
    expect(outcome(world.sync())).toEqual(["200/0/0", Array<number>(200).fill(100)]);
    world.pods[12_345] = aPod({ name: "p12345", ips: [ipv4(12_345)], ready: false });
    expect(outcome(world.sync())).toEqual(["0/1/0", Array<number>(200).fill(100)]);
  });

  it("labels of a Service without Pods change: the placeholder is written", () => {
    const world = new SliceWorld();
    world.sync();
    world.service = aService({}, { labels: { a: "b" } });
    expect(outcome(world.sync())).toEqual(["0/1/0", [0]]);
  });

  it("slices of the older address type IP: deleted, as many as needed are created", () => {
    const world = packed([80, 50]);
    world.slices = world.slices.map((slice) => ({ ...slice, addressType: "IP" }));
    expect(outcome(world.sync())).toEqual(["2/0/2", [100, 30]]);
    expect(world.slices.every(({ addressType }) => addressType === "IPv4")).toBe(true);
  });

  it("a family that the Service gives up: its slices are deleted after all other writes", () => {
    const world = new SliceWorld();
    world.service = aService({ ipFamilies: ["IPv4", "IPv6"] });
    world.pods = [aPod({ ips: ["10.0.0.1", "fd00::1"] })];
    world.sync();
    world.service = aService();
    const { plan, lengths } = world.sync();
    expect(plan.remove.map(({ addressType }) => addressType)).toEqual(["IPv6"]);
    expect(lengths).toEqual([1]);
  });

  it("headless without ports: slices without ports, not written again when they come back with null", () => {
    const world = new SliceWorld();
    world.service = aService({ clusterIP: "None", ports: [] });
    world.pods = pods(1);
    expect(outcome(world.sync())).toEqual(["1/0/0", [1]]);
    expect(world.slices[0]?.ports).toBeNull();
    expect(outcome(world.sync())).toEqual(["0/0/0", [1]]);
  });
});

describe("whose slices", () => {
  const others: [string, (slice: EndpointSlice) => EndpointSlice][] = [
    ["another controller's", (slice) => relabelled(slice, { "endpointslice.kubernetes.io/managed-by": "someone.example.com" })],
    ["nobody's", (slice) => relabelled(slice, { "endpointslice.kubernetes.io/managed-by": "" })],
    ["of another Service", (slice) => relabelled(slice, { "kubernetes.io/service-name": "t" })],
    ["of another namespace", (slice) => ({ ...slice, metadata: { ...slice.metadata, namespace: "other" } })],
    ["being deleted", (slice) => ({ ...slice, metadata: { ...slice.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } })],
  ];
  it.each(others)("slices that are %s: not touched, the endpoints get slices of their own", (_, change) => {
    const world = packed([2, 1]);
    const before = world.slices.map(change);
    world.slices = [...before];
    expect(outcome(world.sync())).toEqual(["1/0/0", [3, 2, 1]]);
    expect(world.slices.slice(0, 2)).toEqual(before);
  });

  it.each<[string, Service["spec"]]>([
    ["loses its selector", { selector: undefined }],
    ["becomes ExternalName", { type: "ExternalName" }],
  ])("a Service that %s: its slices stay as they are", (_, spec) => {
    const world = packed([2]);
    world.service = aService(spec);
    expect(outcome(world.sync())).toEqual(["0/0/0", [2]]);
  });

  it("a slice of an earlier Service of the name: deleted, not turned into a new one", () => {
    const world = packed([1]);
    const [old] = world.slices;
    world.service = aService({}, { uid: "another uid" });
    const { plan, writes } = world.sync();
    expect(writes).toBe("1/0/1");
    expect(plan.families[0]?.remove).toEqual([old]);
    expect(world.slices[0]?.metadata?.ownerReferences?.[0]?.uid).toBe("another uid");
  });

  it("a placeholder of an earlier Service of the name: stays while there are no Pods", () => {
    const world = new SliceWorld();
    world.sync();
    world.service = aService({}, { uid: "another uid" });
    expect(outcome(world.sync())).toEqual(["0/0/0", [0]]);
  });

  it.each<[string, (slice: EndpointSlice) => EndpointSlice]>([
    ["endpoints", (slice) => ({ ...slice, endpoints: [{ addresses: ["10.9.9.9"] }, ...endpointsOf(slice).slice(1)] })],
    ["a condition", (slice) => ({ ...slice, endpoints: endpointsOf(slice).map((endpoint) => ({ ...endpoint, conditions: {} })) })],
    ["ports", (slice) => ({ ...slice, ports: [{ name: "x", port: 1, protocol: "TCP" }] })],
    ["labels", (slice) => relabelled(slice, { extra: "x" })],
    ["hints", (slice) => ({ ...slice, endpoints: endpointsOf(slice).map((one) => ({ ...one, hints: { forZones: [{ name: "z" }] } })) })],
    ["owner", (slice) => ({ ...slice, metadata: { ...slice.metadata, ownerReferences: [] } })],
  ])("somebody edits %s of a slice: put right, then nothing is written", (_, edit) => {
    const world = packed([3]);
    const [good] = world.slices;
    world.slices = world.slices.map(edit);
    world.sync();
    const [mended] = world.slices;
    expect(portsKey(mended?.ports)).toBe(portsKey(good?.ports));
    expect(new Set(endpointsOf(mended ?? never()))).toEqual(new Set(endpointsOf(good ?? never())));
    expect(mended?.metadata?.labels).toEqual(good?.metadata?.labels);
    expect(mended?.metadata?.ownerReferences).toEqual(good?.metadata?.ownerReferences);
    expect(world.sync().writes).toBe("0/0/0");
  });

  it("one endpoint in two slices: it goes from the second", () => {
    const world = packed([2, 2]);
    const [first, second] = world.slices.map(endpointsOf);
    world.slices = world.slices.map((slice, i) => (i === 0 ? slice : { ...slice, endpoints: [...(second ?? []), ...(first ?? [])] }));
    expect(outcome(world.sync())).toEqual(["0/1/0", [2, 2]]);
  });
});

describe("a Service that is being deleted", () => {
  it("with a slice to reuse: it is updated, nothing is created or deleted", () => {
    const world = packed([2, 3]);
    world.service = aService(
      { ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 9 }] },
      { deletionTimestamp: "2026-01-01T00:00:00Z" },
    );
    expect(outcome(world.sync())).toEqual(["0/1/1", [5]]);
  });

  it("with nothing to reuse: nothing is created", () => {
    const world = packed([50]);
    world.service = aService({}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    world.pods = pods(300, (i) => ({ ready: i > 0 }));
    expect(outcome(world.sync())).toEqual(["0/1/0", [100]]);
  });
});

describe("metadata of a slice", () => {
  it("a new slice: name base, labels, owner", () => {
    const world = new SliceWorld();
    world.service = aService({}, { labels: { app: "a", "kubernetes.io/service-name": "x" }, annotations: { note: "never copied" } });
    world.pods = pods(1);
    const [slice] = world.sync().plan.families[0]?.create ?? [];
    expect(slice?.metadata).toEqual({
      generateName: "s-",
      namespace: "ns",
      labels: {
        app: "a",
        "kubernetes.io/service-name": "s",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      annotations: {},
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "s", uid: "uid of s", controller: true, blockOwnerDeletion: true }],
    });
  });

  it("a headless Service: the label; it alone causes no write when the Service gets a cluster IP", () => {
    const world = new SliceWorld();
    world.service = aService({ clusterIP: "None" });
    world.pods = pods(1);
    world.sync();
    expect(world.slices[0]?.metadata?.labels).toHaveProperty(["service.kubernetes.io/headless"], "");
    world.service = aService();
    expect(world.sync().writes).toBe("0/0/0");
    world.pods = pods(2);
    world.sync();
    expect(world.slices[0]?.metadata?.labels).not.toHaveProperty(["service.kubernetes.io/headless"]);
  });

  it("the trigger time: on every written slice, removed where the next write has none", () => {
    const key = ["metadata", "annotations", "endpoints.kubernetes.io/last-change-trigger-time"];
    const world = new SliceWorld();
    world.pods = pods(1);
    world.sync(Date.UTC(2026, 0, 1));
    expect(world.slices[0]).toHaveProperty(key, "2026-01-01T00:00:00Z");
    world.sync(Date.UTC(2026, 0, 2));
    expect(world.slices[0]).toHaveProperty(key, "2026-01-01T00:00:00Z");
    world.pods = pods(2);
    world.sync();
    expect(world.slices[0]).not.toHaveProperty(key);
  });

  it("a recycled slice: the new slice under the old name, without a version to meet", () => {
    const world = packed([1]);
    const name = world.slices[0]?.metadata?.name;
    world.service = aService({ ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 9 }] });
    const [slice] = world.sync().plan.families[0]?.update ?? [];
    expect(slice?.metadata).toMatchObject({ name, generateName: "s-" });
    expect(slice?.metadata).not.toHaveProperty("resourceVersion");
    expect(slice?.metadata).not.toHaveProperty("uid");
  });
});

describe("what a plan tells", () => {
  it("Pods that cannot be written: each once, also in two families", () => {
    const world = new SliceWorld();
    world.service = aService({ ipFamilies: ["IPv4", "IPv6"] });
    world.nodes = [aNode("n1")];
    world.pods = [aPod({ name: "a", nodeName: "gone", ips: ["10.0.0.1", "fd00::1"] }), aPod({ name: "b", ips: ["10.0.0.2", "::1"] })];
    const { plan } = world.sync();
    expect(plan.skipped.map(({ pod, reason }) => [pod, reason])).toEqual([
      ["a", "nodeNotFound"],
      ["b", "addressRefused"],
    ]);
  });

  it("counts: what was added and removed, and how well the slices are filled", () => {
    const world = packed([60, 60]);
    world.pods = pods(130).slice(20);
    const { plan } = world.sync();
    expect(plan.families[0]?.counts).toEqual({ added: 10, removed: 20, endpoints: 110, slices: 2, slicesDesired: 2 });
    world.pods = [];
    expect(world.sync().plan.families[0]?.counts).toEqual({ added: 0, removed: 0, endpoints: 0, slices: 1, slicesDesired: 1 });
  });

  it("endpoints in the same order twice: equal plans", () => {
    const plan = (): unknown => Object.assign(new SliceWorld(), { pods: pods(120, (i) => ({ ips: [ipv4(i)] })) }).sync().plan;
    expect(plan()).toEqual(plan());
  });
});

function relabelled(slice: EndpointSlice, labels: Record<string, string>): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, labels: { ...slice.metadata?.labels, ...labels } } };
}

function never(): never {
  throw new Error("no slice");
}
