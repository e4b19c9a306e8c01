import { describe, expect, it } from "vitest";
import { SWEEP_MARK } from "../../../../src/addresses/repair/repair-ports";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { WRITE } from "../../../support/worlds/store-world";
import { aService, anIPAddress, RepairWorld } from "../../../support/worlds/repair-world";

const ALWAYS = { isAlive: () => true };
const RANGE = ["10.0.0.0/24"];

/** The newest revisions of both stores: what a healthy pass leaves as it was. */
function revisions(world: RepairWorld): (number | undefined)[] {
  const { services, ipAddresses } = world.cluster.tables;
  return [services, ipAddresses].map(({ store }) => store.stateLoad()?.revision);
}

function uidOf(world: RepairWorld, address: string): string | undefined {
  return world.addresses().find(({ metadata }) => metadata?.name === address)?.metadata?.uid;
}

describe("a force-deleted IPAddress of a live Service", () => {
  it("is back with the next pass, on the same row, as often as it is deleted", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    await world.pass();
    const rows = await world.rows();
    for (let round = 0; round < 3; round++) {
      expect((await world.remove("ipaddresses", address)).ok).toBe(true);
      expect(world.parents()).toEqual({});
      await world.pass();
      expect(world.parents()).toEqual({ [address]: "default/web" });
    }
    expect(await world.rows()).toEqual(rows);
    expect(new Set(world.told())).toEqual(
      new Set([`Warning ClusterIPNotAllocated Cluster IP [IPv4]: ${address} is not allocated; repairing`]),
    );
    expect(world.told()).toHaveLength(3);
    await world.remove("services", "web");
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });

  it("is not brought back when the Service goes meanwhile, however late the repair arrives", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const { uid = "" } = world.services()[0]?.metadata ?? {};
    const { ipAddresses, services } = world.cluster;
    const writer = await world.run(world.cluster.network.call(ALWAYS, ipAddresses, (brain) => brain.writersOf([address])));
    await world.remove("ipaddresses", address);
    await world.remove("services", "web");
    const item = { namespace: "default", name: "web", uid, address, object: "", isRight: false };
    expect(await world.run(world.cluster.network.call(ALWAYS, services, (store) => store.makeWhole([item])))).toEqual(["gone"]);
    const late = writer.flatMap((known) =>
      known ? [{ ...known, family: "IPv4" as const, namespace: "default", name: "web", object: "", isRight: false }] : [],
    );
    expect(late).toHaveLength(1);
    expect(await world.run(world.cluster.network.call(ALWAYS, ipAddresses, (brain) => brain.restoreMany(late)))).toEqual([false]);
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });
});

describe("labels that a client has changed", () => {
  it("are put right by a new object, without an event", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const before = uidOf(world, address);
    const write = world.cluster.network.call(ALWAYS, world.cluster.ipAddresses, ({ store }) =>
      store.write({
        verb: "patch",
        key: { namespace: "", name: address },
        subresource: "",
        patchType: "merge",
        patch: JSON.stringify({ metadata: { labels: { "ipaddress.kubernetes.io/managed-by": null } } }),
        options: { ...WRITE, group: "networking.k8s.io" },
      }),
    );
    expect((await world.run(write)).ok).toBe(true);
    await world.pass();
    const [object] = world.addresses();
    expect(object?.metadata?.labels).toEqual({
      "ipaddress.kubernetes.io/ip-family": "IPv4",
      "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    });
    expect(object?.metadata?.uid).not.toBe(before);
    expect(world.told()).toEqual([]);
  });
});

describe("a healthy cluster", () => {
  it("is only read, and only what changed", async () => {
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
    expect(revisions(world)).toEqual(before.map((revision) => (revision ?? 0) + 1));
    expect([world.told(), world.storage.countsLoad()]).toEqual([[], { ipErrors: {}, reconcileErrors: 0 }]);
  });

  it("is not swept by a pass that a poke alone asked for, but by the next one of cron, however often it is poked", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.createService("web");
    await world.pass();
    await world.wait(60_000);
    for (let poke = 0; poke < 3; poke++) {
      world.calls.length = 0;
      await world.run(world.repairer.run({ sweeps: false }));
      expect(world.calls.sort()).toEqual(["ipaddresses.objectsSince", "services.objectsSince"]);
    }
    world.calls.length = 0;
    await world.pass();
    expect(world.calls).toContain("services.objectsAfter");
  });
});

