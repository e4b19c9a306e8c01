import { describe, expect, it } from "vitest";
import { Pace, pause } from "../../../../src/core/base/pause";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

describe("pause", () => {
  it.each([
    [0, 1],
    [-3, 1],
    [0.2, 1],
    [25, 25],
  ])("pause of %d ms: a timer of %d ms, so that the event loop goes round", async (ms, waited) => {
    const scheduler = new SimScheduler();
    const startedAt = scheduler.now;
    await scheduler.run(pause(scheduler.clock(), ms));
    expect(scheduler.now - startedAt).toBe(waited);
  });
});

describe("Pace", () => {
  it("rest: in proportion to the work since the last rest, a quarter of a second at most", async () => {
    const scheduler = new SimScheduler();
    const clock = scheduler.clock();
    const pace = new Pace(clock, 3);
    const rests: number[] = [];
    for (const workMs of [10, 0, 40, 5, 5_000, 1]) {
      await scheduler.pass(workMs);
      const startedAt = scheduler.now;
      await scheduler.run(pace.rest());
      rests.push(scheduler.now - startedAt);
    }
    expect(rests).toEqual([30, 1, 120, 15, 250, 3]);
  });

  it("step of long parts: a little rest between them, and as much rest in all", async () => {
    const scheduler = new SimScheduler();
    const clock = scheduler.clock();
    const pace = new Pace(clock, 9);
    const rested = async (rest: Promise<void>): Promise<number> => {
      const startedAt = scheduler.now;
      await scheduler.run(rest);
      return scheduler.now - startedAt;
    };
    const breaths: number[] = [];
    for (const workMs of [4, 4, 4, 10, 3]) {
      await scheduler.pass(workMs);
      breaths.push(await rested(pace.breathe()));
    }
    // Parts that are short are one turn together.
    expect(breaths).toEqual([0, 0, 30, 30, 0]);
    expect(await rested(pace.rest())).toBe(9 * 25 - 60);
    await scheduler.pass(2);
    expect(await rested(pace.rest())).toBe(18);
  });

  describe("rest while others wait for the thread", () => {
    /** How long it rests after some work, when timers come late by these times in turn. */
    async function restAfter(workMs: number, lateMs: readonly number[]): Promise<number> {
      const scheduler = new SimScheduler();
      const clock = scheduler.clock();
      let timers = 0;
      const late: typeof clock = { ...clock, after: (ms, work) => clock.after(ms + (lateMs[timers++] ?? 0), work) };
      const pace = new Pace({ now: () => scheduler.now, after: late.after }, 3);
      await scheduler.pass(workMs);
      const startedAt = scheduler.now;
      await scheduler.run(pace.restWhileBusy());
      return scheduler.now - startedAt;
    }

    it.each<[string, number, number[], number]>([
      ["a free thread", 100, [], 10],
      ["a free thread after a long work", 60_000, [], 10],
      ["a free thread after no work", 0, [], 0],
      ["a busy thread", 20, [25, 25, 25], 60],
      ["a busy thread after a long work", 60_000, Array.from({ length: 40 }, () => 45), 1_000],
      ["a thread that is free by luck for a moment", 20, [15, 0, 15, 0, 15], 70],
      ["a thread that comes free", 60_000, [25, 25], 70],
    ])("%s", async (_, workMs, lateMs, restMs) => {
      expect(await restAfter(workMs, lateMs)).toBe(restMs);
    });
  });
});
