import { describe, expect, it } from "vitest";
import type { HeldAddress, WrittenAddress } from "../../../../src/addresses/rpc/repair";
import { aService, anIPAddress, RepairWorld } from "../../../support/worlds/repair-world";
import type { ServicesStore } from "../../../../src/addresses/clusterip/services-store";

const ALWAYS = { isAlive: () => true };
const RANGE = ["10.0.0.0/24"];

function inServices<T>(world: RepairWorld, work: (brain: ServicesStore) => Promise<T>): Promise<T> {
  return world.cluster.network.call(ALWAYS, world.cluster.services, work);
}

async function writersOf(world: RepairWorld, address: string): Promise<WrittenAddress[]> {
  const writers = await world.run(world.cluster.network.call(ALWAYS, world.cluster.ipAddresses, (brain) => brain.writersOf([address])));
  return writers.filter((writer) => writer !== null);
}

/** The owners lose every row, as a restored copy would. */
async function loseRows(world: RepairWorld): Promise<void> {
  for (const { node } of world.cluster.owners.values()) {
    await world.run(
      world.cluster.network.call(ALWAYS, node, async (owner) => {
        const { rows } = await owner.rowsSince(0, 1_000);
        return owner.release(rows.map(({ address, token }) => ({ address, token })));
      }),
    );
  }
}

describe("giveUp", () => {
  it("a token under which a Service holds the address: held, nothing changes", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const writers = await writersOf(world, address);
    expect(await world.run(inServices(world, (store) => store.giveUp(writers)))).toEqual(["held"]);
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/web" }, { [address]: "service" }]);
  });

  it("the token of the former holder: released, and the present holder keeps the address (hazard 1)", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const before = await writersOf(world, address);
    await world.remove("services", "web");
    await world.createService("next", { clusterIP: address });
    expect(await world.run(inServices(world, (store) => store.giveUp(before)))).toEqual(["released"]);
    await world.cluster.scheduler.pass(10_000);
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/next" }, { [address]: "service" }]);
  });

  it("a token in the outbox: pending, and repair reports no leak", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const writers = await writersOf(world, address);
    const { ledger } = world.cluster.tables.services;
    ledger.releaseAdd({ ...writers[0]!, attempts: 9, dueAt: world.now + 60_000 });
    world.cluster.services.brain.ledger.releases.reload();
    expect(await world.run(inServices(world, (store) => store.giveUp(writers)))).toEqual(["pending"]);
    expect(ledger.releases.size).toBe(1);
    // Nobody is told of a leak that is none.
    ledger.allocationDelete(address);
    world.cluster.tables.services.store.objectDelete("default/web");
    await world.wait(70_000);
    await world.pass();
    expect([world.told(), world.storage.countsLoad().ipErrors]).toEqual([[], {}]);
  });

  it("the token of a Service that went without a release: released", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const writers = await writersOf(world, address);
    world.cluster.tables.services.store.objectDelete("default/web");
    expect(await world.run(inServices(world, (store) => store.giveUp(writers)))).toEqual(["released"]);
    await world.cluster.scheduler.pass(10_000);
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });

  it("the token of an operation under way: busy, and the operation commits (hazard 2)", async () => {
    const world = await RepairWorld.of(RANGE);
    const create = world.createService("web");
    let seen: WrittenAddress[] = [];
    for (let ms = 0; ms < 100 && seen.length === 0; ms++) {
      await world.cluster.scheduler.pass(1);
      const rows = [...world.cluster.owners.values()].flatMap(({ storage }) => storage.rowsSince(0, 10));
      seen = rows.map(({ token, gen }) => ({ address: "10.0.0.1", token, gen }));
    }
    expect([seen.length, world.services()]).toEqual([1, []]);
    const answer = world.cluster.services.brain.giveUp(seen);
    expect(await world.run(answer)).toEqual(["busy"]);
    const address = await create;
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/web" }, { [address]: "service" }]);
  });
});

describe("makeWhole", () => {
  it.each<[string, Partial<HeldAddress>]>([
    ["another uid", { uid: "of a Service before" }],
    ["another name", { name: "other" }],
    ["another address", { address: "10.0.0.200" }],
  ])("%s than the stored Service has: gone, nothing changes", async (_, other) => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const { uid = "" } = world.services()[0]?.metadata ?? {};
    const item = { namespace: "default", name: "web", uid, address, object: "", isRight: false, ...other };
    expect(await world.run(inServices(world, (store) => store.makeWhole([item])))).toEqual(["gone"]);
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/web" }, { [address]: "service" }]);
  });

  it.each([true, false])(
    "address of a Service that went without a release (its row at the owner is there: %s): goes to the Service that names it",
    async (hasRow) => {
      const world = await RepairWorld.of(RANGE);
      const address = await world.createService("gone");
      await world.cluster.scheduler.pass(10_000);
      const { store, ledger } = world.cluster.tables.services;
      store.objectDelete("default/gone");
      if (!hasRow) await loseRows(world);
      await world.plant("services", aService("web", [address], world.now));
      await world.pass();
      await world.wait(10_000);
      expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/web" }, { [address]: "service" }]);
      expect([ledger.allocationGet(address)?.key, ledger.releases.size]).toEqual(["default/web", 0]);
      expect(world.told().filter((text) => text.includes("AlreadyAllocated"))).toEqual([]);
    },
  );

  it("address that another Service holds: duplicate, nothing changes", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("first");
    await world.plant("services", aService("second", [address], world.now));
    const item = { namespace: "default", name: "second", uid: "uid of second", address, object: "", isRight: false };
    expect(await world.run(inServices(world, (store) => store.makeWhole([item])))).toEqual(["duplicate"]);
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/first" }, { [address]: "service" }]);
  });

  it("Service deleted while its address is taken again: the address is released", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const { uid = "" } = world.services()[0]?.metadata ?? {};
    const writers = await writersOf(world, address);
    for (const { node } of world.cluster.owners.values()) {
      await world.run(world.cluster.network.call(ALWAYS, node, (owner) => owner.release(writers.map(({ token }) => ({ address, token })))));
    }
    const item = { namespace: "default", name: "web", uid, address, object: "", isRight: false };
    const answer = world.cluster.services.brain.makeWhole([item]);
    await world.remove("services", "web");
    expect(["gone", "restored"]).toContain((await world.run(answer))[0]);
    await world.cluster.scheduler.pass(10_000);
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });
});

