/** Reports beside checks at a server with one thread, in virtual time. */
import { describe, expect, it } from "vitest";
import type { HeldSeats } from "../../../../src/access/fairness/fair-queue";
import { ReportTurns } from "../../../../src/worker/http/report-turns";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

/** Reports that come together, with so many at once; which have begun, and the turns of those that have one. */
function crowd(count: number, max: number) {
  const scheduler = new SimScheduler();
  const turns = new ReportTurns(scheduler.clock());
  const begun: number[] = [];
  const held: HeldSeats[] = [];
  for (let i = 0; i < count; i++) {
    void Promise.resolve(turns.begin(max)).then((turn) => {
      begun.push(i);
      if (turn) held.push(turn);
    });
  }
  return { scheduler, begun, held };
}

describe("reports that come together", () => {
  it("three at once: the others wait in their order, and each end lets the next one begin", async () => {
    const { scheduler, begun, held } = crowd(6, 3);
    await scheduler.pass(0);
    expect(begun).toEqual([0, 1, 2]);
    held[1]?.end();
    await scheduler.pass(0);
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it("turns that never end: the others begin after two seconds, and none is refused", async () => {
    const { scheduler, begun } = crowd(500, 3);
    await scheduler.pass(1_999);
    expect(begun.filter((i) => i < 300)).toEqual([0, 1, 2]);
    await scheduler.pass(1);
    expect([...begun].sort((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, i) => i));
  });

  it("reports that the platform dropped: others have their places after the next period", async () => {
    const scheduler = new SimScheduler();
    const turns = new ReportTurns(scheduler.clock());
    for (let i = 0; i < 3; i++) void turns.begin(3);
    await scheduler.pass(20_000);
    expect(turns.begin(3)).not.toBeInstanceOf(Promise);
  });

  it("no bound: all at once", async () => {
    const { scheduler, begun } = crowd(50, 0);
    await scheduler.pass(0);
    expect(begun).toHaveLength(50);
  });
});

describe("checks beside a crowd of reports on one thread", () => {
  const HOPS = 4;

  /** How long a check takes that comes right behind so many reports. Each takes its hops in turn with the others, half a millisecond each. */
  async function checkMs(reports: number, max: number): Promise<number> {
    const scheduler = new SimScheduler();
    const turns = new ReportTurns(scheduler.clock());
    let freeAt = scheduler.now;
    const worked = async (): Promise<void> => {
      for (let hop = 0; hop < HOPS; hop++) {
        freeAt = Math.max(freeAt, scheduler.now) + 0.5;
        await new Promise<void>((resolve) => scheduler.after(freeAt - scheduler.now, resolve));
      }
    };
    for (let i = 0; i < reports; i++) {
      void Promise.resolve(turns.begin(max)).then(async (turn) => {
        await worked();
        turn?.end();
      });
    }
    const begunMs = scheduler.now;
    await scheduler.run(worked());
    return scheduler.now - begunMs;
  }

  it("a hundred reports: a check waits for those that are under way, not for the crowd", async () => {
    expect(await checkMs(100, 3)).toBeLessThanOrEqual((3 + 1) * HOPS * 0.5);
    expect(await checkMs(100, 0)).toBeGreaterThan(100);
  });
});