describe("a history that was lost", () => {
  it.each([
    ["another incarnation", { incarnation: "of a store that was", revision: 3 }],
    ["a revision of the future", { incarnation: "", revision: 1e9 }],
  ])("(%s) is made up for by a sweep", async (_, cursor) => {
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

describe("the row of an address", () => {
  it("that its owner has lost is taken again; the IPAddress stays as it is", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const before = uidOf(world, address);
    const writers = await world.run(world.cluster.network.call(ALWAYS, world.cluster.ipAddresses, (brain) => brain.writersOf([address])));
    for (const { node } of world.cluster.owners.values()) {
      const items = writers.flatMap((writer) => (writer ? [{ address, token: writer.token }] : []));
      await world.run(world.cluster.network.call(ALWAYS, node, (owner) => owner.release(items)));
    }
    expect(await world.rows()).toEqual({});
    await world.pass();
    expect(await world.rows()).toEqual({ [address]: "service" });
    expect(uidOf(world, address)).toBe(before);
    await world.remove("services", "web");
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });

  it("that the services store has forgotten is its own again, and not taken anew", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const uid = uidOf(world, address);
    const { ledger } = world.cluster.tables.services;
    const allocation = ledger.allocationGet(address);
    ledger.allocationDelete(address);
    await world.pass();
    expect(ledger.allocationGet(address)).toEqual(allocation);
    expect([uidOf(world, address), world.told()]).toEqual([uid, []]);
    await world.remove("services", "web");
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });

  it("of an IPAddress that a client made, lost by its owner, is taken again before somebody else gets the address", async () => {
    const world = await RepairWorld.of(["10.0.0.0/28"]);
    const parentRef = { group: "example.com", resource: "gateways", namespace: "", name: "edge" };
    const object = anIPAddress("10.0.0.9", "default/web", world.now, { parentRef, labels: {} });
    expect((await world.create("ipaddresses", object)).ok).toBe(true);
    await world.pass();
    await world.loseRows();
    expect(await world.rows()).toEqual({});
    await world.wait(60_000);
    await world.pass();
    expect([await world.rows(), world.storage.countsLoad().ipErrors]).toEqual([{ "10.0.0.9": "ipaddress" }, { repair: 1 }]);
    await world.remove("ipaddresses", "10.0.0.9");
    await world.cluster.scheduler.pass(10_000);
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });

  it("of an IPAddress that a client made, forgotten by its store, is the object's again", async () => {
    const world = await RepairWorld.of(["10.0.0.0/28"]);
    const parentRef = { group: "example.com", resource: "gateways", namespace: "", name: "edge" };
    await world.create("ipaddresses", anIPAddress("10.0.0.9", "default/web", world.now, { parentRef, labels: {} }));
    const { ledger } = world.cluster.tables.ipAddresses;
    const allocation = ledger.allocationGet("10.0.0.9");
    ledger.allocationDelete("10.0.0.9");
    await world.pass();
    expect(allocation).toBeDefined();
    expect(ledger.allocationGet("10.0.0.9")).toEqual(allocation);
    await world.remove("ipaddresses", "10.0.0.9");
    await world.cluster.scheduler.pass(10_000);
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });

  it("of an IPAddress outside every ServiceCIDR is nobody's concern", async () => {
    const world = await RepairWorld.of(["10.0.0.0/28"]);
    const parentRef = { group: "example.com", resource: "gateways", namespace: "", name: "edge" };
    await world.create("ipaddresses", anIPAddress("192.168.0.9", "default/web", world.now, { parentRef, labels: {} }));
    await world.pass();
    expect([Object.keys(world.parents()), await world.rows(), world.told()]).toEqual([["192.168.0.9"], {}, []]);
  });

  it("that nobody holds any more, long after it was looked at, is given back by the audit", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const { services } = world.cluster;
    const maintain = (): Promise<void> => world.run(world.cluster.network.call(ALWAYS, services, (brain) => brain.maintain()));
    await maintain();
    const { ledger, store } = world.cluster.tables.services;
    ledger.allocationDelete(address);
    store.objectDelete("default/web");
    await maintain();
    await world.cluster.scheduler.pass(10_000);
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });

  it("that an IPAddress holds which somebody made for another Service comes free for the Service", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.create("ipaddresses", anIPAddress("10.0.0.7", "default/other", world.now));
    await world.plant("services", aService("web", ["10.0.0.7"], world.now));
    await world.pass();
    await world.wait(10_000);
    await world.pass();
    expect([world.parents(), await world.rows()]).toEqual([{ "10.0.0.7": "default/web" }, { "10.0.0.7": "service" }]);
  });

  it("stays with the IPAddress that was made for this very Service, and comes free after both", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.create("ipaddresses", anIPAddress("10.0.0.7", "default/web", world.now));
    await world.plant("services", aService("web", ["10.0.0.7"], world.now));
    const uid = uidOf(world, "10.0.0.7");
    await world.pass();
    expect([uidOf(world, "10.0.0.7"), await world.rows(), world.told()]).toEqual([uid, { "10.0.0.7": "ipaddress" }, []]);
    await world.remove("services", "web");
    await world.pass();
    await world.wait(130_000);
    for (let slice = 0; slice < 2; slice++) {
      await world.pass();
      await world.wait(60_000);
    }
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });
});

