import { describe, expect, it } from "vitest";
import { HISTORY_FRESH_MS } from "../../../../../src/api/store/state/limits";
import type { StoreState } from "../../../../../src/api/store/state/store-storage";
import type { StoreTurn } from "../../../../../src/api/store/state/store-turn";
import { storedState } from "../../../../support/worlds/stored-history";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";
import { RandomHistory } from "../../../../support/worlds/random-store-history";
import { itOfSeeds } from "../../../../support/sim/platform/seeds";

const sizeOf = (world: StoreWorld): number =>
  world.storage.historySince(world.store.floor, 1e9).reduce((sum, { data, before }) => sum + data.length + before.length, 0);

const ofNow = ({ floor, through, historyEntries, historySize }: StoreState) => {
  return { floor, revision: through, entries: historyEntries, size: historySize };
};

/** What state and rows say must agree at any time. */
function checkAgreement(world: StoreWorld, note: string): void {
  const { entries, ...state } = ofNow(storedState(world.storage));
  const revisions = world.storage.historySince(world.store.floor, 1e9).map(({ revision }) => revision);
  const { floor, revision } = world.store;
  expect(state, note).toEqual({ floor, revision, size: sizeOf(world) });
  expect(revisions, note).toHaveLength(entries);
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

  it("a young history beyond the bound of size: stays until it is old, or beyond the bound of young ones", async () => {
    const sizeMax = 20_000;
    const freshSizeMax = 100_000;
    const world = new StoreWorld({ historyBounds: { entriesMax: 1e9, sizeMax, freshSizeMax, trimEntries: 1e9 } });
    const write = (name: string) => world.create(aLease(name, { holderIdentity: "x".repeat(1_000) }));
    for (let i = 0; i < 50; i++) await write(`young${i}`);
    expect([sizeOf(world) > 2 * sizeMax, world.store.floor]).toEqual([true, 1]);
    await world.scheduler.pass(HISTORY_FRESH_MS - 5_000);
    await write("later");
    expect(world.store.floor).toBe(1);
    await world.scheduler.pass(6_000);
    await write("now");
    checkAgreement(world, "after the young ones are old");
    expect(sizeOf(world)).toBeLessThan(sizeMax);
    expect(world.history().slice(-2)).toEqual(["ADDED ns/later", "ADDED ns/now"]);
    for (let i = 0; i < 150; i++) await write(`flood${i}`);
    checkAgreement(world, "after a flood");
    expect(sizeOf(world)).toBeLessThanOrEqual(freshSizeMax);
    expect(sizeOf(world)).toBeGreaterThan(freshSizeMax / 2);
  });

  it("lists of earlier revisions: go on while the history since then is within the bound of size, watches beyond it", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 1e9, sizeMax: 20_000, freshSizeMax: 1e9, trimEntries: 1e9 } });
    const floors: number[] = [];
    for (let i = 0; i < 40; i++) {
      await world.scheduler.pass(1_500);
      await world.create(aLease(`a${i}`, { holderIdentity: "x".repeat(1_000) }));
      floors.push(world.store.listFloor);
    }
    const since = world.store.listFloor;
    const read = world.storage.historySince(since, 1e9).reduce((sum, { data, before }) => sum + data.length + before.length, 0);
    expect([read <= 20_000, read > 17_000, since > 20, world.store.floor]).toEqual([true, true, true, 1]);
    expect(floors).toEqual([...floors].sort((a, b) => a - b));
    world.restart();
    expect(world.store.listFloor).toBe(since);
  });

  it("a store that slept: its history has aged meanwhile", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 1e9, sizeMax: 10_000, freshSizeMax: 1e6, trimEntries: 1e9 } });
    for (let i = 0; i < 200; i++) await world.create(aLease(`a${i}`, { holderIdentity: "x".repeat(1_000) }));
    expect(sizeOf(world)).toBeGreaterThan(200_000);
    await world.scheduler.pass(HISTORY_FRESH_MS - 5_000);
    world.restart();
    world.store.compact();
    expect(world.store.floor).toBe(1);
    await world.scheduler.pass(2 * 3_600_000);
    world.restart();
    world.store.compact();
    checkAgreement(world, "after compaction");
    expect(sizeOf(world)).toBeLessThanOrEqual(10_000);
  });

  it("a store that starts anew for each of its rare writes: the old history goes", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 1e9, sizeMax: 10_000, freshSizeMax: 1e6, trimEntries: 1e9 } });
    for (let i = 0; i < 200; i++) await world.create(aLease(`a${i}`, { holderIdentity: "x".repeat(1_000) }));
    for (let i = 0; i < 3; i++) {
      await world.scheduler.pass(HISTORY_FRESH_MS / 2);
      world.restart();
      await world.create(aLease(`late${i}`));
    }
    checkAgreement(world, "after three starts");
    expect(sizeOf(world)).toBeLessThanOrEqual(10_000);
    expect(world.history().slice(-3)).toEqual(["ADDED ns/late0", "ADDED ns/late1", "ADDED ns/late2"]);
  });

  it("a store that begins again without marks of its last change: its history counts as young", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 1e9, sizeMax: 5_000, freshSizeMax: 1e9, trimEntries: 1e9 } });
    for (let i = 0; i < 20; i++) await world.create(aLease(`a${i}`, { holderIdentity: "x".repeat(1_000) }));
    world.storage.marksSave(world.storage.marksLoad().map(([atMs, revision, written]) => [atMs, revision - 1, written]));
    await world.scheduler.pass(HISTORY_FRESH_MS - 2_000);
    world.restart();
    await world.scheduler.pass(HISTORY_FRESH_MS - 2_000);
    world.store.compact();
    expect(world.store.floor).toBe(1);
    await world.scheduler.pass(3_000);
    world.store.compact();
    checkAgreement(world, "after compaction");
    expect(sizeOf(world)).toBeLessThan(5_000);
  });

  it("a lost turn: the same revisions, written later, are as young as they are", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 1e9, sizeMax: 5_000, freshSizeMax: 1e9, trimEntries: 1e9 } });
    const write = (turn: StoreTurn): void => {
      for (let i = 0; i < 20; i++) turn.put(`ns/a${i}`, aLease(`a${i}`, { holderIdentity: "x".repeat(1_000) }));
    };
    const before = world.store.revision;
    await world.scheduler.run(world.store.internally(write));
    await world.scheduler.pass(2_000);
    world.storage.crashNext = "beforeCommit";
    await expect(world.scheduler.run(world.store.internally(write))).rejects.toThrow();
    expect([world.store.revision, world.store.listFloor]).toEqual([before + 20, before + 20]);
    await world.scheduler.pass(HISTORY_FRESH_MS - 5_000);
    await world.scheduler.run(world.store.internally(write));
    await world.scheduler.pass(10_000);
    world.store.compact();
    checkAgreement(world, "after compaction");
    expect(world.store.floor).toBe(before + 20);
  });

  it("a write that is undone: does not count as history", async () => {
    const world = new StoreWorld<undefined>({
      historyBounds: { entriesMax: 1e9, sizeMax: 10_000, freshSizeMax: 1e9, trimEntries: 1e9 },
      extension: {
        committed: ({ key }) => {
          if (key === "ns/broken") throw new Error("broken");
        },
      },
    });
    const write = (name: string, chars: number) => world.create(aLease(name, { holderIdentity: "x".repeat(chars) }));
    await write("old", 9_000);
    await world.scheduler.pass(2_000);
    await write("new", 3_000);
    const floor = world.store.listFloor;
    await write("broken", 9_000);
    expect([floor < world.store.revision, world.store.listFloor]).toEqual([true, floor]);
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

  itOfSeeds("random lives, restarts and lost turns (seed %i): state and rows agree", { fixed: [1, 2, 3], further: 2 }, async (seed) => {
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
