/** What repair reads: the histories, a slice of everything each minute, and full sweeps. */
import { describe, expect, it } from "vitest";
import { type RepairPorts, SWEEP_ASKED } from "../../../../src/addresses/repair/repair-ports";
import { emptyRound } from "../../../../src/addresses/repair/round";
import { Sweep } from "../../../../src/addresses/repair/sweep";
import { MemoryRepairStorage } from "../../../support/memory/repair-storage";
import { aService, RepairWorld } from "../../../support/worlds/repair-world";
import { newestStored } from "../../../support/worlds/stored-history";

const RANGE = ["10.0.0.0/24"];

/** The newest revisions of both stores: a healthy pass leaves them as they were. */
function revisions(world: RepairWorld): number[] {
  const { services, ipAddresses } = world.cluster.tables;
  return [services, ipAddresses].map(({ store }) => newestStored(store));
}

describe("healthy cluster", () => {
  it("pass: reads only what changed, and writes nothing", async () => {
    const world = await RepairWorld.of(RANGE);
    for (let i = 0; i < 30; i++) await world.createService(`web-${i}`);
    await world.pass();
    const before = revisions(world);
    world.calls.length = 0;
    await world.pass();
    expect(world.calls.sort()).toEqual(["ipaddresses.objectsSince", "services.objectsSince"]);
    await world.createService("one-more");
    world.calls.length = 0;
    await world.pass();
    expect(world.calls.sort()).toEqual(["ipaddresses.objectsSince", "ranges", "services.objectsSince"]);
    await world.wait(60_000);
    await world.pass();
    expect(revisions(world)).toEqual(before.map((revision) => revision + 1));
    expect([world.told(), world.storage.countsLoad()]).toEqual([[], { ipErrors: {}, reconcileErrors: 0 }]);
  });

  it("poked passes: sweep nothing; the next pass of cron sweeps", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.createService("web");
    await world.pass();
    await world.wait(60_000);
    for (let poke = 0; poke < 3; poke++) {
      world.calls.length = 0;
      await world.changes();
      expect(world.calls.sort()).toEqual(["ipaddresses.objectsSince", "services.objectsSince"]);
    }
    world.calls.length = 0;
    await world.pass();
    // Pages come along with the changes, and the owners along with the ranges.
    const [reads, checks] = [
      ["ipaddresses.objectsAfter", "services.objectsAfter", "ranges"],
      ["services.makeWhole", "owner.checkBitmap"],
    ];
    expect(world.calls.sort()).toEqual([...reads, ...checks].sort());
  });
});

describe("many changes", () => {
  it("noted: others get the thread after each hundred", async () => {
    const storage = new MemoryRepairStorage();
    const cursor = { incarnation: "a", revision: 0 };
    storage.progressSave("services", { cursor, sweptTo: "", urgent: false });
    const changes = Array.from({ length: 350 }, (_, i) => ({ deleted: false, object: JSON.stringify(aService(`web-${i}`, [], 0)) }));
    const services = {
      objectsSince: () => Promise.resolve({ kind: "changes" as const, changes, cursor: { ...cursor, revision: 350 }, more: false }),
    };
    const nobody = { ofUnreadable: () => undefined };
    const ports = { storage, services } as unknown as RepairPorts;
    const sweep = new Sweep(ports, nobody, { begin: () => false, isComparing: false }, () => undefined);
    sweep.load();
    const round = emptyRound();
    const noted: number[] = [];
    await sweep.note(await sweep.fetch("services", false), round, { breathe: () => Promise.resolve(void noted.push(round.services.size)) });
    expect(noted.slice(0, 4)).toEqual([100, 200, 300, 350]);
  });
});

describe("lost history", () => {
  it.each([
    ["another incarnation", { incarnation: "of a store that is gone", revision: 3 }],
    ["a revision of the future", { incarnation: "", revision: 1e9 }],
  ])("%s: a sweep makes up for it", async (_, cursor) => {
    const world = await RepairWorld.of(["10.0.0.0/22"]);
    for (let i = 0; i < 600; i++) await world.createService(`web-${i}`);
    await world.pass();
    for (const what of ["services", "ipaddresses"] as const) {
      const progress = world.storage.progressLoad(what);
      const incarnation = cursor.incarnation || (progress.cursor?.incarnation ?? "");
      world.storage.progressSave(what, { ...progress, cursor: { ...cursor, incarnation } });
    }
    const gone = world.addresses().filter((_, i) => i % 100 === 0);
    for (const { metadata } of gone) await world.remove("ipaddresses", metadata?.name ?? "");
    await world.pass();
    expect(Object.keys(world.parents())).toHaveLength(600);
    expect(world.told()).toHaveLength(gone.length);
  });
});

