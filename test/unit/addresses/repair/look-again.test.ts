/** Suspects: repair looks at them again less and less often, and reports each at most once a minute. */
import { describe, expect, it } from "vitest";
import { aService, anIPAddress, RepairWorld } from "../../../support/worlds/repair-world";

const RANGE = ["10.0.0.0/24"];
const MINUTES = 10;
/** 1, 2, 4, … 32 s, then every minute; and the slices of the sweep, once a minute. */
const LOOKS_MAX = 2 * (6 + MINUTES);

/** Calls of that name in ten minutes of passes: those that repair asks for, and one every minute. */
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

describe("owner that does not answer", () => {
  it("ten minutes: asked less and less often, and each address is reported at most once a minute", async () => {
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

  it("an answer in between: the next failure is looked at again soon", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.plant("services", aService("a", ["10.0.0.9"], world.now));
    for (let round = 0; round < 3; round++) {
      breakOwners(world);
      await world.remove("ipaddresses", "10.0.0.9");
      await world.pass();
      // The second look may be part of the pass. Later ones wait for longer.
      expect(world.storage.suspectEarliest()).toBeLessThanOrEqual(world.now + 2_000);
      await world.wait(30_000);
      mendOwners(world);
      await world.wait(60_000);
      expect([world.parents(), world.storage.suspects.size]).toEqual([{ "10.0.0.9": "default/a" }, 0]);
    }
  });

  it("Service with two addresses: both are reported", async () => {
    const world = await RepairWorld.of([...RANGE, "2001:db8::/64"], ["IPv4", "IPv6"]);
    await world.plant("services", aService("a", ["10.0.0.9", "2001:db8::9"], world.now));
    breakOwners(world);
    await world.pass();
    expect(world.told()).toHaveLength(2);
    await world.wait(50_000);
    expect(world.told()).toHaveLength(2);
  });
});

describe("lost row that no change announces", () => {
  it.each(["a Service", "an IPAddress that a client made"])(
    "%s whose owner did not answer: the row is compared again soon",
    async (what) => {
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
    },
  );
});

describe("IPAddress behind a finalizer", () => {
  it("wrong and with the address of a Service: deleted again less and less often", async () => {
    const world = await RepairWorld.of(RANGE);
    const object = anIPAddress("10.0.0.7", "default/other", world.now);
    await world.create("ipaddresses", { ...object, metadata: { ...object.metadata, finalizers: ["example.com/hold"] } });
    await world.plant("services", aService("web", ["10.0.0.7"], world.now));
    const calls = await callsInTenMinutes(world, "ipaddresses.write delete");
    expect(world.parents()).toEqual({ "10.0.0.7": "default/other" });
    expect(calls).toBeGreaterThan(MINUTES);
    expect(calls).toBeLessThanOrEqual(2 * LOOKS_MAX);
  });

  it("leaked: deleted again less and less often", async () => {
    const world = await RepairWorld.of(RANGE);
    const object = anIPAddress("10.0.0.7", "default/gone", world.now);
    await world.create("ipaddresses", { ...object, metadata: { ...object.metadata, finalizers: ["example.com/hold"] } });
    const calls = await callsInTenMinutes(world, "ipaddresses.write delete");
    expect(world.parents()).toEqual({ "10.0.0.7": "default/gone" });
    expect(calls).toBeGreaterThan(MINUTES);
    expect(calls).toBeLessThanOrEqual(LOOKS_MAX);
  });
});

describe("IPAddress whose Service cannot be asked for", () => {
  it("five minutes: reported once a minute", async () => {
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
