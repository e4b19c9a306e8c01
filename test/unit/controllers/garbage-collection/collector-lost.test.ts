/** What the collector knows is lost, or older than what it acts upon. */
import { describe, expect, it } from "vitest";
import { CollectorWorld } from "../../../support/worlds/collector-world";

const names = (world: CollectorWorld): string[] => [...world.all().keys()].sort();

/** A pass in whose `n`-th pull the store of Leases answers at once, and that of Pods when `meanwhile` is done. */
async function passDuring(world: CollectorWorld, n: number, meanwhile: () => Promise<unknown>): Promise<void> {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let reads = 0;
  world.onRead = (call) => (call === "pods changesSince" && ++reads === n ? held : Promise.resolve());
  const pass = world.collector.run();
  await world.scheduler.pass(50);
  expect(reads).toBe(n);
  await meanwhile();
  world.onRead = () => Promise.resolve();
  release();
  await world.scheduler.run(pass);
}

describe("rows of the collector", () => {
  it("transaction that fails while the object lives on: after a restart nobody waits for an object that is gone", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o");
    await world.make("Lease", "d", [owner]);
    await world.settle();
    await world.delete("Lease", "d");
    const { storage } = world;
    const transaction = storage.transaction.bind(storage);
    storage.transaction = () => {
      storage.transaction = transaction;
      throw new Error("the disk is full");
    };
    await world.run().catch(() => undefined);
    await world.make("Lease", "another", [owner]);
    await world.settle();
    world.restart();
    await world.delete("Pod", "o", { propagationPolicy: "Foreground" });
    await world.settle();
    expect(names(world)).toEqual([]);
  });
});

describe("deletion that the collector knows", () => {
  it("Foreground that becomes Orphan during a pull: a dependent made in between stays", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o");
    await world.settle();
    await world.delete("Pod", "o", { propagationPolicy: "Foreground" });
    await passDuring(world, 2, async () => {
      await world.make("Lease", "d", [owner]);
      await world.delete("Pod", "o", { propagationPolicy: "Orphan" });
      expect(world.find("Pod", "o")?.finalizers).toEqual(["orphan"]);
    });
    await world.settle();
    expect(world.find("Lease", "d")).toBeDefined();
    expect(world.find("Lease", "d")).not.toHaveProperty("ownerReferences");
  });

  it("name that is used again during a pull: the successor's dependents stay where it lets them go", async () => {
    const world = new CollectorWorld();
    const first = await world.make("Pod", "o");
    await world.make("Lease", "blocker", [first], { finalizers: ["example.com/held"] });
    await world.settle();
    await world.delete("Pod", "o", { propagationPolicy: "Foreground" });
    await world.settle();
    await passDuring(world, 1, async () => {
      await world.patch("Pod", "o", { finalizers: null });
      const second = await world.make("Pod", "o");
      await world.make("Lease", "d", [second]);
      await world.delete("Pod", "o", { propagationPolicy: "Orphan" });
    });
    await world.settle();
    expect(world.find("Lease", "d")).toBeDefined();
    expect(world.find("Lease", "d")).not.toHaveProperty("ownerReferences");
  });
});
