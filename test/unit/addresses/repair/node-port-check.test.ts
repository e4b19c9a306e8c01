/** The repair of node ports by the controller: when it compares, what it reports, and when a leaked number is free again. */
import { describe, expect, it } from "vitest";
import { NODE_PORTS_MARK, STEPS } from "../../../../src/addresses/repair/node-port-check";
import { SWEEP_ASKED } from "../../../../src/addresses/repair/repair-ports";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { aService, RepairWorld } from "../../../support/worlds/repair-world";

const MINUTE_MS = 60_000;
const TCP = { protocol: "TCP", port: 30_080 };
const COMPARE = "services.makeNodePortsWhole";

/** A cluster with the Service `web` on port 30080 that repair has looked through. */
async function made(): Promise<RepairWorld> {
  const world = await RepairWorld.of(["10.0.0.0/24"]);
  await world.createService("web", named(30_080));
  await world.pass();
  return world;
}

function named(nodePort: number): Service["spec"] {
  return { type: "NodePort", ports: [{ port: 80, nodePort }] };
}

function rowsOf(world: RepairWorld) {
  return world.cluster.tables.services.nodePorts;
}

/** A pass each minute, as cron asks for it, and those that the controller asks for itself. */
async function minutes(world: RepairWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    await world.wait(MINUTE_MS);
    await world.pass();
  }
}

function counted(world: RepairWorld) {
  return world.storage.nodePortCountsLoad();
}

describe("rhythm", () => {
  it("healthy cluster: compares every three minutes, and finds nothing", async () => {
    const world = await made();
    await minutes(world, 3);
    const { commits } = world.cluster.tables.services.journal;
    world.calls.length = 0;
    await minutes(world, 9);
    expect(world.calls.filter((call) => call === COMPARE)).toHaveLength(3);
    expect(world.calls.filter((call) => call === "services.leakedNodePorts")).toHaveLength(3);
    expect([world.told(), counted(world)]).toEqual([[], { portErrors: {}, reconcileErrors: 0 }]);
    expect(world.cluster.tables.services.journal.commits).toBe(commits);
  });

  it("full sweep that was asked for: compares at once", async () => {
    const world = await made();
    rowsOf(world).nodePortDelete(TCP, "default/web");
    world.storage.numberSet(SWEEP_ASKED, 1);
    await world.pass();
    expect([rowsOf(world).nodePortHolder(TCP), counted(world).portErrors]).toEqual(["default/web", { repair: 1 }]);
  });

  it("more IPAddresses than Services: a full sweep compares each Service once, though it reads some twice", async () => {
    const world = await RepairWorld.of(["10.0.0.0/24", "2001:db8::/64"], ["IPv4", "IPv6"]);
    for (let i = 0; i < 80; i++) await world.createService(`s-${String(i)}`, { ...named(30_100 + i), ipFamilyPolicy: "RequireDualStack" });
    await world.pass();
    await world.wait(MINUTE_MS);
    world.storage.numberSet(SWEEP_ASKED, 1);
    world.calls.length = 0;
    await world.pass();
    expect(world.calls.filter((call) => call === "services.objectsAfter").length).toBeGreaterThan(1);
    expect(world.calls.filter((call) => call === COMPARE)).toHaveLength(1);
  });

  it("death between a comparison and its save: the next sweep compares again", async () => {
    const world = await made();
    await world.wait(5 * MINUTE_MS);
    const put = world.storage.numberSet.bind(world.storage);
    world.storage.numberSet = (name, value) => {
      if (name === NODE_PORTS_MARK) throw new Error("the disk is full");
      put(name, value);
    };
    rowsOf(world).nodePortDelete(TCP, "default/web");
    await world.onePass().catch(() => undefined);
    world.storage.numberSet = put;
    world.crash();
    rowsOf(world).nodePortDelete(TCP, "default/web");
    await minutes(world, 2);
    expect([rowsOf(world).nodePortHolder(TCP), counted(world).portErrors]).toEqual(["default/web", { repair: 2 }]);
  });

  it("poke: compares nothing", async () => {
    const world = await made();
    await world.wait(10 * MINUTE_MS);
    rowsOf(world).nodePortDelete(TCP, "default/web");
    world.calls.length = 0;
    await world.changes();
    expect(world.calls).not.toContain(COMPARE);
  });

  it("clock that was set back: compares all the same", async () => {
    const world = await made();
    world.storage.numberSet(NODE_PORTS_MARK, STEPS * (world.now + 1e9));
    rowsOf(world).nodePortDelete(TCP, "default/web");
    await minutes(world, 2);
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/web");
  });
});

