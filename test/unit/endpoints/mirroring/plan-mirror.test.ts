import { describe, expect, it } from "vitest";
import type { Endpoints, EndpointSlice, Service } from "../../../../src/api/meta/kubernetes";
import { validateEndpointSlice } from "../../../../src/api/registry/endpoint-slices/validate";
import { type MirrorPlan, planMirror } from "../../../../src/endpoints/mirroring/plan-mirror";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { aService, ipv4 } from "../../../support/worlds/slice-world";

type Subset = NonNullable<Endpoints["subsets"]>[number];

const KEY = { namespace: "ns", name: "s" };

const subset = (ips: string[], ports: number[] = [80], notReady: string[] = []): Subset => ({
  addresses: ips.map((ip) => ({ ip })),
  notReadyAddresses: notReady.map((ip) => ({ ip })),
  ports: ports.map((port) => ({ name: `p${port}`, port, protocol: "TCP" })),
});

const unnamed = (ip: string, port: number): Subset => ({ addresses: [{ ip }], ports: [{ port, protocol: "TCP" }] });

const someEndpoints = (subsets: Subset[], metadata: Endpoints["metadata"] = {}): Endpoints => ({
  metadata: { ...KEY, uid: "uid of endpoints", ...metadata },
  subsets,
});

const selectorless = aService({ selector: undefined });

class MirrorWorld {
  endpoints: Endpoints | undefined;
  service: Service | undefined = selectorless;
  slices: EndpointSlice[] = [];
  max = 1000;
  #serial = 0;

  constructor(endpoints?: Endpoints) {
    this.endpoints = endpoints;
  }

  /** creates/updates/deletes, and the number of endpoints of each slice */
  sync(): { writes: string; lengths: number[]; plan: MirrorPlan } {
    const { endpoints, service, slices, max } = this;
    const plan = planMirror({ key: KEY, endpoints, service, slices, maxPerSubset: max });
    const gone = new Set([...plan.update, ...plan.remove].map(({ metadata }) => metadata?.name));
    const named = plan.create.map((slice) => ({ ...slice, metadata: { ...slice.metadata, name: `s-${++this.#serial}` } }));
    for (const slice of [...named, ...plan.update]) expect(validateEndpointSlice(slice)).toEqual([]);
    this.slices = [...slices.filter(({ metadata }) => !gone.has(metadata?.name)), ...named, ...plan.update];
    return {
      writes: `${plan.create.length}/${plan.update.length}/${plan.remove.length}`,
      lengths: this.slices.map((slice) => endpointsOf(slice).length),
      plan,
    };
  }
}

