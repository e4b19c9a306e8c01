import { describe, expect, it } from "vitest";
import { Pace } from "../../../../src/core/base/pause";
import { OwnerCheck } from "../../../../src/addresses/repair/owner-check";
import { MemoryRepairStorage } from "../../../support/memory/repair-storage";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

/** Owners with these numbers of rows, in calls of 2,000 rows; a call takes `callMs`. */
class World {
  readonly storage = new MemoryRepairStorage();
  readonly scheduler = new SimScheduler();
  readonly calls: string[] = [];
  underWay = 0;
  together = 0;
  callMs = 1;

  constructor(readonly rows: Record<string, number>) {}

  /** A check as a controller's object makes it after a start. */
  async run(everything: boolean, forMs = Infinity): Promise<{ through: boolean; calls: string[] }> {
    const clock = this.scheduler.clock();
    const check = new OwnerCheck({
      clock,
      storage: this.storage,
      recorder: { log: () => undefined },
      owners: () => Promise.resolve(Object.keys(this.rows).reverse()),
      owner: (uid) => ({
        checkBitmap: async (after, limit) => {
          this.calls.push(`${uid} ${after}`);
          this.together = Math.max(this.together, ++this.underWay);
          await clock.sleep(this.callMs);
          this.underWay--;
          return { next: after + limit < (this.rows[uid] ?? 0) ? after + limit : 0, rebuilt: false };
        },
      }),
    });
    this.calls.length = 0;
    const through = await this.scheduler.run(check.run(everything, this.scheduler.now + forMs, new Pace(clock, 1)));
    return { through, calls: [...this.calls] };
  }
}

const many = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`o${String(i).padStart(3, "0")}`, 10]));

describe("ordinary check", () => {
  it("many owners: twenty each time, and from the beginning again after the last", async () => {
    const world = new World(many(45));
    const rounds = [];
    for (let i = 0; i < 4; i++) rounds.push(await world.run(false));
    expect(rounds.map(({ through, calls }) => [through, calls.length, calls[0]])).toEqual([
      [false, 20, "o000 0"],
      [false, 20, "o020 0"],
      [true, 5, "o040 0"],
      [false, 20, "o000 0"],
    ]);
  });

  it("owner with more rows than a page: the check ends there, and the next one goes on", async () => {
    const world = new World({ a: 10, b: 5_000, c: 10 });
    const rounds = [];
    for (let i = 0; i < 4; i++) rounds.push((await world.run(false)).calls);
    expect(rounds).toEqual([["a 0", "b 0"], ["b 2000"], ["b 4000", "c 0"], ["a 0", "b 0"]]);
  });

  it("next owner gone: begins anew", async () => {
    const world = new World(many(45));
    await world.run(false);
    await world.run(false);
    for (const uid of Object.keys(world.rows).slice(3)) delete world.rows[uid];
    expect((await world.run(false)).calls).toEqual(["o000 0", "o001 0", "o002 0"]);
  });
});

describe("check of everything", () => {
  it("owners: a few at a time, every row of each", async () => {
    const world = new World({ ...many(10), o004: 5_000, o005: 3_000 });
    const { through, calls } = await world.run(true);
    expect(through).toBe(true);
    expect([world.together, new Set(calls.map((call) => call.split(" ")[0])).size]).toEqual([4, 10]);
    expect(calls.filter((call) => call.startsWith("o004"))).toEqual(["o004 0", "o004 2000", "o004 4000"]);
    expect(calls).toContain("o005 2000");
  });

  it("end of its time: stops, and the next one goes on there", async () => {
    const world = new World(many(100));
    world.callMs = 50;
    const first = await world.run(true, 500);
    expect(first.through).toBe(false);
    expect(first.calls.length).toBeLessThan(40);
    const second = await world.run(true);
    expect([second.through, first.calls.length + second.calls.length]).toEqual([true, 100]);
  });
});
