/** What a controller on the frame makes of its own writes: they are known without a call, and their pokes ask for nothing. */
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { createRequest } from "../../../support/worlds/store-world";
import { TwinsWorld } from "../../../support/worlds/twins-world";

/** A world at rest, whose stores were read once. Pokes of twins name their store; of sources nobody pokes by himself. */
async function settled(): Promise<TwinsWorld> {
  const world = new TwinsWorld();
  await world.pass(1_000);
  world.takeCalls();
  return world;
}

describe("own writes", () => {
  it("one that follows what was read: is a fact at once, its own poke asks for no pass, and the next pass does not read it", async () => {
    const world = await settled();
    await world.source("a", "1");
    world.poke([world.news("sources")]);
    await world.pass(1_000);
    expect(world.takeCalls()).toEqual(["sources objectsSince", "twins create"]);
    expect((await world.status())?.passes).toBe(2);
    expect([world.kept("twins"), world.data("twins")]).toEqual([{ a: "1" }, { a: "1" }]);
    await world.source("a", "2");
    world.poke([world.news("sources")]);
    await world.pass(1_000);
    expect(world.takeCalls()).toEqual(["sources objectsSince", "twins update a"]);
    await world.remove("sources", "a");
    world.poke([world.news("sources")]);
    await world.pass(1_000);
    expect(world.takeCalls()).toEqual(["sources objectsSince", "twins delete a"]);
    expect([world.kept("twins"), world.data("twins")]).toEqual([{}, {}]);
  });

  it("one behind somebody else's: the store is read, and what that one did is put right", async () => {
    const world = await settled();
    const foreign = { metadata: { namespace: "ns", name: "foreign" }, data: {} } as KubeObject;
    let isWritten = false;
    world.fault = (call) => {
      if (call === "twins create" && !isWritten) void world.stores.twins.store.write(createRequest(foreign));
      if (call === "twins create") isWritten = true;
      return undefined;
    };
    await world.source("a", "1");
    world.poke([world.news("sources")]);
    await world.pass(1_000);
    expect(world.takeCalls()).toEqual(["sources objectsSince", "twins create", "twins objectsSince", "twins delete foreign"]);
    expect(world.data("twins")).toEqual({ a: "1" });
  });

  it("one whose answer is lost: the store is read before the next try", async () => {
    const world = await settled();
    world.fault = (call) => (call.startsWith("twins") ? new Error("down") : undefined);
    await world.source("a", "1");
    world.poke([world.news("sources")]);
    await world.pass(100);
    world.fault = () => undefined;
    world.takeCalls();
    world.poke([world.news("twins")]);
    await world.pass(5_000);
    expect(world.takeCalls()).toEqual(["sources objectsSince", "twins objectsSince", "twins create"]);
  });
});

describe("how far stores were read", () => {
  const saved = (world: TwinsWorld): number | undefined => world.rows.cursors().find(([store]) => store === "sources")?.[1].revision;

  it("is saved with the first pass, then once a minute, and by cron's poke; facts are saved with each pass", async () => {
    const world = await settled();
    const first = saved(world);
    expect(first).toBeDefined();
    await world.source("a", "1");
    world.poke([world.news("sources")]);
    await world.pass(1_000);
    expect([saved(world), world.kept("sources")]).toEqual([first, { a: "1" }]);
    world.poke();
    await world.pass(1_000);
    expect(saved(world)).toBe(world.news("sources").revision);
    await world.source("a", "2");
    world.poke([world.news("sources")]);
    await world.pass(60_000);
    expect(saved(world)).toBe(world.news("sources").revision - 1);
    await world.source("a", "3");
    world.poke([world.news("sources")]);
    await world.pass(1_000);
    expect(saved(world)).toBe(world.news("sources").revision);
  });

  it("an object that dies before: the next life reads the same again, lists nothing and writes nothing", async () => {
    const world = await settled();
    await world.source("a", "1");
    await world.source("a", "2");
    world.poke([world.news("sources")]);
    await world.pass(1_000);
    world.takeCalls();
    world.dieAt = world.points + 1;
    world.poke();
    await world.pass(5_000);
    expect([world.deaths, [...new Set(world.takeCalls())].sort()]).toEqual([1, ["sources objectsSince", "twins objectsSince"]]);
    expect([world.kept("sources"), world.data("twins")]).toEqual([{ a: "2" }, { a: "2" }]);
  });
});