// upstream endpointslicemirroring/reconciler_test.go
describe("slices of Endpoints", () => {
  it.each<[string, Subset[], string, number[]]>([
    ["no subsets", [], "0/0/0", []],
    ["a subset without addresses", [subset([])], "0/0/0", []],
    ["one address", [subset(["10.0.0.1"])], "1/0/0", [1]],
    ["one address without ports", [subset(["10.0.0.1"], [])], "1/0/0", [1]],
    ["one address that is not ready", [subset([], [80], ["10.0.0.1"])], "1/0/0", [1]],
    ["two subsets, another port and address", [subset(["10.0.0.1"], [80]), subset(["10.0.0.2"], [81])], "2/0/0", [1, 1]],
    ["two subsets, another port, the same address", [subset(["10.0.0.1"], [80]), subset(["10.0.0.1"], [81])], "1/0/0", [1]],
    ["two subsets, the same port, another address", [subset(["10.0.0.1"]), subset(["10.0.0.2"])], "1/0/0", [2]],
    [
      "two dual-stack subsets",
      [subset(["10.0.0.1", "fd00::1"], [80]), subset(["10.0.0.2", "10.0.0.3", "fd00::2"], [81])],
      "4/0/0",
      [1, 1, 2, 1],
    ],
    ["two subsets, another port without a name, the same address", [unnamed("10.0.0.1", 80), unnamed("10.0.0.1", 81)], "2/0/0", [1, 1]],
    ["some invalid addresses", [subset(["10.0.0.1", "fd00::1", "10.0.0.256", "nonsense", "10.0.0.2"])], "2/0/0", [2, 1]],
    ["invalid addresses alone", [subset(["10.0.0.256", "127.0.0.1"])], "0/0/0", []],
    ["1,000 addresses", [subset(Array.from({ length: 1000 }, (_, i) => ipv4(i + 1)))], "1/0/0", [1000]],
    ["1,001 addresses", [subset(Array.from({ length: 1001 }, (_, i) => ipv4(i + 1)))], "1/0/0", [1000]],
  ])("%s: writes and lengths of the row, then none", (_, subsets, writes, lengths) => {
    const world = new MirrorWorld(someEndpoints(subsets));
    expect(world.sync()).toMatchObject({ writes, lengths });
    expect(world.sync()).toMatchObject({ writes: "0/0/0", lengths });
  });

  it("a slice: labels, annotations and owner of the Endpoints, endpoints with ready alone", () => {
    const address = { ip: "FD00::1", hostname: "h", nodeName: "n", targetRef: { kind: "Pod", name: "p" } };
    const world = new MirrorWorld(
      someEndpoints(
        [{ addresses: [address], notReadyAddresses: [{ ip: "fd00::2" }], ports: [{ port: 80, protocol: "UDP", appProtocol: "http" }] }],
        {
          labels: { a: "b", "endpointslice.kubernetes.io/managed-by": "x" },
          annotations: {
            note: "n",
            "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
          },
        },
      ),
    );
    expect(world.sync().plan.create).toEqual([
      {
        metadata: {
          generateName: "s-",
          namespace: "ns",
          labels: {
            a: "b",
            "kubernetes.io/service-name": "s",
            "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
          },
          annotations: { note: "n" },
          ownerReferences: [
            { apiVersion: "v1", kind: "Endpoints", name: "s", uid: "uid of endpoints", controller: true, blockOwnerDeletion: true },
          ],
        },
        addressType: "IPv6",
        ports: [{ name: "", port: 80, protocol: "UDP", appProtocol: "http" }],
        endpoints: [
          { addresses: ["fd00::1"], conditions: { ready: true }, hostname: "h", nodeName: "n", targetRef: { kind: "Pod", name: "p" } },
          { addresses: ["fd00::2"], conditions: { ready: false } },
        ],
      },
    ]);
    expect(world.sync().writes).toBe("0/0/0");
  });

  it.each<[string, (world: MirrorWorld) => void, string, number[]]>([
    ["an address more", (world) => (world.endpoints = someEndpoints([subset(["10.0.0.1", "10.0.0.2"])])), "0/1/0", [2]],
    ["another address", (world) => (world.endpoints = someEndpoints([subset(["10.0.0.2"])])), "0/1/0", [1]],
    ["not ready any more", (world) => (world.endpoints = someEndpoints([subset([], [80], ["10.0.0.1"])])), "0/1/0", [1]],
    ["another port: the slice is reused", (world) => (world.endpoints = someEndpoints([subset(["10.0.0.1"], [81])])), "0/1/0", [1]],
    ["the other family: no slice can change", (world) => (world.endpoints = someEndpoints([subset(["fd00::1"])])), "1/0/1", [1]],
    ["no addresses", (world) => (world.endpoints = someEndpoints([])), "0/0/1", []],
    ["another uid", (world) => (world.endpoints = someEndpoints([subset(["10.0.0.1"])], { uid: "another" })), "0/1/0", [1]],
    ["a label", (world) => (world.endpoints = someEndpoints([subset(["10.0.0.1"])], { labels: { a: "b" } })), "0/1/0", [1]],
    ["an annotation", (world) => (world.endpoints = someEndpoints([subset(["10.0.0.1"])], { annotations: { a: "b" } })), "0/1/0", [1]],
    ["the Endpoints are gone", (world) => (world.endpoints = undefined), "0/0/1", []],
    ["the Service is gone", (world) => (world.service = undefined), "0/0/1", []],
    ["the Service gets a selector", (world) => (world.service = aService()), "0/0/1", []],
    ["an empty selector is none", (world) => (world.service = aService({ selector: {} })), "0/0/0", [1]],
    ["skip-mirror true", (world) => relabel(world, "true"), "0/0/1", []],
    ["skip-mirror false", (world) => relabel(world, "false"), "0/1/0", [1]],
    [
      "a lock of leader election",
      (world) =>
        (world.endpoints = someEndpoints([subset(["10.0.0.1"])], { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } })),
      "0/0/1",
      [],
    ],
    [
      "a second slice of the same ports: deleted",
      (world) => (world.slices = world.slices.flatMap((slice) => [slice, { ...slice, metadata: { ...slice.metadata, name: "copy" } }])),
      "0/0/1",
      [1],
    ],
    [
      "somebody doubles an endpoint: put right",
      (world) => (world.slices = world.slices.map((slice) => ({ ...slice, endpoints: [...slice.endpoints, ...slice.endpoints] }))),
      "0/1/0",
      [1],
    ],
  ])("one address, then %s: writes and lengths of the row, then none", (_, change, writes, lengths) => {
    const world = new MirrorWorld(someEndpoints([subset(["10.0.0.1"])]));
    world.sync();
    change(world);
    expect(world.sync()).toMatchObject({ writes, lengths });
    expect(world.sync()).toMatchObject({ writes: "0/0/0", lengths });
  });

  it("slices of others: not touched, whether or not the Endpoints are mirrored", () => {
    const world = new MirrorWorld(someEndpoints([subset(["10.0.0.1"])]));
    const theirs = ["endpointslice-controller.k8s.io", "x"].map((controller): EndpointSlice => ({
      metadata: {
        ...KEY,
        name: controller,
        labels: { "kubernetes.io/service-name": "s", "endpointslice.kubernetes.io/managed-by": controller },
      },
      addressType: "IPv4",
      endpoints: [],
    }));
    world.slices = theirs;
    expect(world.sync().writes).toBe("1/0/0");
    world.endpoints = undefined;
    expect(world.sync().writes).toBe("0/0/1");
    expect(world.slices).toEqual(theirs);
  });

  it("Endpoints that are being deleted: nothing is created", () => {
    const world = new MirrorWorld(someEndpoints([subset(["10.0.0.1"])], { deletionTimestamp: "2026-01-01T00:00:00Z" }));
    expect(world.sync().writes).toBe("0/0/0");
  });

  it("at most 2 addresses of each subset: the others are skipped, with an event", () => {
    const world = new MirrorWorld(someEndpoints([subset(["10.0.0.1", "10.0.0.2"]), subset(["10.0.0.3", "10.0.0.4", "10.0.0.5"], [81])]));
    world.max = 2;
    const { lengths, plan } = world.sync();
    expect(lengths).toEqual([2, 2]);
    expect(plan.counts).toEqual({ added: 4, updated: 0, removed: 0, skipped: 1, endpoints: 4, slices: 2, slicesDesired: 2 });
    const note = "A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped";
    expect(plan.events).toEqual([{ type: "Warning", reason: "TooManyAddressesToMirror", note }]);
  });

  it("100,000 ports of one address: one slice, which its store judges, in linear work", () => {
    const { create } = planMirror({
      key: KEY,
      endpoints: someEndpoints([
        subset(
          ["10.0.0.1"],
          Array.from({ length: 100_000 }, (_, i) => i + 1),
        ),
      ]),
      service: selectorless,
      slices: [],
      maxPerSubset: 1_000,
    });
    expect(create.map(({ ports }) => ports?.length)).toEqual([100_000]);
  });

  it("invalid addresses: counted as skipped, with an event of their own", () => {
    const { plan } = new MirrorWorld(someEndpoints([subset(["10.0.0.1", "x", "y"])])).sync();
    expect(plan.counts).toEqual({ added: 1, updated: 0, removed: 0, skipped: 2, endpoints: 1, slices: 1, slicesDesired: 1 });
    const note = "Skipped 2 invalid IP addresses when mirroring to EndpointSlices";
    expect(plan.events).toEqual([{ type: "Warning", reason: "InvalidIPAddress", note }]);
  });
});

function relabel(world: MirrorWorld, value: string): void {
  world.endpoints = someEndpoints([subset(["10.0.0.1"])], { labels: { "endpointslice.kubernetes.io/skip-mirror": value } });
}
