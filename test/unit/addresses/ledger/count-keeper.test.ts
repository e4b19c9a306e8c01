import { beforeEach, describe, expect, it, vi } from "vitest";
import { CountKeeper } from "../../../../src/addresses/ledger/count-keeper";
import { MemoryLedgerStorage } from "../../../support/memory/ledger-storage";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

let scheduler: SimScheduler;
let storage: MemoryLedgerStorage;
let lines: string[];
/** when something was written, in milliseconds from the beginning */
let writes: number[];
let broken: boolean;

beforeEach(() => {
  scheduler = new SimScheduler();
  storage = new MemoryLedgerStorage();
  lines = [];
  writes = [];
  broken = false;
});

/** One life of the object, which ends when `sleep` is called. */
function life() {
  const begun = 1_700_000_000_000;
  let alive = true;
  let unsaved = false;
  const keeper = new CountKeeper({
    clock: scheduler.clock(() => alive),
    recorder: { log: (level, event) => lines.push(`${level} ${event}`) },
    metrics: {
      get unsaved() {
        return unsaved;
      },
      save() {
        if (broken) throw new Error("the disk is full");
        unsaved = false;
        writes.push(scheduler.now - begun);
      },
      lost: () => (unsaved = true),
    },
    storage,
  });
  return {
    keeper,
    count() {
      unsaved = true;
      keeper.refused();
    },
    /** A turn that commits an allocation, and whether its transaction takes place. */
    commit(isLost = false) {
      unsaved = true;
      keeper.sealTurn();
      if (isLost) keeper.turnLost();
    },
    sleep: () => (alive = false),
  };
}

describe("CountKeeper", () => {
  it("a first refusal: is written after a second", async () => {
    const { count } = life();
    count();
    await scheduler.pass(999);
    expect(writes).toEqual([]);
    await scheduler.pass(1);
    expect(writes).toEqual([1_000]);
  });

  it("refusals that go on: one write a minute, the last one included", async () => {
    const { count } = life();
    for (let i = 0; i < 100; i++) {
      count();
      await scheduler.pass(1_000);
    }
    await scheduler.pass(600_000);
    expect(writes).toEqual([1_000, 61_000, 121_000]);
  });

  it("the time of the last write cannot be read: the count goes on and is written after a second", async () => {
    const { count } = life();
    const read = vi.spyOn(storage, "numberGet").mockImplementation(() => {
      throw new Error("the disk is gone");
    });
    count();
    read.mockRestore();
    await scheduler.pass(1_000);
    expect(writes).toEqual([1_000]);
    expect(lines).toEqual(["warn counters of allocations could not be kept"]);
  });

  it("refusals in many short lives: still one write a minute", async () => {
    for (let i = 0; i < 6; i++) {
      const { count, sleep } = life();
      count();
      await scheduler.pass(15_000);
      sleep();
    }
    const { count } = life();
    count();
    await scheduler.pass(60_000);
    expect(writes).toEqual([1_000, 61_000, 121_000]);
  });

  it("commits: the first one of each minute writes, and no timer waits for the others", async () => {
    const { commit, sleep } = life();
    for (let i = 0; i < 100; i++) {
      commit();
      await scheduler.pass(1_000);
    }
    expect(writes).toEqual([0, 60_000]);
    sleep();
    await scheduler.pass(5_000);
    const next = life();
    next.commit();
    expect(writes, "the minute goes on over the lives of the object").toEqual([0, 60_000]);
    await scheduler.pass(600_000);
    next.commit();
    expect(writes).toEqual([0, 60_000, 705_000]);
  });

  it("a refusal before a commit that is due: is written with it, and not again", async () => {
    const { count, commit } = life();
    count();
    commit();
    await scheduler.pass(600_000);
    expect(writes).toEqual([0]);
  });

  it("show: writes at once what commits have left, and refusals once a minute", async () => {
    const { count, commit, keeper } = life();
    commit();
    keeper.show();
    expect(writes).toEqual([0]);
    await scheduler.pass(10_000);
    commit();
    keeper.show();
    keeper.show();
    expect(writes).toEqual([0, 10_000]);
    await scheduler.pass(10_000);
    count();
    keeper.show();
    count();
    keeper.show();
    expect(writes).toEqual([0, 10_000, 20_000]);
    await scheduler.pass(600_000);
    expect(writes).toEqual([0, 10_000, 20_000, 80_000]);
  });

  it("the transaction of a commit is lost: its counts go with the next write", async () => {
    const { commit, keeper } = life();
    commit(true);
    expect(writes).toEqual([0]);
    storage.numberSet("countsCommittedAt", 0);
    keeper.show();
    keeper.show();
    expect(writes).toEqual([0, 0]);
    await scheduler.pass(600_000);
    expect(writes).toEqual([0, 0]);
  });

  it("keep: writes at once what has changed, and nothing twice", async () => {
    const { count, keeper } = life();
    keeper.keep();
    count();
    keeper.keep();
    keeper.keep();
    await scheduler.pass(600_000);
    expect(writes).toEqual([0]);
  });

  it("keep within a minute of the last write, however often: one write at the end of the minute", async () => {
    const { count, keeper } = life();
    for (let i = 0; i < 12; i++) {
      count();
      keeper.keep();
      await scheduler.pass(5_000);
    }
    await scheduler.pass(600_000);
    expect(writes).toEqual([0, 60_000]);
  });

  it("keep after a commit that wrote: no write; after one that did not: a write", async () => {
    const { commit, keeper } = life();
    commit();
    keeper.keep();
    await scheduler.pass(10_000);
    expect(writes).toEqual([0]);
    commit();
    keeper.keep();
    await scheduler.pass(600_000);
    expect(writes).toEqual([0, 10_000]);
  });

  it("a write that fails: is logged, and the next one writes its counters", async () => {
    const { count, keeper } = life();
    broken = true;
    count();
    await scheduler.pass(600_000);
    expect(lines).toEqual(["warn counters of allocations could not be kept"]);
    broken = false;
    keeper.keep();
    expect(writes).toEqual([600_000]);
  });

  it("a clock that was set back by a day: the next refusal is written soon", async () => {
    const { count } = life();
    count();
    await scheduler.pass(1_000);
    scheduler.now -= 86_400_000;
    count();
    await scheduler.pass(1_000);
    expect(writes).toHaveLength(2);
  });
});
