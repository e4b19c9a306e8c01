import { describe, expect, it } from "vitest";
import { throttled } from "../../../../src/core/turns/throttle";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

describe("throttled", () => {
  it("requests: the first runs at once, later ones once per interval, none is lost", async () => {
    const scheduler = new SimScheduler();
    const start = scheduler.now;
    const ran: number[] = [];
    const ask = throttled(scheduler.clock(), 100, () => void ran.push(scheduler.now - start));
    ask();
    for (let i = 0; i < 5; i++) {
      await scheduler.pass(10);
      ask();
    }
    expect(ran).toEqual([0]);
    await scheduler.pass(50);
    expect(ran).toEqual([0, 100]);
    await scheduler.pass(1_000);
    expect(ran).toEqual([0, 100]);
    ask();
    expect(ran).toEqual([0, 100, 1_100]);
  });

  it("a clock that is set back: nobody waits longer than the interval", async () => {
    const scheduler = new SimScheduler();
    let back = 0;
    const clock = { ...scheduler.clock(), now: () => scheduler.now - back };
    let ran = 0;
    const ask = throttled(clock, 100, () => ran++);
    ask();
    back = 1_000_000;
    ask();
    await scheduler.pass(100);
    expect(ran).toBe(2);
  });
});
