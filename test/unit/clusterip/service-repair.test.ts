import { describe, expect, it } from "vitest";
import type { HeldAddress, WrittenAddress } from "../../../src/rpc/repair";
import { RepairWorld } from "../../support/repair-world";
import type { ServicesBrain } from "../../support/sim-cluster";

const ALWAYS = { isAlive: () => true };
const RANGE = ["10.0.0.0/24"];

function inServices<T>(world: RepairWorld, work: (brain: ServicesBrain) => Promise<T>): Promise<T> {
  return world.cluster.network.call(ALWAYS, world.cluster.services, work);
}

async function writersOf(world: RepairWorld, address: string): Promise<WrittenAddress[]> {
  const writers = await world.run(world.cluster.network.call(ALWAYS, world.cluster.ipAddresses, (brain) => brain.writersOf([address])));
  return writers.filter((writer) => writer !== null);
}

describe("giveUp", () => {
  it("keeps what a Service holds under this token, whoever says that it is an orphan", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const writers = await writersOf(world, address);
    expect(await world.run(inServices(world, ({ repair }) => repair.giveUp(writers)))).toEqual(["held"]);
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/web" }, { [address]: "service" }]);
  });

  it("of the holder before frees nothing of the one that has the address now (hazard 1)", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const before = await writersOf(world, address);
    await world.remove("services", "web");
    await world.createService("next", { clusterIP: address });
    expect(await world.run(inServices(world, ({ repair }) => repair.giveUp(before)))).toEqual(["released"]);
    await world.cluster.scheduler.pass(10_000);
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/next" }, { [address]: "service" }]);
  });

  it("waits for an operation under way, which may still commit (hazard 2)", async () => {
    const world = await RepairWorld.of(RANGE);
    const create = world.createService("web");
    let seen: WrittenAddress[] = [];
    for (let ms = 0; ms < 100 && seen.length === 0; ms++) {
      await world.cluster.scheduler.pass(1);
      const rows = [...world.cluster.owners.values()].flatMap(({ storage }) => storage.rowsSince(0, 10));
      seen = rows.map(({ token, gen }) => ({ address: "10.0.0.1", token, gen }));
    }
    expect([seen.length, world.services()]).toEqual([1, []]);
    const answer = world.cluster.services.brain.repair.giveUp(seen);
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
  ])("of %s than what is stored changes nothing", async (_, other) => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const { uid = "" } = world.services()[0]?.metadata ?? {};
    const item = { namespace: "default", name: "web", uid, address, object: "", isRight: false, ...other };
    expect(await world.run(inServices(world, ({ repair }) => repair.makeWhole([item])))).toEqual(["gone"]);
    expect([world.parents(), await world.rows()]).toEqual([{ [address]: "default/web" }, { [address]: "service" }]);
  });

  it("of a Service that goes while its address is taken again gives the address back", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    const { uid = "" } = world.services()[0]?.metadata ?? {};
    const writers = await writersOf(world, address);
    for (const { node } of world.cluster.owners.values()) {
      await world.run(world.cluster.network.call(ALWAYS, node, (owner) => owner.release(writers.map(({ token }) => ({ address, token })))));
    }
    const item = { namespace: "default", name: "web", uid, address, object: "", isRight: false };
    const answer = world.cluster.services.brain.repair.makeWhole([item]);
    await world.remove("services", "web");
    expect(["gone", "restored"]).toContain((await world.run(answer))[0]);
    await world.cluster.scheduler.pass(10_000);
    expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
  });
});
