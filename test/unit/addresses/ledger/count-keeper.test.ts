import { beforeEach, describe, expect, it, vi } from "vitest";
import { CountKeeper } from "../../../../src/addresses/ledger/count-keeper";
import { MemoryLedgerStorage } from "../../../support/memory/ledger-storage";
import { EarliestAlarm } from "../../../../src/core/base/earliest-alarm";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

let scheduler: SimScheduler;
let storage: MemoryLedgerStorage;
let lines: string[];
/** when something was written, in milliseconds from the beginning */
let writes: number[];
/** how often the alarm was set */
let alarms: number;
let broken: boolean;

beforeEach(() => {
  scheduler = new SimScheduler();
  storage = new MemoryLedgerStorage();
  lines = [];
  writes = [];
  alarms = 0;
  broken = false;
});

/** One life of the object, which ends when `sleep` is called. */
function life() {
  const begun = 1_700_000_000_000;
  let alive = true;
  let unsaved = false;
  const alarm = new EarliestAlarm(scheduler.clock(), (atMs) => {
    alarms++;
    // No clock of the object's: what the object asked for is the platform's.
    scheduler.clock().after(Math.max(0, atMs - scheduler.now), () => {
      if (!alive) return;
      alarm.rang();
      keeper.rang();
    });
  });
  const keeper: CountKeeper = new CountKeeper({
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
    wakeAt: (time) => alarm.by(time),
  });
  return {
    keeper,
    count() {
      keeper.refused();
      unsaved = true;
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
  it("a first refusal: is written in the turn behind it, with all others of its turn, and asks for no alarm", async () => {
    const { count } = life();
    for (let i = 0; i < 40; i++) count();
    expect(writes).toEqual([]);
    await scheduler.pass(0);
    expect([writes, alarms]).toEqual([[0], 0]);
    await scheduler.pass(600_000);
    expect([writes, alarms]).toEqual([[0], 0]);
  });

  it("a refusal within five seconds of the last write: is written by the alarm", async () => {
    const { count } = life();
    count();
    await scheduler.pass(4_000);
    count();
    await scheduler.pass(500);
    count();
    expect([writes, alarms]).toEqual([[0], 1]);
    await scheduler.pass(600_000);
    expect([writes, alarms]).toEqual([[0, 5_000], 1]);
  });

  it("refusals that go on: one write and one alarm in five seconds, the last refusal included", async () => {
    const { count } = life();
    for (let i = 0; i < 100; i++) {
      await scheduler.pass(100);
      count();
    }
    await scheduler.pass(600_000);
    expect([writes, alarms]).toEqual([[100, 5_100, 10_100], 2]);
  });

  it("the object sleeps ten seconds behind its last event: nothing is lost", async () => {
    for (let i = 0; i < 6; i++) {
      const { count, sleep } = life();
      count();
      await scheduler.pass(3_000);
      count();
      await scheduler.pass(10_000);
      sleep();
    }
    expect(writes).toEqual(Array.from({ length: 6 }, (_, i) => [13_000 * i, 13_000 * i + 5_000]).flat());
  });

  it("an alarm of somebody else: writes what has changed, so no other one is needed", async () => {
    const { count, keeper } = life();
    count();
    await scheduler.pass(1_000);
    count();
    await scheduler.pass(0);
    keeper.rang();
    keeper.rang();
    expect(writes).toEqual([0, 1_000]);
    await scheduler.pass(600_000);
    expect(writes).toEqual([0, 1_000]);
  });

  it("an alarm of somebody else that no refusal waits for: leaves commits' counts to their minute", async () => {
    const { commit, keeper, count } = life();
    commit();
    await scheduler.pass(1_000);
    commit();
    keeper.rang();
    expect(writes).toEqual([0]);
    count();
    await scheduler.pass(1_000);
    commit();
    keeper.rang();
    expect(writes, "a refusal that was written asks for nothing").toEqual([0, 1_000]);
  });

  it("commits: the first one of each minute writes, and nothing waits for the others", async () => {
    const { commit, sleep } = life();
    for (let i = 0; i < 100; i++) {
      commit();
      await scheduler.pass(1_000);
    }
    expect([writes, alarms]).toEqual([[0, 60_000], 0]);
    sleep();
    await scheduler.pass(5_000);
    const next = life();
    next.commit();
    expect(writes, "the minute goes on over the lives of the object").toEqual([0, 60_000]);
    await scheduler.pass(600_000);
    next.commit();
    expect(writes).toEqual([0, 60_000, 705_000]);
  });

  it("the time of the last write of commits cannot be read: the commit writes", () => {
    const { commit } = life();
    const read = vi.spyOn(storage, "numberGet").mockImplementation(() => {
      throw new Error("the disk is gone");
    });
    commit();
    read.mockRestore();
    expect(writes).toEqual([0]);
    expect(lines).toEqual(["warn counters of allocations could not be kept"]);
  });

  it("a refusal before a commit that is due: is written with it, and not again", async () => {
    const { count, commit } = life();
    count();
    commit();
    await scheduler.pass(600_000);
    expect(writes).toEqual([0]);
  });

  it("show: writes at once what commits have left, and refusals once in five seconds", async () => {
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
    expect(writes).toEqual([0, 10_000, 20_000, 25_000]);
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

  it("a clock that was set back by a day: the next refusal is written at once", async () => {
    const { count } = life();
    count();
    await scheduler.pass(1_000);
    scheduler.now -= 86_400_000;
    count();
    await scheduler.pass(0);
    expect(writes).toHaveLength(2);
  });
});
