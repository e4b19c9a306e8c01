/** What repair reports about a Service is true of the Service as it is now, not as the history still shows it. */
import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { aService, RepairWorld } from "../../../support/worlds/repair-world";
import { WRITE } from "../../../support/worlds/store-world";

const ALWAYS = { isAlive: () => true };
const RANGE = ["10.0.0.0/24"];
/** More changes than repair reads in one call. */
const MANY_CHANGES = 410;

async function annotate(world: RepairWorld, name: string, value: string): Promise<void> {
  const write = world.cluster.network.call(ALWAYS, world.cluster.services, ({ store }) =>
    store.write({
      verb: "patch",
      key: { namespace: "default", name },
      subresource: "",
      patchType: "merge",
      patch: JSON.stringify({ metadata: { annotations: { changed: value } } }),
      options: { ...WRITE, group: "" },
    }),
  );
  expect((await world.run(write)).ok).toBe(true);
}

async function makeManyChanges(world: RepairWorld): Promise<void> {
  for (let i = 0; i < MANY_CHANGES; i++) await annotate(world, "busy", String(i));
}

/** Calls `at` before each read of Services by name from now on, with its number. */
function atNamedReads(world: RepairWorld, at: (read: number) => void): void {
  let reads = 0;
  world.fails = (call) => {
    if (call === "services.objectsNamed") at(++reads);
    return false;
  };
}

function change(world: RepairWorld, name: string, changed: (service: Service) => Service): void {
  const { store } = world.cluster.tables.services;
  const stored = store.objectGet(`default/${name}`);
  if (!stored) throw new Error(`no Service ${name}`);
  store.objectPut({ ...stored, data: JSON.stringify(changed(JSON.parse(stored.data) as Service)) });
}

describe("Service that the history shows and that is gone", () => {
  it("another Service with its address: no duplicate is reported", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.createService("busy");
    const address = await world.createService("a");
    await world.pass();
    await annotate(world, "a", "last");
    await makeManyChanges(world);
    await world.remove("services", "a");
    await world.createService("b", { clusterIP: address });
    await world.pass();
    expect([world.told(), world.storage.countsLoad().ipErrors, world.parents()[address]]).toEqual([[], {}, "default/b"]);
  });

  it.each(["10.0.0.256", "10.9.0.5"])("wrong ClusterIP %s: nothing is reported", async (wrong) => {
    const world = await RepairWorld.of(RANGE);
    await world.createService("busy");
    await world.pass();
    await world.plant("services", aService("a", [wrong], world.now));
    await makeManyChanges(world);
    expect((await world.remove("services", "a")).ok).toBe(true);
    await world.pass();
    expect([world.told(), world.storage.countsLoad().ipErrors]).toEqual([[], {}]);
  });
});

describe("wrong Service", () => {
  it("each sweep: reported once more", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.plant("services", aService("a", ["10.9.0.5"], world.now), aService("b", ["10.0.0.256"], world.now));
    await world.pass();
    expect(world.reported.map(({ reason }) => reason).sort()).toEqual(["ClusterIPNotValid", "ClusterIPOutOfRange"]);
    await world.wait(60_000);
    await world.pass();
    expect(world.reported).toHaveLength(4);
    expect([world.storage.countsLoad().ipErrors, world.storage.suspects.size]).toEqual([{ outOfRange: 2, invalid: 2 }, 0]);
  });

  it("two Services with one address: the second to get it is reported", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("a");
    await world.plant("services", aService("b", [address], world.now));
    await world.pass();
    expect(world.told()).toEqual([
      `Warning ClusterIPAlreadyAllocated Cluster IP [IPv4]:${address} was assigned to multiple services; please recreate service`,
    ]);
  });

  it("while it changes: nothing is reported, and it is looked at again", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.createService("busy");
    await world.pass();
    await world.plant("services", aService("a", ["10.9.0.5"], world.now));
    let version = 1_000;
    // Each read of the Service has another resourceVersion.
    atNamedReads(world, () =>
      change(world, "a", (service) => ({ ...service, metadata: { ...service.metadata, resourceVersion: String(++version) } })),
    );
    await world.pass();
    expect([world.told(), [...world.storage.suspects.keys()]]).toEqual([[], ["services/default/a"]]);
    world.fails = () => false;
    await world.wait(10_000);
    expect([world.told().length, world.storage.suspects.size]).toEqual([1, 0]);
  });

  it("another address meanwhile: nothing is reported, and the new address is looked at", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.plant("services", aService("a", ["10.9.0.5"], world.now));
    const spec = { type: "ClusterIP", clusterIP: "10.0.0.7", clusterIPs: ["10.0.0.7"], ports: [{ port: 80 }] } as Service["spec"];
    atNamedReads(world, (read) => {
      if (read === 1) change(world, "a", (service) => ({ ...service, spec }));
    });
    await world.pass();
    expect([world.told(), world.storage.countsLoad().ipErrors]).toEqual([[], {}]);
    await world.wait(10_000);
    expect(world.parents()).toEqual({ "10.0.0.7": "default/a" });
  });
});

describe("Service whose repair needs no report", () => {
  it("pass: the Service is read once", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("a");
    await world.pass();
    await world.remove("ipaddresses", address);
    world.calls.length = 0;
    await world.pass();
    expect(world.parents()).toEqual({ [address]: "default/a" });
    expect(world.calls.filter((call) => call === "services.objectsNamed")).toHaveLength(1);
  });
});
