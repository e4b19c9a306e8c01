import { expect, it } from "vitest";
import { Controller, type PassResult } from "../../../../src/controllers/frame/controller";
import type { ControllerStatus } from "../../../../src/controllers/frame/status";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

const REPORT = { read: 2, done: 1, putOff: 0, later: 0, waiting: 0, left: false };

class World {
  readonly scheduler = new SimScheduler();
  readonly begun = this.scheduler.now;
  result: PassResult | Error = { left: false };
  isOn = true;
  controller: Controller;

  /** @param rows absent = the controller keeps none */
  constructor(private readonly rows?: MemoryRowStorage) {
    this.controller = this.wake();
  }

  /** The object begins anew. */
  wake(): Controller {
    return (this.controller = new Controller(
      {
        clock: this.scheduler.clock(),
        recorder: { log: () => undefined },
        wakeAt: () => Promise.resolve(),
        cancelAlarm: () => Promise.resolve(),
        isOn: () => this.isOn,
        background: (work) => void work,
        restart: () => undefined,
        ...(this.rows && { tables: { rows: this.rows } }),
      },
      async () => {
        await this.scheduler.clock().sleep(10);
        if (this.result instanceof Error) throw this.result;
        return this.result;
      },
    ));
  }

  /** All times are counted from the beginning. */
  async status(): Promise<unknown> {
    const status = await this.controller.controllerStatus();
    return JSON.parse(JSON.stringify(status, (key, value: unknown) => (/Ms$/.test(key) ? Number(value) - this.begun : value)));
  }

  async pass(result: PassResult | Error): Promise<unknown> {
    this.result = result;
    await this.controller.poke();
    await this.scheduler.pass(10);
    return this.status();
  }
}

it("before the first pass, and during one: nothing is counted yet", async () => {
  const world = new World();
  const nothing = { sinceMs: 0, passes: 0, unfinished: 0, totals: { read: 0, done: 0, putOff: 0, later: 0 } };
  expect(await world.status()).toEqual(nothing);
  await world.controller.poke();
  expect(await world.status()).toEqual({ ...nothing, runningSinceMs: 0 });
});

it("passes that finish, leave work, are put off, and fail: each shows in the status; a pass that finishes ends the time of being behind", async () => {
  const world = new World();
  const done = { read: 2, done: 1, putOff: 0, later: 0 };
  expect(await world.pass({ left: false, againAt: world.begun + 60_000, report: REPORT })).toEqual({
    sinceMs: 0,
    passes: 1,
    unfinished: 0,
    totals: done,
    last: { ...REPORT, begunMs: 0, endedMs: 10 },
    nextMs: 60_000,
  });
  const left = { ...REPORT, done: 0, later: 1, left: true };
  expect(await world.pass({ left: true, report: left })).toMatchObject({ passes: 2, unfinished: 1, behindSinceMs: 20, nextMs: 520 });
  expect(await world.pass({ left: false, isPutOff: true })).toMatchObject({ passes: 2, unfinished: 1, last: { endedMs: 20 } });
  expect(await world.pass(new Error("broken"))).toMatchObject({
    passes: 3,
    unfinished: 2,
    behindSinceMs: 20,
    last: { error: "Error: broken", left: true },
    lastError: { atMs: 40, message: "Error: broken" },
  });
  // Passes in a period say to the loop that nothing is left, and to the status what is.
  expect(await world.pass({ left: false, report: left })).toMatchObject({ passes: 4, unfinished: 3, behindSinceMs: 20 });
  const after = (await world.pass({ left: false })) as ControllerStatus;
  expect(after).toMatchObject({ passes: 5, totals: { read: 6, done: 1, putOff: 0, later: 2 }, lastError: { atMs: 40 } });
  expect(after).not.toHaveProperty("behindSinceMs");
  void world.controller.alarm();
  expect(await world.status()).not.toHaveProperty("nextMs");
});

it("a controller that is switched off: has no status", async () => {
  const world = new World();
  world.isOn = false;
  expect(await world.controller.controllerStatus()).toBeNull();
});

it("a failure that lasts: is a row, written with its second pass, from which the next life knows since when; it goes with a pass that leaves nothing", async () => {
  const rows = new MemoryRowStorage();
  const world = new World(rows);
  await world.pass({ left: true });
  expect(rows.journal.commits).toBe(0);
  await world.pass(new Error("once"));
  await world.pass({ left: false });
  await world.pass(new Error("first"));
  expect(rows.journal.commits).toBe(0);
  await world.pass(new Error("second"));
  await world.pass(new Error("third"));
  expect(rows.journal.commits).toBe(1);
  world.wake();
  expect(await world.status()).toMatchObject({ passes: 0, behindSinceMs: 40, lastError: { atMs: 50, message: "Error: second" } });
  expect(await world.pass(new Error("last"))).toMatchObject({ behindSinceMs: 40, lastError: { atMs: 70, message: "Error: last" } });
  expect(rows.journal.commits).toBe(1);
  expect(await world.pass({ left: false })).not.toHaveProperty("behindSinceMs");
  await world.pass({ left: false });
  expect(rows.journal.commits).toBe(2);
  world.wake();
  expect(await world.status()).not.toHaveProperty("lastError");
});

it.each(["transaction", "rows"] as const)("a disk that fails at %s: a failure is in memory, and passes go on", async (method) => {
  const rows = new MemoryRowStorage();
  rows[method] = () => {
    throw new Error("disk full");
  };
  const world = new World(rows);
  await world.pass(new Error("first"));
  expect(await world.pass(new Error("second"))).toMatchObject({ behindSinceMs: 10, lastError: { message: "Error: second" } });
});