describe("an IPAddress that does not refer to a Service, with the allocator's label", () => {
  it("goes, and says what it referred to", async () => {
    const world = await RepairWorld.of(RANGE);
    const parentRef = { group: "example.com", resource: "foos" };
    await world.create("ipaddresses", anIPAddress("10.0.0.9", "default/web", world.now, { parentRef }));
    await world.pass();
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
    expect(world.told()).toEqual([
      "Warning IPAddressNotAllocated IPAddress 10.0.0.9 appears to have been modified, not referencing a Service " +
        "&ParentReference{Group:example.com,Resource:foos,Namespace:default,Name:web,}: cleaning up",
    ]);
  });
});

describe("a Service", () => {
  it("whose ClusterIP is no address gets an event and is left as it is", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.plant("services", aService("web", ["10.0.0.256"], world.now));
    await world.pass();
    expect(world.told()).toEqual(["Warning ClusterIPNotValid Cluster IP <nil> is not a valid IP; please recreate Service"]);
    expect(world.reported.map(({ action }) => action)).toEqual(["ClusterIPValidation"]);
  });

  it("with an IPv6 address in another spelling is whole", async () => {
    const world = await RepairWorld.of(["2001:db8::/64"], ["IPv6"]);
    await world.plant("services", aService("web", ["2001:DB8:0::10"], world.now));
    await world.pass();
    await world.wait(120_000);
    await world.pass();
    expect(world.parents()).toEqual({ "2001:db8::10": "default/web" });
    expect(world.told()).toHaveLength(1);
  });

  it("behind a finalizer keeps its address through passes", async () => {
    const world = await RepairWorld.of(RANGE);
    const object: Service = {
      metadata: { namespace: "default", name: "web", finalizers: ["example.com/hold"] },
      spec: { ports: [{ port: 80 }] },
    };
    const made = await world.create("services", object);
    const address = made.ok ? ((JSON.parse(made.object) as Service).spec?.clusterIP ?? "") : "";
    await world.remove("services", "web");
    await world.pass();
    await world.wait(120_000);
    await world.pass();
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/web" }, { [address]: "service" }]);
  });
});

describe("a start of the services store whose history was trimmed", () => {
  it("learns from the objects which IPAddresses are missing", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const others = [await world.createService("b"), await world.createService("c")];
    await world.remove("ipaddresses", address);
    const { store, ledger } = world.cluster.tables.services;
    const state = store.stateLoad();
    expect(state).toBeDefined();
    if (!state) return;
    store.historyTrim(state.revision);
    store.stateSave({ ...state, floor: state.revision - 1 });
    ledger.markSet("paired", 1);
    world.cluster.services.crash();
    await world.run(world.cluster.network.call(ALWAYS, world.cluster.services, (brain) => brain.maintain()));
    await world.cluster.scheduler.pass(10_000);
    expect(Object.keys(world.parents()).sort()).toEqual([address, ...others].sort());
  });
});