describe("full sweep that was asked for", () => {
  const ranges = Array.from({ length: 30 }, (_, i) => `10.1.${String(i)}.0/28`);

  it("healthy cluster: looks at every Service, IPAddress and owner in few calls, and writes nothing", async () => {
    const world = await RepairWorld.of(RANGE);
    for (const [i, cidr] of ranges.entries()) await world.createRange(`range-${String(i)}`, cidr);
    for (const i of ranges.keys()) {
      for (const host of [3, 5])
        await world.createService(`s-${String(i)}-${String(host)}`, { clusterIP: `10.1.${String(i)}.${String(host)}` });
    }
    await world.pass();
    const before = revisions(world);
    const sweeps = world.storage.numberGet("sweeps");
    const writes = [...world.cluster.owners.values()].map(({ storage }) => storage.commits);
    world.storage.numberSet(SWEEP_ASKED, 1);
    world.calls.length = 0;
    await world.pass();
    expect(world.storage.numberGet("sweeps")).toBe(sweeps + 1);
    expect(world.calls.filter((call) => call === "owner.checkBitmap")).toHaveLength(world.cluster.owners.size);
    expect(world.calls.filter((call) => call === "services.makeWhole").length).toBeLessThan(4);
    expect([revisions(world), [...world.cluster.owners.values()].map(({ storage }) => storage.commits)]).toEqual([before, writes]);
    expect([world.told(), world.storage.countsLoad()]).toEqual([[], { ipErrors: {}, reconcileErrors: 0 }]);
  });

  it("owner that does not answer: the sweep goes on and counts an error", async () => {
    const world = await RepairWorld.of(RANGE);
    for (const [i, cidr] of ranges.slice(0, 3).entries()) await world.createRange(`range-${String(i)}`, cidr);
    await world.pass();
    const sweeps = world.storage.numberGet("sweeps");
    let failures = 1;
    world.fails = (call) => call === "owner.checkBitmap" && failures-- > 0;
    world.storage.numberSet(SWEEP_ASKED, 1);
    world.calls.length = 0;
    await world.pass();
    expect(world.calls.filter((call) => call === "owner.checkBitmap")).toHaveLength(world.cluster.owners.size);
    expect([world.storage.numberGet("sweeps"), world.storage.countsLoad().reconcileErrors]).toEqual([sweeps + 1, 1]);
  });

  it("asked for again and again: comes to its end, and then begins anew once", async () => {
    const world = await RepairWorld.of(RANGE);
    for (let i = 0; i < 240; i++) await world.createService(`s-${String(i)}`);
    await world.pass();
    const sweeps = world.storage.numberGet("sweeps");
    // Every pass fails after its first page.
    let pages = 0;
    world.fails = (call) => call === "services.objectsAfter" && ++pages % 2 === 0;
    let passes = 0;
    while (world.storage.numberGet("sweeps") === sweeps && ++passes < 20) {
      world.storage.numberSet(SWEEP_ASKED, 1);
      await world.pass().catch(() => undefined);
    }
    expect([world.storage.numberGet("sweeps"), pages < 20]).toEqual([sweeps + 1, true]);
    world.fails = () => false;
    world.calls.length = 0;
    await world.pass();
    expect([world.storage.numberGet("sweeps"), world.storage.numberGet(SWEEP_ASKED)]).toEqual([sweeps + 2, 0]);
    expect(world.calls.filter((call) => call === "services.objectsAfter")).toHaveLength(3);
    await world.pass();
    expect(world.storage.numberGet("sweeps")).toBe(sweeps + 2);
  });

  it("crash at the first page: begins with that page, and counts when it has read every page", async () => {
    const world = await RepairWorld.of(RANGE);
    for (let i = 0; i < 240; i++) await world.createService(`s-${String(i)}`);
    await world.pass();
    const sweeps = world.storage.numberGet("sweeps");
    world.storage.numberSet(SWEEP_ASKED, 1);
    let crashes = 0;
    world.fails = (call) => {
      if (call === "services.objectsAfter" && crashes++ === 0) world.crash();
      return false;
    };
    // The promise of the life that ends never settles.
    void world.brain.alarm();
    await world.cluster.scheduler.pass(1_000);
    expect([crashes, world.storage.numberGet("sweeps")]).toEqual([1, sweeps]);
    world.calls.length = 0;
    await world.changes();
    const pages = ["services", "ipaddresses"].map((what) => world.calls.filter((call) => call === `${what}.objectsAfter`).length);
    expect([world.storage.numberGet("sweeps"), pages]).toEqual([sweeps + 1, [3, 3]]);
  });

  it("asked for during a sweep: follows without another poke", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.pass();
    const sweeps = world.storage.numberGet("sweeps");
    world.storage.numberSet(SWEEP_ASKED, 1);
    let asked = 0;
    world.fails = (call) => {
      if (call === "owner.checkBitmap" && asked++ === 0) world.storage.numberSet(SWEEP_ASKED, 1);
      return false;
    };
    await world.pass();
    expect(world.storage.numberGet("sweeps")).toBe(sweeps + 2);
  });
});
