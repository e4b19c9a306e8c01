import { describe, expect, it } from "vitest";
import { aLease, StoreWorld } from "../../../support/worlds/store-world";
import { RandomHistory } from "../../../support/worlds/random-store-history";

const sizeOf = (world: StoreWorld): number =>
  world.storage.historySince(0, 1e9).reduce((sum, { data, before }) => sum + data.length + before.length, 0);

/** What state and rows say must agree at any time. */
function checkAgreement(world: StoreWorld, note: string): void {
  const state = world.storage.stateLoad();
  const revisions = world.storage.historySince(0, 1e9).map(({ revision }) => revision);
  const { floor, revision } = world.store;
  expect(state, note).toMatchObject({ floor, revision, historySize: sizeOf(world) });
  expect(revisions, note).toEqual(Array.from({ length: revision - floor }, (_, i) => floor + 1 + i));
}

describe("the history", () => {
  it("history beyond its bound of entries: the oldest are dropped, some at once", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 10, sizeMax: 1e9, trimEntries: 4 } });
    const kept: number[] = [];
    for (let i = 0; i < 14; i++) {
      await world.create(aLease(`a${i}`));
      kept.push(world.store.revision - world.store.floor);
      checkAgreement(world, `after ${i + 1} writes`);
    }
    expect(kept).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 6, 7, 8, 9]);
  });

  it("history beyond its bound of size: the oldest are dropped; the newest entry stays whatever its size", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 1_000, sizeMax: 5_000, trimEntries: 3 } });
    for (let i = 0; i < 12; i++) {
      await world.create(aLease(`a${i}`, { holderIdentity: "x".repeat(1_000) }));
      checkAgreement(world, `after ${i + 1} writes`);
      expect(sizeOf(world)).toBeLessThan(5_000 + 1_500);
    }
    await world.create(aLease("large", { holderIdentity: "x".repeat(50_000) }));
    for (let i = 0; i < 3; i++) {
      world.store.compact();
      checkAgreement(world, "after compaction");
    }
    expect(world.history()).toEqual(["ADDED ns/large"]);
  });

  it("a turn of more changes than the bound: the bound is left", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 10, sizeMax: 1e9, trimEntries: 4 } });
    await world.scheduler.run(
      world.store.internally((turn) => {
        for (let i = 0; i < 100; i++) turn.put(`ns/a${i}`, aLease(`a${i}`));
      }),
    );
    checkAgreement(world, "after the turn");
    expect(world.store.revision - world.store.floor).toBe(6);
  });

  it.each([1, 2, 3])("random lives, restarts and lost turns (seed %i): state and rows agree", async (seed) => {
    const random = new RandomHistory(seed, { historyBounds: { entriesMax: 20, sizeMax: 8_000, trimEntries: 3 } });
    const { world } = random;
    let [revision, floor] = [1, 1];
    for (let round = 0; round < 40; round++) {
      await random.steps(1 + random.below(4));
      if (random.below(4) === 0) {
        world.storage.crashNext = random.pick(["beforeCommit", "afterCommit"] as const);
        await world.create(aLease(`crash${round}`)).catch(() => undefined);
        world.storage.crashNext = undefined;
      }
      if (random.below(5) === 0) world.restart();
      if (random.below(5) === 0) world.store.compact();
      checkAgreement(world, `seed ${seed}, round ${round}`);
      expect([world.store.revision > revision, world.store.floor >= floor], `seed ${seed}, round ${round}`).toEqual([true, true]);
      [revision, floor] = [world.store.revision, world.store.floor];
    }
  });

  it("a lost compaction: memory is as storage is", async () => {
    const bounds = { entriesMax: 10, sizeMax: 1e9, trimEntries: 4 };
    const world = new StoreWorld({ historyBounds: bounds });
    for (let i = 0; i < 8; i++) await world.create(aLease(`a${i}`));
    bounds.entriesMax = 5;
    world.storage.crashNext = "beforeCommit";
    expect(() => world.store.compact()).toThrow();
    checkAgreement(world, "after the loss");
    world.store.compact();
    checkAgreement(world, "after the next");
    expect(world.store.revision - world.store.floor).toBeLessThan(5);
  });
});