describe("a full sweep that was asked for", () => {
  const ranges = Array.from({ length: 30 }, (_, i) => `10.1.${String(i)}.0/28`);

  it("looks at every Service, IPAddress and owner in one go, in few calls, and writes nothing where all is well", async () => {
    const world = await RepairWorld.of(RANGE);
    for (const [i, cidr] of ranges.entries()) await world.createRange(`range-${String(i)}`, cidr);
    for (const i of ranges.keys()) {
      for (const host of [3, 5])
        await world.createService(`s-${String(i)}-${String(host)}`, { clusterIP: `10.1.${String(i)}.${String(host)}` });
    }
    await world.pass();
    const before = revisions(world);
    const sweeps = world.storage.markGet("sweeps");
    const writes = [...world.cluster.owners.values()].map(({ storage }) => storage.commits);
    world.storage.markSet(SWEEP_MARK, 1);
    world.calls.length = 0;
    await world.pass();
    expect(world.storage.markGet("sweeps")).toBe(sweeps + 1);
    expect(world.calls.filter((call) => call === "owner.checkBitmap")).toHaveLength(world.cluster.owners.size);
    expect(world.calls.filter((call) => call === "services.makeWhole").length).toBeLessThan(4);
    expect([revisions(world), [...world.cluster.owners.values()].map(({ storage }) => storage.commits)]).toEqual([before, writes]);
    expect([world.told(), world.storage.countsLoad()]).toEqual([[], { ipErrors: {}, reconcileErrors: 0 }]);
  });

  it("goes on behind an owner that does not answer, and tells", async () => {
    const world = await RepairWorld.of(RANGE);
    for (const [i, cidr] of ranges.slice(0, 3).entries()) await world.createRange(`range-${String(i)}`, cidr);
    await world.pass();
    const sweeps = world.storage.markGet("sweeps");
    let failures = 1;
    world.fails = (call) => call === "owner.checkBitmap" && failures-- > 0;
    world.storage.markSet(SWEEP_MARK, 1);
    world.calls.length = 0;
    await world.pass();
    expect(world.calls.filter((call) => call === "owner.checkBitmap")).toHaveLength(world.cluster.owners.size);
    expect([world.storage.markGet("sweeps"), world.storage.countsLoad().reconcileErrors]).toEqual([sweeps + 1, 1]);
  });

  it("comes to its end though it is asked for again and again, and then begins anew, once", async () => {
    const world = await RepairWorld.of(RANGE);
    for (let i = 0; i < 240; i++) await world.createService(`s-${String(i)}`);
    await world.pass();
    const sweeps = world.storage.markGet("sweeps");
    // Every pass ends behind its first page.
    let pages = 0;
    world.fails = (call) => call === "services.objectsAfter" && ++pages % 2 === 0;
    let passes = 0;
    while (world.storage.markGet("sweeps") === sweeps && ++passes < 20) {
      world.storage.markSet(SWEEP_MARK, 1);
      await world.pass().catch(() => undefined);
    }
    expect([world.storage.markGet("sweeps"), pages < 20]).toEqual([sweeps + 1, true]);
    world.fails = () => false;
    world.calls.length = 0;
    await world.pass();
    expect([world.storage.markGet("sweeps"), world.storage.markGet(SWEEP_MARK)]).toEqual([sweeps + 2, 0]);
    expect(world.calls.filter((call) => call === "services.objectsAfter")).toHaveLength(3);
    await world.pass();
    expect(world.storage.markGet("sweeps")).toBe(sweeps + 2);
  });

  it("that a crash ends at its first page begins with that page, and is not counted before it has read every one", async () => {
    const world = await RepairWorld.of(RANGE);
    for (let i = 0; i < 240; i++) await world.createService(`s-${String(i)}`);
    await world.pass();
    const sweeps = world.storage.markGet("sweeps");
    world.storage.markSet(SWEEP_MARK, 1);
    let crashes = 0;
    world.fails = (call) => {
      if (call === "services.objectsAfter" && crashes++ === 0) world.crash();
      return false;
    };
    // Of the life that ends nobody learns anything any more.
    void world.repairer.run();
    await world.cluster.scheduler.pass(1_000);
    expect([crashes, world.storage.markGet("sweeps")]).toEqual([1, sweeps]);
    world.calls.length = 0;
    await world.run(world.repairer.run({ sweeps: false }));
    const pages = ["services", "ipaddresses"].map((what) => world.calls.filter((call) => call === `${what}.objectsAfter`).length);
    expect([world.storage.markGet("sweeps"), pages]).toEqual([sweeps + 1, [3, 3]]);
  });

  it("that was asked for meanwhile is not forgotten when nobody asks for a pass", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.pass();
    const sweeps = world.storage.markGet("sweeps");
    world.storage.markSet(SWEEP_MARK, 1);
    let asked = 0;
    world.fails = (call) => {
      if (call === "owner.checkBitmap" && asked++ === 0) world.storage.markSet(SWEEP_MARK, 1);
      return false;
    };
    await world.pass();
    expect(world.storage.markGet("sweeps")).toBe(sweeps + 2);
  });
});

