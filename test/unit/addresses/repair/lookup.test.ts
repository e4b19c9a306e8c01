/** A damaged object: repair reports it, concludes nothing from it, and goes on with the others. */
import { describe, expect, it } from "vitest";
import { PORTIONED_AT } from "../../../../src/addresses/repair/repair-ports";
import { aService, anIPAddress, RepairWorld } from "../../../support/worlds/repair-world";
import { newestStored } from "../../../support/worlds/stored-history";

const RANGE = ["10.0.0.0/24"];
const DAMAGES: readonly [what: string, damaged: (text: string) => string][] = [
  ["a text cut off", (text) => text.slice(0, 60)],
  ["null", () => "null"],
  ["an object without a name", () => "{}"],
  ["one with addresses that are no texts", (text) => text.replace(/"clusterIPs":\[[^\]]*\]/u, '"clusterIPs":[5]')],
];

/** Replaces what a store has under that key; the history stays as it is. */
function damage(world: RepairWorld, store: "services" | "ipAddresses", key: string, damaged: (text: string) => string): void {
  const table = world.cluster.tables[store].store;
  const stored = table.objectGet(key);
  if (!stored) throw new Error(`nothing is stored as ${key}`);
  const data = damaged(stored.data);
  expect(data).not.toBe(stored.data);
  table.objectPut({ ...stored, data });
}

async function sweep(world: RepairWorld): Promise<void> {
  world.storage.numberSet(PORTIONED_AT, 0);
  await world.pass();
}

describe.each(DAMAGES)("Service that is %s", (_, damaged) => {
  it("sweep: it keeps its address, and the others are repaired", async () => {
    const world = await RepairWorld.of(RANGE);
    const [, broken = "", lost = ""] = [await world.createService("a"), await world.createService("b"), await world.createService("c")];
    await world.pass();
    const parents = world.parents();
    const rows = await world.rows();
    damage(world, "services", "default/b", damaged);
    await world.remove("ipaddresses", lost);
    await sweep(world);
    await world.wait(130_000);
    await sweep(world);
    expect([world.parents(), await world.rows()]).toEqual([parents, rows]);
    expect(parents[broken]).toBe("default/b");
    expect(world.told()).toEqual([`Warning ClusterIPNotAllocated Cluster IP [IPv4]: ${lost} is not allocated; repairing`]);
    expect(world.storage.countsLoad().reconcileErrors).toBeGreaterThan(0);
    expect(new Set(world.logged)).toContain("error an object cannot be read, repair leaves it out");
  });
});

describe.each(DAMAGES.slice(0, 3))("IPAddress that is %s", (_, damaged) => {
  it("sweep: it is left alone with its Service, and the others are repaired", async () => {
    const world = await RepairWorld.of(RANGE);
    const [broken, lost] = [await world.createService("a"), await world.createService("b")];
    await world.pass();
    await world.remove("ipaddresses", lost);
    damage(world, "ipAddresses", broken, damaged);
    const left = world.cluster.tables.ipAddresses.store.objectGet(broken)?.data;
    world.calls.length = 0;
    await sweep(world);
    const { store } = world.cluster.tables.ipAddresses;
    expect([store.objectGet(broken)?.data, store.objectGet(lost) !== undefined]).toEqual([left, true]);
    expect(world.storage.countsLoad()).toMatchObject({ ipErrors: { repair: 1 } });
    expect(world.storage.countsLoad().reconcileErrors).toBeGreaterThan(0);
    expect(world.storage.suspects.size).toBe(0);
  });
});

describe("history entry that cannot be read", () => {
  it("pass: reported once and passed over", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.createService("a");
    const lost = await world.createService("b");
    await world.pass();
    await world.createService("c");
    const { store } = world.cluster.tables.services;
    const [entry] = store.historySince(newestStored(store) - 1, 1);
    expect(entry).toBeDefined();
    if (entry) store.historyAppend([{ ...entry, data: "{" }]);
    await world.remove("ipaddresses", lost);
    await world.pass();
    expect(world.parents()[lost]).toBe("default/b");
    const { reconcileErrors } = world.storage.countsLoad();
    expect(reconcileErrors).toBe(1);
    await world.pass();
    expect(world.storage.countsLoad().reconcileErrors).toBe(1);
  });
});

describe("Service whose IPAddress names a Service that cannot be read", () => {
  it("sweep: left alone, because the other may hold the address", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.plant("services", aService("mine", ["10.0.0.9"], world.now), aService("other", ["10.0.0.9"], world.now));
    await world.plant("ipaddresses", anIPAddress("10.0.0.9", "default/other", world.now));
    damage(world, "services", "default/other", (text) => text.slice(0, 60));
    await world.pass();
    await world.wait(130_000);
    await sweep(world);
    expect([world.parents(), world.told()]).toEqual([{ "10.0.0.9": "default/other" }, []]);
  });
});