describe("Services and rows that differ", () => {
  it("row that is missing: taken again, told once", async () => {
    const world = await made();
    rowsOf(world).nodePortDelete(TCP, "default/web");
    await minutes(world, 6);
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/web");
    expect(world.told()).toEqual(["Warning PortNotAllocated Port 30080 is not allocated; repairing"]);
    expect(counted(world).portErrors).toEqual({ repair: 1 });
  });

  it("port of two Services: told of the second, every three minutes; after the first is gone the second has the row", async () => {
    const world = await made();
    rowsOf(world).nodePortDelete(TCP, "default/web");
    await world.createService("xanadu", named(30_080));
    rowsOf(world).nodePortDelete(TCP, "default/xanadu");
    await minutes(world, 6);
    const [missing, ...duplicates] = world.reported;
    expect([missing?.reason, missing?.regarding.name, counted(world).portErrors]).toEqual([
      "PortNotAllocated",
      "web",
      { repair: 1, duplicate: 2 },
    ]);
    for (const { reason, note, regarding } of duplicates) {
      expect([reason, note, regarding.name]).toEqual([
        "PortAlreadyAllocated",
        "Port 30080 was assigned to multiple services; please recreate service",
        "xanadu",
      ]);
    }
    await world.remove("services", "web");
    await minutes(world, 3);
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/xanadu");
  });

  it("port outside the range: told, and nothing is written", async () => {
    const world = await made();
    const spec = named(30_081);
    await world.createService("far", spec);
    const stored = world.services().find(({ metadata }) => metadata?.name === "far");
    const data = JSON.stringify(stored).replace("30081", "40081");
    const { store } = world.cluster.tables.services;
    store.objectPut({ ...store.objectGet("default/far")!, data });
    rowsOf(world).nodePortDelete({ protocol: "TCP", port: 30_081 }, "default/far");
    await minutes(world, 3);
    expect(world.told()).toEqual(["Warning PortOutOfRange Port 40081 is not within the port range 30000-32767; please recreate service"]);
    expect([counted(world).portErrors, rowsOf(world).rows.values()]).toEqual([{ outOfRange: 1 }, [{ ...TCP, key: "default/web" }]]);
  });

  it("Services of several pages: all are compared in one sweep", async () => {
    const world = await made();
    for (let i = 0; i < 120; i++) await world.createService(`s-${String(i)}`, named(30_100 + i));
    await minutes(world, 3);
    for (const row of rowsOf(world).rows.values()) rowsOf(world).nodePortDelete(row, row.key);
    await minutes(world, 3);
    expect([rowsOf(world).rows.values().length, counted(world).portErrors]).toEqual([121, { repair: 121 }]);
  });
});

