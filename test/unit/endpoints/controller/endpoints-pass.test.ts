import { describe, expect, it } from "vitest";
import type { Endpoints } from "../../../../src/api/meta/kubernetes";
import { forbidden } from "../../../../src/api/meta/status";
import { endpointsDefinition } from "../../../../src/api/registry/endpoints/definition";
import { EndpointWorld, type WorldOptions } from "../../../support/worlds/endpoint-world";
import { aPod, aService, ipv4, type PodOptions } from "../../../support/worlds/slice-world";

const CREATE = "endpoints create";
const UPDATE = "endpoints update";
const DELETE = "endpoints delete";

function pod(i: number, options: PodOptions = {}) {
  return aPod({ name: `p${i}`, ips: [ipv4(256 + i)], readyAt: "2026-01-01T00:00:00Z", ...options });
}

/** Service s with Pods p0, p1, …, synced; the writes so far are taken. */
async function cluster(count = 2, options: WorldOptions = {}): Promise<EndpointWorld> {
  const world = new EndpointWorld({ controllers: ["endpoints"], ...options });
  for (let i = 0; i < count; i++) await world.putPod(pod(i));
  await world.putService(aService());
  await world.settle();
  world.takeWrites();
  return world;
}

/** Ready addresses, a `/` and those that are not ready, of the Endpoints of this name. */
function addresses(world: EndpointWorld, name = "s"): string {
  const endpoints = world.stores.endpoints.stored<Endpoints>(name);
  if (!endpoints) return "none";
  const of = (member: "addresses" | "notReadyAddresses"): string =>
    (endpoints.subsets ?? [])
      .flatMap((subset) => subset[member]?.map(({ ip }) => ip) ?? [])
      .sort()
      .join();
  return `${of("addresses")}/${of("notReadyAddresses")}`;
}

it("Pods, then their Service: one create; then each change is one update", async () => {
  const world = new EndpointWorld({ controllers: ["endpoints"] });
  await world.putPod(pod(0));
  await world.putPod(pod(1, { ready: false }));
  await world.putService(aService());
  await world.settle();
  expect(world.takeWrites()).toEqual([CREATE]);
  expect(addresses(world)).toBe(`${ipv4(256)}/${ipv4(257)}`);
  expect(world.endpoints[0]?.metadata?.labels).toEqual({ "endpoints.kubernetes.io/managed-by": "endpoint-controller" });
  await world.putPod(pod(1));
  await world.settle();
  expect(world.takeWrites()).toEqual([UPDATE]);
  expect(addresses(world)).toBe(`${ipv4(256)},${ipv4(257)}/`);
});

describe.each<[string, (world: EndpointWorld) => Promise<void>, string[], string]>([
  ["the Service goes", (world) => world.delete("services", "s"), [DELETE], "none"],
  ["the selector goes", (world) => world.patch("services", "s", { spec: { selector: null } }), [], `${ipv4(256)},${ipv4(257)}/`],
  ["the Pods turn unready", (world) => world.putPod(pod(1, { ready: false })), [UPDATE], `${ipv4(256)}/${ipv4(257)}`],
  ["a Pod's annotation", (world) => world.patch("pods", "p0", { metadata: { annotations: { a: "b" } } }), [], `${ipv4(256)},${ipv4(257)}/`],
  ["the Endpoints are deleted", (world) => world.delete("endpoints", "s"), [CREATE], `${ipv4(256)},${ipv4(257)}/`],
  ["they are edited", (world) => world.patch("endpoints", "s", { subsets: [] }), [UPDATE], `${ipv4(256)},${ipv4(257)}/`],
])("%s", (_, change, writes, want) => {
  it("the writes and addresses of the row, and no more at the next look", async () => {
    const world = await cluster();
    await change(world);
    await world.settle();
    expect(world.takeWrites().filter((write, i, all) => all.indexOf(write) === i)).toEqual(writes);
    expect(addresses(world)).toBe(want);
    world.poke();
    await world.settle();
    expect(world.takeWrites()).toEqual([]);
  });
});

