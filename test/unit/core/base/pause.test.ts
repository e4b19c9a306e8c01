import { describe, expect, it } from "vitest";
import { Pace, pause } from "../../../../src/core/base/pause";
import { SimScheduler } from "../../../support/sim/scheduler";

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
});
