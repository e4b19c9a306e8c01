import { describe, expect, it } from "vitest";
import { MIRRORING_CONTROLLER } from "../../../../src/api/meta/endpoint-keys";
import type { Endpoints, EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { EndpointWorld, type WorldOptions } from "../../../support/worlds/endpoint-world";
import { aService } from "../../../support/worlds/slice-world";

const CREATE = "endpointslices create";
const UPDATE = "endpointslices update";
const DELETE = "endpointslices delete";

function byHand(ips: readonly string[], metadata: Endpoints["metadata"] = {}): Endpoints {
  return {
    metadata: { namespace: "ns", name: "s", ...metadata },
    subsets: [{ addresses: ips.map((ip) => ({ ip })), ports: [{ name: "http", port: 80, protocol: "TCP" }] }],
  };
}

/** Service s without selector and Endpoints of one address, mirrored; the writes so far are taken. */
async function cluster(options: WorldOptions = {}): Promise<EndpointWorld> {
  const world = new EndpointWorld({ controllers: ["mirror"], ...options });
  await world.putService(aService({ selector: undefined }));
  await world.put("endpoints", byHand(["10.1.1.1"]));
  await world.settle();
  world.takeWrites();
  return world;
}

it("Endpoints of a Service without selector, whichever comes first: one slice, owned by them", async () => {
  for (const isServiceFirst of [true, false]) {
    const world = new EndpointWorld({ controllers: ["mirror"] });
    if (isServiceFirst) await world.putService(aService({ selector: undefined }));
    await world.put("endpoints", byHand(["10.1.1.1"]));
    if (!isServiceFirst) await world.putService(aService({ selector: undefined }));
    await world.settle();
    expect(world.takeWrites()).toEqual([CREATE]);
    expect(world.addresses).toEqual(["10.1.1.1"]);
    expect(world.slices[0]?.metadata?.ownerReferences).toMatchObject([{ kind: "Endpoints", name: "s", controller: true }]);
  }
});

it("the Service comes back during the look at its end: its slices stay", async () => {
  const world = await cluster();
  let isBack = false;
  world.fault = (call) => {
    if (call === "endpoints objectsNamed" && !isBack) {
      isBack = true;
      void world.putService(aService({ selector: undefined }));
    }
    return undefined;
  };
  await world.delete("services", "s");
  await world.settle();
  expect(isBack).toBe(true);
  expect(world.takeWrites()).toEqual([]);
  expect(world.addresses).toEqual(["10.1.1.1"]);
});

it.each<[string, (world: EndpointWorld) => Promise<void>, string[], string[]]>([
  ["the addresses change", (world) => world.put("endpoints", byHand(["10.1.1.2", "10.1.1.3"])), [UPDATE], ["10.1.1.2", "10.1.1.3"]],
  [
    "an address of the other family comes",
    (world) => world.put("endpoints", byHand(["10.1.1.1", "fd00::1"])),
    [CREATE],
    ["10.1.1.1", "fd00::1"],
  ],
  ["the Endpoints go", (world) => world.delete("endpoints", "s"), [DELETE], []],
  ["the Service goes", (world) => world.delete("services", "s"), [DELETE], []],
  ["the Service gets a selector", (world) => world.patch("services", "s", { spec: { selector: { a: "b" } } }), [DELETE], []],
  ["the label skip-mirror comes", (world) => world.patch("endpoints", "s", skipMirror), [DELETE], []],
  ["another annotation of the Service", (world) => world.patch("services", "s", annotated), [], ["10.1.1.1"]],
  ["an annotation of the Endpoints", (world) => world.patch("endpoints", "s", annotated), [UPDATE], ["10.1.1.1"]],
])("%s: the writes and addresses of the row, and no more at the next look", async (_, change, writes, addresses) => {
  const world = await cluster();
  await change(world);
  await world.settle();
  expect(world.takeWrites()).toEqual(writes);
  expect(world.addresses).toEqual(addresses);
  world.poke();
  await world.settle();
  expect(world.takeWrites()).toEqual([]);
});

it.each<[string, (world: EndpointWorld, name: string) => Promise<void>]>([
  ["is edited", (world, name) => world.patch("endpointslices", name, { endpoints: [] })],
  ["is deleted", (world, name) => world.delete("endpointslices", name)],
])("a slice %s by somebody else: it is put right", async (_, change) => {
  const world = await cluster();
  await change(world, world.slices[0]?.metadata?.name ?? "");
  await world.settle();
  expect(world.addresses).toEqual(["10.1.1.1"]);
});

it("a slice of the same Service by hand: nobody touches it", async () => {
  const world = await cluster();
  const labels = { "kubernetes.io/service-name": "s", "endpointslice.kubernetes.io/managed-by": "me" };
  const slice: EndpointSlice = { metadata: { namespace: "ns", name: "mine", labels }, addressType: "IPv4", endpoints: [] };
  await world.put("endpointslices", slice);
  await world.settle();
  expect(world.takeWrites()).toEqual([]);
});

it("Endpoints of a Service with selector: they are not even read", async () => {
  const world = new EndpointWorld({ controllers: ["mirror"] });
  await world.putService(aService());
  await world.put("endpoints", byHand(["10.1.1.1"]));
  await world.settle();
  expect(world.calls).not.toContain("endpoints objectsNamed");
  expect(world.slices).toEqual([]);
});

it("a Service with selector: no row is kept of it, before and after it was mirrored", async () => {
  const world = new EndpointWorld({ controllers: ["mirror"] });
  const kept = (): unknown[] => [...world.rows.mirror.facts("services"), ...world.rows.mirror.facts("due")];
  await world.putService(aService());
  await world.put("endpoints", byHand(["10.1.1.1"]));
  await world.settle();
  expect(kept()).toEqual([]);
  await world.patch("services", "s", { spec: { selector: null } });
  await world.settle();
  expect(world.addresses).toEqual(["10.1.1.1"]);
  expect(kept()).toHaveLength(1);
  await world.patch("services", "s", { spec: { selector: { a: "b" } } });
  await world.settle();
  expect(world.slices).toEqual([]);
  expect(kept()).toEqual([]);
});

it("a slice with the controller's label for a Service with selector: it goes", async () => {
  const world = new EndpointWorld({ controllers: ["mirror"] });
  await world.putService(aService());
  await world.settle();
  const labels = { "kubernetes.io/service-name": "s", "endpointslice.kubernetes.io/managed-by": MIRRORING_CONTROLLER };
  const slice: EndpointSlice = { metadata: { namespace: "ns", name: "left", labels }, addressType: "IPv4", endpoints: [] };
  await world.put("endpointslices", slice);
  await world.settle();
  expect(world.slices).toEqual([]);
});

it("an address that no slice can have: one event about the Endpoints, also after sleep", async () => {
  const world = await cluster();
  // stored before such addresses were refused
  const [stored] = [...world.stores.endpoints.storage.objectScan("", "")];
  const bad = JSON.stringify(byHand(["10.1.1.1", "10.1.1.256"], { uid: stored?.uid ?? "", resourceVersion: "9" }));
  if (stored) world.stores.endpoints.storage.objectPut({ ...stored, data: bad });
  await world.patch("services", "s", { spec: { selector: { a: "b" } } });
  await world.settle();
  await world.patch("services", "s", { spec: { selector: null } });
  await world.settle();
  world.wake();
  await world.patch("endpointslices", world.slices[0]?.metadata?.name ?? "", { endpoints: [] });
  await world.settle();
  expect(world.addresses).toEqual(["10.1.1.1"]);
  expect(world.events.map(({ reason, regarding }) => `${reason} ${regarding.kind ?? ""}`)).toEqual(["InvalidIPAddress Endpoints"]);
});

describe("after sleep", () => {
  it("kept rows: nothing but changes is read, and nothing is written", async () => {
    const world = await cluster();
    world.wake();
    await world.settle();
    expect(world.calls.sort()).toEqual(["endpoints objectsSince", "endpointslices objectsSince", "services objectsSince"]);
  });

  it("wiped rows over an unchanged cluster: nothing is written", async () => {
    const world = await cluster();
    world.rows.mirror.clear();
    world.wake();
    await world.settle();
    expect(world.takeWrites()).toEqual([]);
  });

  it("the history of the Endpoints is lost, and they are gone: so are their slices", async () => {
    const world = await cluster({ historyEntries: 3 });
    world.sleep();
    await world.delete("endpoints", "s");
    for (let i = 0; i < 6; i++) await world.put("endpoints", byHand(["10.2.2.2"], { name: `other${i}` }));
    world.wake();
    await world.settle();
    expect(world.slices.flatMap(endpointsOf)).toEqual([]);
    expect(world.slices).toEqual([]);
  });
});

const skipMirror = { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } };
const annotated = { metadata: { annotations: { a: "b" } } };
