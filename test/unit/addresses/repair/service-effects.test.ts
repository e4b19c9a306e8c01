/** Repair of the addresses of Services: their IPAddresses and their rows. */
import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { forgetHistory, newestStored } from "../../../support/worlds/stored-history";
import { WRITE } from "../../../support/worlds/store-world";
import { aService, anIPAddress, RepairWorld } from "../../../support/worlds/repair-world";

const ALWAYS = { isAlive: () => true };
const RANGE = ["10.0.0.0/24"];

function uidOf(world: RepairWorld, address: string): string | undefined {
  return world.addresses().find(({ metadata }) => metadata?.name === address)?.metadata?.uid;
}

describe("force-deleted IPAddress of a live Service", () => {
  it("next pass: the object is back on the same row, however often it is deleted", async () => {
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

  it("Service deleted meanwhile: a late repair brings nothing back", async () => {
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
  it("next pass: a new object has the right labels, and there is no event", async () => {
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

describe("row of a Service's address", () => {
  it("lost by its owner: taken again, and the IPAddress stays as it is", async () => {
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

  it("forgotten by the services store: is the store's again, and is not taken anew", async () => {
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

  it("held by an IPAddress made for another Service: comes free for the Service", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.create("ipaddresses", anIPAddress("10.0.0.7", "default/other", world.now));
    await world.plant("services", aService("web", ["10.0.0.7"], world.now));
    await world.pass();
    await world.wait(10_000);
    await world.pass();
    expect([world.parents(), await world.rows()]).toEqual([{ "10.0.0.7": "default/web" }, { "10.0.0.7": "service" }]);
  });

  it("held by an IPAddress made for this Service: stays with it, and comes free after both", async () => {
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

  it("held by nobody, long after the last look: the audit gives it back", async () => {
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
});

describe("addresses of a Service", () => {
  it("ClusterIP that is no address: an event, and the Service is left as it is", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.plant("services", aService("web", ["10.0.0.256"], world.now));
    await world.pass();
    expect(world.told()).toEqual(["Warning ClusterIPNotValid Cluster IP <nil> is not a valid IP; please recreate Service"]);
    expect(world.reported.map(({ action }) => action)).toEqual(["ClusterIPValidation"]);
  });

  it("IPv6 address in another spelling: whole", async () => {
    const world = await RepairWorld.of(["2001:db8::/64"], ["IPv6"]);
    await world.plant("services", aService("web", ["2001:DB8:0::10"], world.now));
    await world.pass();
    await world.wait(120_000);
    await world.pass();
    expect(world.parents()).toEqual({ "2001:db8::10": "default/web" });
    expect(world.told()).toHaveLength(1);
  });

  it("Service behind a finalizer: keeps its address through passes", async () => {
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

describe("start of the services store with a trimmed history", () => {
  it("its objects: say which IPAddresses are missing", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const others = [await world.createService("b"), await world.createService("c")];
    await world.remove("ipaddresses", address);
    const { store, ledger } = world.cluster.tables.services;
    const newest = newestStored(store);
    forgetHistory(store, newest, newest - 1);
    ledger.numberSet("paired", 1);
    world.cluster.services.crash();
    await world.run(world.cluster.network.call(ALWAYS, world.cluster.services, (brain) => brain.maintain()));
    await world.cluster.scheduler.pass(10_000);
    expect(Object.keys(world.parents()).sort()).toEqual([address, ...others].sort());
  });
});