describe("an object that went without a release", () => {
  const maintain = async (world: RepairWorld, store: "services" | "ipAddresses"): Promise<void> => {
    const { network, services, ipAddresses } = world.cluster;
    if (store === "services") await world.run(network.call(ALWAYS, services, (brain) => brain.maintain()));
    else await world.run(network.call(ALWAYS, ipAddresses, (brain) => brain.maintain()));
    await world.cluster.scheduler.pass(10_000);
  };

  it.each([
    ["", 1],
    [" whose IPAddress was deleted before repair saw it", 1],
    [" of two families", 2],
  ])("a Service%s: the audit frees its addresses", async (how, families) => {
    const world = families === 1 ? await RepairWorld.of(RANGE) : await RepairWorld.of([...RANGE, "fd00::/120"], ["IPv4", "IPv6"]);
    await world.createService("web", families === 2 ? { ipFamilyPolicy: "RequireDualStack" } : {});
    const kept = await world.createService("kept");
    await maintain(world, "services");
    world.cluster.tables.services.store.objectDelete("default/web");
    if (how.startsWith(" whose"))
      for (const name of Object.keys(world.parents())) if (name !== kept) await world.remove("ipaddresses", name);
    await maintain(world, "services");
    expect([world.parents(), await world.rows()]).toEqual([{ [kept]: "default/kept" }, { [kept]: "service" }]);
  });

  it("a Service whose row at the owner is gone, too: the next Service gets the address", async () => {
    const world = await RepairWorld.of(["10.0.0.0/30"]);
    const addresses = [await world.createService("a"), await world.createService("b")];
    await world.cluster.scheduler.pass(10_000);
    world.cluster.tables.services.store.objectDelete("default/a");
    world.cluster.tables.services.store.objectDelete("default/b");
    await loseRows(world);
    expect([await world.createService("a"), await world.createService("c")].sort()).toEqual(addresses.sort());
    await maintain(world, "services");
    expect(Object.values(world.parents()).sort()).toEqual(["default/a", "default/c"]);
    expect(Object.keys(await world.rows()).sort()).toEqual(addresses);
  });

  it("an IPAddress of a client: its address comes free", async () => {
    const world = await RepairWorld.of(RANGE);
    const parentRef = { group: "example.com", resource: "gateways", namespace: "", name: "edge" };
    const object = anIPAddress("10.0.0.9", "default/web", world.now, { parentRef, labels: {} });
    expect((await world.create("ipaddresses", object)).ok).toBe(true);
    await maintain(world, "ipAddresses");
    world.cluster.tables.ipAddresses.store.objectDelete("10.0.0.9");
    await maintain(world, "ipAddresses");
    expect(await world.rows()).toEqual({});
    expect((await world.create("ipaddresses", object)).ok).toBe(true);
    await maintain(world, "ipAddresses");
    expect(await world.rows()).toEqual({ "10.0.0.9": "ipaddress" });
  });

  it("objects that are there (behind a finalizer, in another spelling, unreadable, listed by seeding): keep their rows", async () => {
    const world = await RepairWorld.of([...RANGE, "fd00::/120"], ["IPv4", "IPv6"]);
    const parentRef = { group: "example.com", resource: "gateways", namespace: "", name: "edge" };
    await world.create("ipaddresses", anIPAddress("10.7.0.9", "default/web", world.now, { parentRef, labels: {} }));
    await world.createRange("late", "10.7.0.0/28");
    const lingering = {
      metadata: { namespace: "default", name: "lingering", finalizers: ["example.com/wait"] },
      spec: { ports: [{ port: 80 }] },
    };
    expect((await world.create("services", lingering)).ok).toBe(true);
    await world.remove("services", "lingering");
    const spelled = await world.createService("spelled", { ipFamilies: ["IPv6"], clusterIP: "fd00::0:00ab" });
    const unreadable = await world.createService("unreadable");
    await world.createService("headless", { clusterIP: "None" });
    const { store } = world.cluster.tables.services;
    const broken = store.objectGet("default/unreadable")!;
    store.objectPut({ ...broken, data: broken.data.slice(0, -1) });
    const before = await world.rows();
    expect(spelled).toBe("fd00::0:00ab");
    expect(Object.keys(before)).toContain("10.7.0.9");
    for (const which of ["services", "ipAddresses"] as const) for (let i = 0; i < 2; i++) await maintain(world, which);
    expect(await world.rows()).toEqual(before);
    expect(Object.keys(before)).toContain(unreadable);
  });
});