it("the history of the Endpoints is lost, and they are gone: made again", async () => {
  const world = await cluster(2, { historyEntries: 3 });
  world.sleep();
  await world.delete("endpoints", "s");
  for (let i = 0; i < 6; i++) await world.put("endpoints", { metadata: { namespace: "ns", name: `other${i}` } });
  world.wake();
  await world.settle();
  expect(addresses(world)).toBe(`${ipv4(256)},${ipv4(257)}/`);
});

describe("Endpoints without a Service", () => {
  const byHand: Endpoints = {
    metadata: { namespace: "ns", name: "hand" },
    subsets: [{ addresses: [{ ip: "10.1.1.1" }], ports: [{ port: 1 }] }],
  };

  it("written by hand before their Service: they stay", async () => {
    const world = await cluster();
    await world.put("endpoints", byHand);
    await world.settle();
    await world.putService(aService({ selector: {} }, { name: "hand" }));
    await world.settle();
    expect(addresses(world, "hand")).toBe("10.1.1.1/");
    expect(world.takeWrites()).toEqual([]);
  });

  it("the controller's own, left over from a time that nobody remembers: they go, those by hand stay", async () => {
    const world = await cluster();
    world.sleep();
    await world.put("endpoints", byHand);
    await world.delete("services", "s");
    world.rows.endpoints.clear();
    world.wake();
    await world.settle();
    expect(addresses(world)).toBe("none");
    expect(addresses(world, "hand")).toBe("10.1.1.1/");
  });
});

describe("a Service that comes back during the look at its end", () => {
  const byHand: Endpoints = {
    metadata: { namespace: "ns", name: "hand" },
    subsets: [{ addresses: [{ ip: "10.1.1.1" }], ports: [{ port: 1 }] }],
  };

  it("nobody has read of it yet: its Endpoints by hand stay", async () => {
    const world = await cluster();
    await world.putService(aService({ selector: {} }, { name: "hand" }));
    await world.put("endpoints", byHand);
    await world.settle();
    let isBack = false;
    world.fault = (call) => {
      if (call === "endpoints objectsNamed" && !isBack) {
        isBack = true;
        void world.putService(aService({ selector: {} }, { name: "hand" }));
      }
      return undefined;
    };
    await world.delete("services", "hand");
    await world.settle();
    expect(isBack).toBe(true);
    expect(addresses(world, "hand")).toBe("10.1.1.1/");
    expect(world.takeWrites()).toEqual([]);
  });

  it("somebody writes the Endpoints before they are deleted: looked at once more", async () => {
    const world = await cluster();
    await world.putService(aService({ selector: {} }, { name: "hand" }));
    await world.put("endpoints", byHand);
    await world.settle();
    let isFirst = true;
    world.fault = (call) => {
      if (call === DELETE && isFirst) {
        isFirst = false;
        void world.patch("endpoints", "hand", { subsets: [] }).then(() => world.putService(aService({ selector: {} }, { name: "hand" })));
      }
      return undefined;
    };
    await world.delete("services", "hand");
    await world.settle();
    expect(isFirst).toBe(false);
    expect(addresses(world, "hand")).toBe("/");
    expect(world.events).toEqual([]);
  });
});

describe("after sleep", () => {
  it("kept rows: nothing but changes is read, and nothing is written", async () => {
    const world = await cluster(5);
    world.wake();
    await world.settle();
    expect(world.calls.sort()).toEqual(["endpoints objectsSince", "pods objectsSince", "services objectsSince"]);
  });

  it("wiped rows over more than 1,000 addresses: nothing is written", async () => {
    const world = await cluster(0);
    world.sleep();
    for (let i = 0; i < 1_005; i++) await world.putPod(pod(i));
    world.wake();
    await world.settle();
    expect(world.endpoints[0]?.metadata?.annotations).toMatchObject({ "endpoints.kubernetes.io/over-capacity": "truncated" });
    expect(world.events.map(({ reason }) => reason)).toEqual(["EndpointsOverCapacity"]);
    world.takeWrites();
    world.rows.endpoints.clear();
    world.wake();
    await world.settle(30_000);
    expect(world.takeWrites()).toEqual([]);
    expect(world.events).toHaveLength(1);
  });
});

