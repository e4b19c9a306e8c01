import { describe, expect, it } from "vitest";
import { PacedLog } from "../../../../src/core/telemetry/paced-log";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

function pacedLog() {
  const scheduler = new SimScheduler();
  const begun = scheduler.now;
  const lines: string[] = [];
  const log = new PacedLog("warn", "slow", {
    clock: scheduler.clock(),
    recorder: {
      log: (level, event, fields) => lines.push(`${scheduler.now - begun} ms: ${level} ${event} ${JSON.stringify(fields)}`),
    },
  });
  let made = 0;
  const add = (count = 1) => {
    for (let i = 0; i < count; i++) log.add(() => ({ n: ++made }));
  };
  return { scheduler, lines, add, made: () => made };
}

describe("PacedLog", () => {
  it("a burst: its first event at once, then one line a second with the number left out", async () => {
    const { scheduler, lines, add, made } = pacedLog();
    for (let i = 0; i < 300; i++) {
      add();
      await scheduler.pass(10);
    }
    expect(lines).toEqual([
      '0 ms: warn slow {"n":1,"untoldBefore":0}',
      '1000 ms: warn slow {"n":2,"untoldBefore":99}',
      '2000 ms: warn slow {"n":3,"untoldBefore":99}',
    ]);
    expect(made(), "what nobody reads is not made").toBe(3);
  });

  it("the end of a burst: counted within a second, and no timer stays", async () => {
    const { scheduler, lines, add } = pacedLog();
    add(50);
    await scheduler.pass(400);
    add(7);
    await scheduler.pass(600_000);
    expect(lines).toEqual(['0 ms: warn slow {"n":1,"untoldBefore":0}', '1000 ms: warn slow, more of them {"count":56}']);
    add(2);
    await scheduler.pass(600_000);
    expect(lines.slice(2)).toEqual(['600400 ms: warn slow {"n":2,"untoldBefore":0}', '601400 ms: warn slow, more of them {"count":1}']);
  });

  it("a single event: one line, and no timer", async () => {
    const { scheduler, lines, add } = pacedLog();
    add();
    await scheduler.pass(600_000);
    expect(lines).toHaveLength(1);
  });
});
