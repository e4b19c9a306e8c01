import { describe, expect, it } from "vitest";
import { pause } from "../../../src/base/pause";
import { SimScheduler } from "../../support/sim-scheduler";

describe("pause", () => {
  it.each([0, -5])("of %i ms is none", async (ms) => {
    const scheduler = new SimScheduler();
    const before = scheduler.now;
    await scheduler.run(pause(scheduler.clock(), ms));
    expect(scheduler.now).toBe(before);
  });

  it("takes its time", async () => {
    const scheduler = new SimScheduler();
    const before = scheduler.now;
    await scheduler.run(pause(scheduler.clock(), 25));
    expect(scheduler.now).toBe(before + 25);
  });
});