describe("a refused write", () => {
  it("quota: the Service waits longer each time, and one event tells of it", async () => {
    const world = await cluster(1);
    const status = forbidden(endpointsDefinition, "s", "exceeded quota: q");
    world.fault = (call) => (call === UPDATE ? { ok: false, status, warnings: [] } : undefined);
    await world.putPod(pod(1));
    await world.settle(60_000);
    expect(world.takeWrites().length).toBeGreaterThan(3);
    expect(new Set(world.events.map(({ reason, note }) => `${reason} ${note}`)).size).toBe(1);
    world.fault = () => undefined;
    await world.settle(120_000);
    expect(addresses(world)).toBe(`${ipv4(256)},${ipv4(257)}/`);
  });

  it("somebody was faster: the next look reads what they wrote", async () => {
    const world = await cluster(1);
    let isFirst = true;
    world.fault = (call) => {
      if (call === UPDATE && isFirst) {
        isFirst = false;
        const options = { dryRun: false, fieldManager: "x", fieldValidation: "Ignore", force: false, group: "", version: "v1" } as const;
        const patch = JSON.stringify({ metadata: { annotations: { by: "somebody" } } });
        const key = { namespace: "ns", name: "s" };
        void world.stores.endpoints.store.write({ verb: "patch", key, subresource: "", patchType: "merge", patch, options });
      }
      return undefined;
    };
    await world.putPod(pod(1));
    await world.settle();
    expect(addresses(world)).toBe(`${ipv4(256)},${ipv4(257)}/`);
    expect(world.endpoints[0]?.metadata?.annotations).toMatchObject({ by: "somebody" });
    expect(world.events).toEqual([]);
  });

  it("the answer is lost: the write is made once", async () => {
    const world = await cluster(1);
    let isFirst = true;
    world.fault = (call) => {
      if (call !== UPDATE || !isFirst) return undefined;
      isFirst = false;
      return "lost";
    };
    await world.putPod(pod(1));
    await world.settle(30_000);
    expect(addresses(world)).toBe(`${ipv4(256)},${ipv4(257)}/`);
    expect(world.takeWrites()).toEqual([UPDATE]);
  });
});

it("a store that goes back to before an own write of which its feed has not told: written again, when cron asks", async () => {
  const world = await cluster(1);
  const { storage } = world.stores.endpoints;
  const goBack = storage.remembered();
  world.fault = (call) => (call === "endpoints objectsSince" ? "down" : undefined);
  await world.putPod(pod(1));
  await world.settle(1_000);
  expect(addresses(world)).toBe(`${ipv4(256)},${ipv4(257)}/`);
  goBack();
  const state = storage.stateLoad();
  if (state) storage.stateSave({ ...state, incarnation: "restored" });
  world.stores.endpoints.restart();
  expect(addresses(world)).toBe(`${ipv4(256)}/`);
  world.fault = () => undefined;
  world.poke();
  await world.settle(60_000);
  expect(addresses(world)).toBe(`${ipv4(256)},${ipv4(257)}/`);
});

it("an own create arrives when its Service is gone: the Endpoints go", async () => {
  const world = await cluster();
  const metadata = { namespace: "ns", name: "gone", labels: { "endpoints.kubernetes.io/managed-by": "endpoint-controller" } };
  await world.put("endpoints", { metadata, subsets: [] } as Endpoints);
  await world.settle();
  expect(world.takeWrites()).toEqual([DELETE]);
  expect(addresses(world, "gone")).toBe("none");
});
