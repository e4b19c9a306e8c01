import { describe, expect, it } from "vitest";
import { definitionOf } from "../../../../../src/api/registry/all";
import { namespacesDefinition } from "../../../../../src/api/registry/namespaces/definition";
import { inRange, namespaceRange } from "../../../../../src/api/store/state/keys";
import { NOTHING_COUNTED } from "../../../../../src/api/store/state/store-storage";
import { RandomHistory } from "../../../../support/worlds/random-store-history";
import { firstSeeds, itOfSeeds } from "../../../../support/sim/platform/seeds";
import { aLease, createRequest, StoreWorld } from "../../../../support/worlds/store-world";

const NAMESPACES = ["", "a", "b", "b-c", "nobody"];

/** The kept counts against the rows themselves; undefined where they are not known. */
function expectCounted({ store, storage }: StoreWorld, note = ""): void {
  const keys = storage.objectScan("", "").map(({ key }) => key);
  const counted = NAMESPACES.map((namespace) => keys.filter((key) => inRange(key, namespaceRange(namespace))).length);
  expect(
    NAMESPACES.map((namespace) => store.countIn(namespace)),
    note,
  ).toEqual(counted);
}

/** The rows become those of a store that an earlier release has written to last. */
function writtenByEarlierRelease(world: StoreWorld): void {
  const state = world.storage.stateLoad();
  if (!state) throw new Error("the store has a state");
  world.storage.stateSave({ ...state, counted: NOTHING_COUNTED });
  for (const namespace of ["a", "nobody"]) world.storage.namespaceCountAdd(namespace, 1);
  world.restart();
}

describe("kept counts", () => {
  it("a new store: its initial objects are counted, in all and per namespace", () => {
    const namespaces = new StoreWorld({ definition: namespacesDefinition });
    expect([namespaces.store.countIn(""), namespaces.storage.objectScan("", "").length]).toEqual([4, 4]);
    const definition = definitionOf("", "configmaps");
    if (!definition) throw new Error("ConfigMaps are served");
    const world = new StoreWorld({ definition });
    expectCounted(world);
  });

  itOfSeeds(
    "random lives, restarts and lost turns (seed %i): the counts are those of the rows",
    { fixed: firstSeeds(5), further: 2 },
    async (seed) => {
      const random = new RandomHistory(seed);
      const { world } = random;
      for (let round = 0; round < 60; round++) {
        await random.steps(1 + random.below(4));
        if (random.below(4) === 0) {
          world.storage.crashNext = random.pick(["beforeCommit", "afterCommit"] as const);
          await world.create(aLease(`crash${round}`, {}, { namespace: "a" })).catch(() => undefined);
          world.storage.crashNext = undefined;
        }
        if (random.below(5) === 0) world.restart();
        expectCounted(world, `seed ${seed}, round ${round}`);
      }
    },
  );

  it("writes of one turn, one of them undone: only what was written counts", async () => {
    const world = new StoreWorld();
    world.storage.undoneKey = "a/broken";
    const create = (namespace: string, name: string) => world.store.write(createRequest(aLease(name, {}, { namespace })));
    const writes = Promise.all([create("a", "x"), create("a", "broken"), create("b", "x"), create("a", "y")]);
    const results = await world.scheduler.run(writes);
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, true]);
    expectCounted(world);
    expect(world.store.countIn("a")).toBe(2);
  });
});

describe("a store that an earlier release has written", () => {
  it("counts of an earlier release's store: unknown until every object is counted, some at a time, with turns between", async () => {
    const world = new StoreWorld({ countedTogether: 1 });
    for (const name of ["u", "v", "w", "x", "y"]) await world.create(aLease(name, {}, { namespace: name < "w" ? "a" : "b" }));
    writtenByEarlierRelease(world);
    expect(world.store.countIn("")).toBeUndefined();
    const order: string[] = [];
    const counted = world.store.counted().then(() => order.push("counted"));
    const write = createRequest(aLease("z", {}, { namespace: "a" }));
    const written = world.store.write(write).then(() => order.push("written"));
    await world.scheduler.run(Promise.all([counted, written]));
    expect(order).toEqual(["written", "counted"]);
    expectCounted(world);
    world.restart();
    expectCounted(world, "after a restart");
  });

  it("counting that is asked for again while it runs: is one", async () => {
    const world = new StoreWorld({ countedTogether: 1 });
    for (const name of ["u", "v", "w"]) await world.create(aLease(name, {}, { namespace: "a" }));
    writtenByEarlierRelease(world);
    const { commits } = world.storage;
    await world.scheduler.run(Promise.all([world.store.counted(), world.store.counted(), world.store.counted()]));
    expect(world.storage.commits - commits).toBe(4);
    await world.store.counted();
    expectCounted(world);
  });

  itOfSeeds(
    "writes, restarts and crashes while an old store is counted (seed %i): the counts are those of the rows",
    { fixed: firstSeeds(6), further: 2 },
    async (seed) => {
      const random = new RandomHistory(seed, { countedTogether: 2 });
      const { world } = random;
      for (let round = 0; round < 8; round++) {
        await random.steps(5 + random.below(10));
        writtenByEarlierRelease(world);
        for (let part = 0; part < 6; part++) {
          const counting = world.store.counted().catch(() => undefined);
          if (random.below(3) === 0) world.storage.crashNext = random.pick(["beforeCommit", "afterCommit"] as const);
          await random.steps(1 + random.below(2)).catch(() => undefined);
          world.storage.crashNext = undefined;
          if (random.below(4) === 0) world.restart();
          else if (random.below(3) === 0) await world.scheduler.run(counting);
        }
        await world.scheduler.run(world.store.counted());
        expectCounted(world, `seed ${seed}, round ${round}`);
      }
    },
  );
});