describe("something to be looked at again", () => {
  it("is not lost with a pass that a crash ended", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.create("ipaddresses", anIPAddress("10.0.0.9", "default/web", world.now));
    await world.pass();
    expect([...world.storage.suspects.keys()]).toEqual(["ipaddresses/10.0.0.9"]);
    await world.cluster.scheduler.pass(61_000);
    // The controller's object goes away while it asks: nothing of its memory is left, and nothing runs to its end.
    let calls = 0;
    world.fails = (call) => call === "services.objectsNamed" && ++calls > 0;
    const put = world.storage.suspectPut.bind(world.storage);
    world.storage.suspectPut = () => undefined;
    await expect(world.pass()).rejects.toThrow();
    world.storage.suspectPut = put;
    world.fails = () => false;
    expect([calls > 0, [...world.storage.suspects.keys()], Object.keys(world.parents())]).toEqual([
      true,
      ["ipaddresses/10.0.0.9"],
      ["10.0.0.9"],
    ]);
    await world.wait(10 * 60_000);
    expect(world.parents()).toEqual({});
  });
});

describe("an IPAddress that takes the name of a wrong one while repair looks", () => {
  it("is judged by the Service that it names itself", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.createService("web");
    await world.create("ipaddresses", anIPAddress("10.0.0.99", "default/web", world.now));
    const { store } = world.cluster.tables.ipAddresses;
    const young = anIPAddress("10.0.0.99", "default/coming", world.now);
    world.fails = (call) => {
      const stored = store.objectGet("10.0.0.99");
      if (call === "ipaddresses.objectsNamed" && stored) store.objectPut({ ...stored, uid: "another", data: JSON.stringify(young) });
      return false;
    };
    await world.pass();
    expect(world.parents()["10.0.0.99"]).toBe("default/coming");
  });
});

describe("the check of a bitmap", () => {
  it("finds a bit that differs from its row, and the owner builds the bitmap anew", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    for (const { storage } of world.cluster.owners.values()) {
      for (const row of storage.rowsSince(0, 10)) storage.rowDelete(row.key, row.token);
    }
    await world.wait(60_000);
    await world.pass();
    expect(world.storage.countsLoad().ipErrors.repair).toBeGreaterThan(0);
    await world.wait(60_000);
    await world.pass();
    expect(await world.rows()).toEqual({ [address]: "service" });
  });

  it("comes with each slice, though there is always more to do than a pass has time for", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.pass();
    // A hundred more come each time that some are looked at.
    const take = world.storage.suspectsTake.bind(world.storage);
    world.storage.suspectsTake = (now, limit, leaseUntil) => {
      for (let i = 0; i < limit; i++) world.storage.suspectPut(`services/default/gone-${String(i)}`, now);
      return take(now, limit, leaseUntil);
    };
    const checks: number[] = [];
    for (let slice = 0; slice < 3; slice++) {
      await world.cluster.scheduler.pass(60_000);
      world.calls.length = 0;
      expect((await world.run(world.repairer.run())).left).toBe(true);
      checks.push(world.calls.filter((call) => call === "owner.checkBitmap").length);
      // Nor does it come more often than with the slices.
      world.calls.length = 0;
      expect((await world.run(world.repairer.run())).left).toBe(true);
      checks.push(world.calls.filter((call) => call === "owner.checkBitmap").length);
    }
    expect(checks).toEqual([1, 0, 1, 0, 1, 0]);
  });

  it("of everything waits until everything else was looked at", async () => {
    const world = await RepairWorld.of(RANGE);
    for (let i = 0; i < 240; i++) await world.createService(`s-${String(i)}`);
    await world.pass();
    const sweeps = world.storage.markGet("sweeps");
    world.storage.markSet(SWEEP_MARK, 1);
    world.calls.length = 0;
    await world.pass();
    const last = world.calls.lastIndexOf("ipaddresses.objectsAfter");
    expect([world.calls.indexOf("owner.checkBitmap") > last, world.storage.markGet("sweeps")]).toEqual([true, sweeps + 1]);
  });
});
