/** Repair of IPAddresses: those that are wrong go, those that clients made keep their rows. */
import { describe, expect, it } from "vitest";
import { ORPHAN_GRACE_MS } from "../../../../src/addresses/repair/orphan-grace";
import { anIPAddress, RepairWorld } from "../../../support/worlds/repair-world";

const RANGE = ["10.0.0.0/24"];

describe("row of an IPAddress that a client made", () => {
  it("lost by its owner: taken again before anybody else gets the address", async () => {
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

  it("forgotten by its store: is the object's again", async () => {
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

  it("outside every ServiceCIDR: nothing is taken or reported", async () => {
    const world = await RepairWorld.of(["10.0.0.0/28"]);
    const parentRef = { group: "example.com", resource: "gateways", namespace: "", name: "edge" };
    await world.create("ipaddresses", anIPAddress("192.168.0.9", "default/web", world.now, { parentRef, labels: {} }));
    await world.pass();
    expect([Object.keys(world.parents()), await world.rows(), world.told()]).toEqual([["192.168.0.9"], {}, []]);
  });
});

describe("IPAddress with the allocator's label that does not refer to a Service", () => {
  it("next pass: deleted, with an event that names what it referred to", async () => {
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

describe("IPAddress that takes the name of a wrong one while repair looks", () => {
  it("judgement: by the Service that the new object names", async () => {
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

describe("IPAddress that names a Service with another address", () => {
  it("Service deleted while repair looks: the IPAddress goes when it is old enough, although no change tells of it", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.createService("web");
    await world.wait(10_000);
    await world.create("ipaddresses", anIPAddress("10.0.0.99", "default/web", world.now));
    await world.wait(10_000);
    const { store } = world.cluster.tables.services;
    world.fails = (call) => {
      // The second look, behind the judgement.
      if (call === "ipaddresses.objectsNamed") store.objectDelete("default/web");
      return false;
    };
    await world.changes();
    expect(Object.keys(world.parents())).toContain("10.0.0.99");
    world.fails = () => false;
    await world.wait(2 * ORPHAN_GRACE_MS);
    expect(world.parents()).not.toHaveProperty("10.0.0.99");
    expect(world.told().filter((text) => text.includes("10.0.0.99"))).toEqual([
      "Warning IPAddressNotAllocated IPAddress: 10.0.0.99 for Service default/web appears to have leaked: cleaning up",
    ]);
  });
});
