/** What repair cannot put right it looks at again, less and less often, and it says so once a minute at most. */
import { describe, expect, it } from "vitest";
import { aService, anIPAddress, RepairWorld } from "../../../support/worlds/repair-world";

const RANGE = ["10.0.0.0/24"];
const MINUTES = 10;
/** 1, 2, 4, … 32 s, then every minute; and the slices of the sweep, which come by once a minute. */
const LOOKS_MAX = 2 * (6 + MINUTES);

/** Calls of that name in ten minutes, with the passes that repair itself asks for and those of every minute. */
async function callsInTenMinutes(world: RepairWorld, call: string): Promise<number> {
  world.calls.length = 0;
  for (let minute = 0; minute < MINUTES; minute++) {
    await world.wait(60_000);
    await world.pass().catch(() => undefined);
  }
  return world.calls.filter((name) => name === call).length;
}

function breakOwners(world: RepairWorld): void {
  const owners = new Set([...world.cluster.owners.values()].map(({ node }) => node.name));
  world.cluster.network.fate = (_, target) => (owners.has(target) ? "lost" : undefined);
}

function mendOwners(world: RepairWorld): void {
  world.cluster.network.fate = () => undefined;
}

describe("an owner that does not answer", () => {
  it("is asked less and less often, and each address is told of once a minute at most", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.plant("services", aService("a", ["10.0.0.9"], world.now), aService("b", ["10.0.0.10"], world.now));
    breakOwners(world);
    await world.pass();
    expect(world.told()).toEqual([
      "Warning UnknownError Unable to allocate ClusterIP [IPv4]: 10.0.0.9 due to an unknown error",
      "Warning UnknownError Unable to allocate ClusterIP [IPv4]: 10.0.0.10 due to an unknown error",
    ]);
    const calls = await callsInTenMinutes(world, "services.makeWhole");
    expect(calls).toBeGreaterThan(MINUTES);
    expect(calls).toBeLessThanOrEqual(LOOKS_MAX);
    expect(world.reported.length).toBeGreaterThan(MINUTES);
    expect(world.reported.length).toBeLessThanOrEqual(2 * (1 + MINUTES));
    mendOwners(world);
    await world.wait(120_000);
    expect([world.parents(), world.storage.suspects.size]).toEqual([{ "10.0.0.9": "default/a", "10.0.0.10": "default/b" }, 0]);
  });

  it("is asked again soon when it has answered in between", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.plant("services", aService("a", ["10.0.0.9"], world.now));
    for (let round = 0; round < 3; round++) {
      breakOwners(world);
      await world.remove("ipaddresses", "10.0.0.9");
      await world.pass();
      expect(world.storage.suspectEarliest()).toBeLessThanOrEqual(world.now + 1_000);
      await world.wait(30_000);
      mendOwners(world);
      await world.wait(60_000);
      expect([world.parents(), world.storage.suspects.size]).toEqual([{ "10.0.0.9": "default/a" }, 0]);
    }
  });

  it("is told of for both addresses of a Service", async () => {
    const world = await RepairWorld.of([...RANGE, "2001:db8::/64"], ["IPv4", "IPv6"]);
    await world.plant("services", aService("a", ["10.0.0.9", "2001:db8::9"], world.now));
    breakOwners(world);
    await world.pass();
    expect(world.told()).toHaveLength(2);
    await world.wait(50_000);
    expect(world.told()).toHaveLength(2);
  });
});

describe("a lost row, of which the objects do not tell", () => {
  it.each(["a Service", "an IPAddress that a client made"])("of %s is compared again soon when its owner did not answer", async (what) => {
    const world = await RepairWorld.of(RANGE);
    const parentRef = { group: "example.com", resource: "gateways", namespace: "", name: "edge" };
    if (what === "a Service") await world.createService("web", { clusterIP: "10.0.0.9" });
    else await world.create("ipaddresses", anIPAddress("10.0.0.9", "default/web", world.now, { parentRef, labels: {} }));
    await world.pass();
    const rows = await world.rows();
    await world.loseRows();
    expect([Object.keys(rows), await world.rows()]).toEqual([["10.0.0.9"], {}]);
    breakOwners(world);
    await world.wait(60_000);
    await world.pass();
    mendOwners(world);
    await world.wait(10_000);
    expect([await world.rows(), world.storage.suspects.size]).toEqual([rows, 0]);
  });
});

describe("an IPAddress that does not go", () => {
  it("because of its finalizer, and has the address of a Service, is deleted again less and less often", async () => {
    const world = await RepairWorld.of(RANGE);
    const object = anIPAddress("10.0.0.7", "default/other", world.now);
    await world.create("ipaddresses", { ...object, metadata: { ...object.metadata, finalizers: ["example.com/hold"] } });
    await world.plant("services", aService("web", ["10.0.0.7"], world.now));
    const calls = await callsInTenMinutes(world, "ipaddresses.write delete");
    expect(world.parents()).toEqual({ "10.0.0.7": "default/other" });
    expect(calls).toBeGreaterThan(MINUTES);
    expect(calls).toBeLessThanOrEqual(2 * LOOKS_MAX);
  });

  it("because of its finalizer, and has leaked, too", async () => {
    const world = await RepairWorld.of(RANGE);
    const object = anIPAddress("10.0.0.7", "default/gone", world.now);
    await world.create("ipaddresses", { ...object, metadata: { ...object.metadata, finalizers: ["example.com/hold"] } });
    const calls = await callsInTenMinutes(world, "ipaddresses.write delete");
    expect(world.parents()).toEqual({ "10.0.0.7": "default/gone" });
    expect(calls).toBeGreaterThan(MINUTES);
    expect(calls).toBeLessThanOrEqual(LOOKS_MAX);
  });
});

describe("an IPAddress whose Service cannot be read", () => {
  it("is told of once a minute at most", async () => {
    const world = await RepairWorld.of(RANGE);
    const parentRef = { group: "example.com", resource: "foos" };
    await world.create("ipaddresses", anIPAddress("10.0.0.9", "default/web", world.now, { parentRef }));
    world.fails = (call) => call === "services.objectsNamed";
    for (let second = 0; second < 5 * 60; second += 5) {
      await world.pass().catch(() => undefined);
      await world.cluster.scheduler.pass(5_000);
    }
    expect(world.reported.map(({ reason }) => reason)).toEqual(Array.from({ length: 5 }, () => "UnknownError"));
    world.fails = () => false;
    await world.pass();
    await world.wait(60_000);
    expect([world.parents(), world.storage.suspects.size]).toEqual([{}, 0]);
  });
});