describe("leak", () => {
  it("row whose Service is gone: free at the third sight, three minutes after the second, and not before", async () => {
    const world = await made();
    rowsOf(world).nodePortAdd({ protocol: "TCP", port: 30_500 }, "default/gone");
    const isHeld = (): boolean => rowsOf(world).nodePortHolder({ protocol: "TCP", port: 30_500 }) !== undefined;
    // A comparison in the third minute, and the look for leaks behind it.
    await minutes(world, 4);
    const firstAt = world.now;
    expect(world.logged.filter((line) => line === "warn a node port may have leaked")).toHaveLength(1);
    while (isHeld()) {
      expect(counted(world).portErrors).toEqual({});
      await minutes(world, 1);
    }
    expect(Math.round((world.now - firstAt) / MINUTE_MS)).toBe(6);
    expect([world.told(), counted(world).portErrors]).toEqual([[], { leak: 1 }]);
    expect(world.logged.filter((line) => line.includes("leaked"))).toEqual([
      "warn a node port may have leaked",
      "warn a node port had leaked and was freed",
    ]);
    expect(await world.create("services", aService("next", [], world.now, named(30_500)))).toMatchObject({ ok: true });
    await minutes(world, 9);
    expect([isHeld(), counted(world).portErrors]).toEqual([true, { leak: 1 }]);
  });

  it("sweeps asked for one after the other: are no further sights", async () => {
    const world = await made();
    rowsOf(world).nodePortAdd({ protocol: "TCP", port: 30_500 }, "default/gone");
    for (let i = 0; i < 5; i++) {
      world.storage.numberSet(SWEEP_ASKED, 1);
      await world.pass();
    }
    expect([rowsOf(world).rows.values().length, counted(world).portErrors]).toEqual([2, {}]);
  });

  it("row that its Service accounts for again: forgotten, and its sights with it", async () => {
    const world = await made();
    const row = { protocol: "TCP", port: 30_500 };
    rowsOf(world).nodePortAdd(row, "default/gone");
    await minutes(world, 6);
    rowsOf(world).nodePortDelete(row, "default/gone");
    await minutes(world, 3);
    expect(world.storage.suspects.size).toBe(0);
    rowsOf(world).nodePortAdd(row, "default/gone");
    await minutes(world, 6);
    expect([rowsOf(world).nodePortHolder(row), counted(world).portErrors]).toEqual(["default/gone", {}]);
  });

  it("more rows than one call looks through: all are found and freed", async () => {
    const world = await made();
    for (let port = 30_100; port < 30_700; port++) rowsOf(world).nodePortAdd({ protocol: "UDP", port }, `default/gone-${String(port % 7)}`);
    await minutes(world, 10);
    expect([rowsOf(world).rows.values(), counted(world).portErrors]).toEqual([[{ ...TCP, key: "default/web" }], { leak: 600 }]);
  });
});

describe("failures", () => {
  it.each([COMPARE, "services.leakedNodePorts", "services.settleNodePorts"])(
    "%s fails: counted, addresses go on, and everything is put right later",
    async (failing) => {
      const world = await made();
      rowsOf(world).nodePortDelete(TCP, "default/web");
      rowsOf(world).nodePortAdd({ protocol: "TCP", port: 30_500 }, "default/gone");
      let failures = 0;
      world.fails = (call) => call === failing && ++failures <= 2;
      await minutes(world, 14);
      expect([rowsOf(world).rows.values(), counted(world)]).toEqual([
        [{ ...TCP, key: "default/web" }],
        { portErrors: { repair: 1, leak: 1 }, reconcileErrors: 2 },
      ]);
      expect(world.storage.countsLoad()).toEqual({ ipErrors: {}, reconcileErrors: 0 });
    },
  );

  it("pass that fails: its sights of leaks are not repeated at once", async () => {
    const world = await made();
    const row = { protocol: "TCP", port: 30_500 };
    rowsOf(world).nodePortAdd(row, "default/gone");
    await minutes(world, 3);
    // The second sight; then the round fails for another reason, and puts its suspects back.
    world.fails = (call) => call.startsWith("services.objects");
    const firstAt = world.now;
    await expect(minutes(world, 4)).rejects.toThrow();
    world.fails = () => false;
    while (rowsOf(world).nodePortHolder(row) !== undefined) await minutes(world, 1);
    expect(world.now - firstAt).toBeGreaterThanOrEqual(6 * MINUTE_MS);
  });

  it.each([1, 2, 3, 4, 5, 6])("controller that dies at its call %i to the store: the next passes put everything right", async (nth) => {
    const world = await made();
    rowsOf(world).nodePortDelete(TCP, "default/web");
    rowsOf(world).nodePortAdd({ protocol: "TCP", port: 30_500 }, "default/gone");
    let calls = 0;
    world.fails = (call) => {
      if (call.includes("NodePort") && ++calls === nth) world.crash();
      return false;
    };
    // A pass that dies never ends: the alarm asks for the next one.
    for (let minute = 0; minute < 30; minute++) {
      await world.cluster.scheduler.pass(MINUTE_MS);
      void world.brain.alarm();
      await world.cluster.scheduler.pass(30_000);
    }
    expect([calls >= nth, rowsOf(world).rows.values()]).toEqual([true, [{ ...TCP, key: "default/web" }]]);
  });
});
