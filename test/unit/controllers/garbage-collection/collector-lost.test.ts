/** What the collector knows is lost, or older than what it acts upon. */
import { describe, expect, it } from "vitest";
import { OPERATION_DEADLINE_MS } from "../../../../src/core/base/limits";
import { PASS_MAX_MS } from "../../../../src/controllers/frame/controller";
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

/** The next transaction of the collector fails. */
function breakNextTransaction({ storage }: CollectorWorld): void {
  const transaction = storage.transaction.bind(storage);
  storage.transaction = () => {
    storage.transaction = transaction;
    throw new Error("the disk is full");
  };
}

describe("rows of the collector", () => {
  it("transaction that fails while the object lives on: after a restart nobody waits for an object that is gone", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o");
    await world.make("Lease", "d", [owner]);
    await world.settle();
    await world.delete("Lease", "d");
    breakNextTransaction(world);
    await world.run().catch(() => undefined);
    await world.make("Lease", "another", [owner]);
    await world.settle();
    world.restart();
    await world.delete("Pod", "o", { propagationPolicy: "Foreground" });
    await world.settle();
    expect(names(world)).toEqual([]);
  });

  it("transaction that fails in a pull of several pages: ends the pass, no store is asked for another page", async () => {
    const world = new CollectorWorld(1_000, 1);
    await world.settle();
    const owner = await world.make("Pod", "o");
    for (let i = 0; i < 10; i++) await world.make("Lease", `d${i}`, [owner]);
    world.changesAtOnce = 3;
    breakNextTransaction(world);
    world.calls = [];
    expect(await world.run()).toEqual({ left: true });
    expect(world.calls.sort()).toEqual(["leases changesSince", "nodes changesSince", "pods changesSince"]);
    await world.settle();
    expect(world.collector.remembered).toBe(10);
  });

  it("transaction that fails while stores are listed: ends the pass, no store is asked for another page", async () => {
    const world = new CollectorWorld(1_000, 1);
    const owner = await world.make("Pod", "o");
    for (let i = 0; i < 10; i++) await world.make("Lease", `d${i}`, [owner]);
    breakNextTransaction(world);
    expect(await world.run()).toEqual({ left: true });
    expect(world.calls.filter((call) => call.endsWith("changesSince"))).toHaveLength(3);
    expect(world.calls.filter((call) => call === "leases listMetadata")).toHaveLength(1);
    await world.settle();
    expect(world.collector.remembered).toBe(10);
  });

  it("rows that cannot be read after a failed transaction: fail the pass, and the next one reads them", async () => {
    const world = new CollectorWorld();
    await world.make("Lease", "d", [await world.make("Pod", "o")]);
    breakNextTransaction(world);
    await world.run();
    const { storage } = world;
    const nodes = storage.nodes.bind(storage);
    storage.nodes = () => {
      storage.nodes = nodes;
      throw new Error("the disk is gone");
    };
    await expect(world.run()).rejects.toThrow("the disk is gone");
    await world.settle();
    expect(world.collector.remembered).toBe(1);
  });
});

describe("budget of a pass", () => {
  const SLOW_MS = OPERATION_DEADLINE_MS - 1;

  /** Passes until no work is left; answers how long each took, in milliseconds. */
  async function durations(world: CollectorWorld): Promise<number[]> {
    const took: number[] = [];
    for (let left = true; left;) {
      const begun = world.scheduler.now;
      ({ left } = await world.run());
      took.push(world.scheduler.now - begun);
      if (took.length === 100) throw new Error("the passes come to no end");
    }
    return took;
  }

  it("stores whose every answer is slow: no pass takes as long as a hung one, and everything is collected", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o");
    await world.settle();
    world.changesAtOnce = 3;
    for (let i = 0; i < 200; i++) await world.make("Lease", `d${i}`, [owner]);
    await world.delete("Pod", "o");
    world.delay = () => SLOW_MS;
    const took = await durations(world);
    expect(Math.max(...took)).toBeLessThan(PASS_MAX_MS / 2);
    expect(names(world)).toEqual([]);
  });

  it("a long list of a slow store: goes on where the last pass ended", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o");
    for (let i = 0; i < 100; i++) await world.make("Lease", `d${i}`, [owner]);
    world.delay = (call) => (call === "leases listMetadata" ? SLOW_MS : 1);
    const took = await durations(world);
    expect(Math.max(...took)).toBeLessThan(PASS_MAX_MS / 2);
    expect(world.calls.filter((call) => call === "leases listMetadata")).toHaveLength(34);
    expect(world.collector.remembered).toBe(100);
  });

  it("a store that never answers: the dependents in the others are collected in the first pass", async () => {
    const world = new CollectorWorld();
    const owner = await world.make("Pod", "o");
    await world.make("Lease", "d", [owner]);
    await world.settle();
    await world.delete("Pod", "o");
    world.fault = (call) => (call.startsWith("nodes") ? "silent" : undefined);
    world.calls = [];
    expect(await world.run()).toEqual({ left: true });
    expect(names(world)).toEqual([]);
    expect(world.calls.filter((call) => call.startsWith("nodes"))).toEqual(["nodes changesSince"]);
  });

  it("owners that let many dependents go, in a slow store: no pass takes as long as a hung one, and all go", async () => {
    const world = new CollectorWorld();
    for (let i = 0; i < 60; i++) {
      const owner = await world.make("Pod", `o${i}`);
      await world.make("Lease", `d${i}`, [owner]);
    }
    await world.settle();
    for (let i = 0; i < 60; i++) await world.delete("Pod", `o${i}`, { propagationPolicy: "Orphan" });
    world.delay = (call) => (call === "leases write" ? SLOW_MS : 1);
    const took = await durations(world);
    expect(Math.max(...took)).toBeLessThan(PASS_MAX_MS / 2);
    expect(names(world)).toHaveLength(60);
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
