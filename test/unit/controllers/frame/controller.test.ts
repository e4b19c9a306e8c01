import { describe, expect, it } from "vitest";
import {
  Controller,
  type Pass,
  PASS_MAX_MS,
  type PassResult,
  RESTART_WAIT_MS,
  RETRY_BASE_MS,
  RETRY_MAX_MS,
} from "../../../../src/controllers/frame/controller";
import { READ } from "../../../../src/api/rpc/store";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

/** A controller in virtual time with one alarm; `results` are what its passes answer, the last one for ever. */
class World {
  readonly scheduler = new SimScheduler();
  /** of each pass: when it began, counted from the beginning, and whether only pokes asked for it */
  readonly passes: { at: number; isPoked: boolean }[] = [];
  readonly logged: string[] = [];
  alarms = 0;
  restarts = 0;
  isAlarmBroken = false;
  /** how often a visit was asked for; undefined = that fails */
  visits: number | undefined = 0;
  isOn = true;
  /** a call that sets the alarm is not answered before this */
  alarmAnswers: Promise<void> = Promise.resolve();
  passMs = 0;
  controller: Controller;
  readonly #start = this.scheduler.now;
  #cancel: () => void = () => undefined;

  /** `enter`: makes the object known to full visits */
  constructor(
    private readonly results: (PassResult | Error)[],
    private readonly enter?: () => Promise<void>,
  ) {
    this.controller = this.#made();
  }

  get at(): number[] {
    return this.passes.map(({ at }) => at);
  }

  pass(durationMs: number): Promise<void> {
    return this.scheduler.pass(durationMs);
  }

  /** The object's memory is new: what ran in the old one hears nothing any more. */
  #made(): Controller {
    const life = this.restarts;
    const clock = this.scheduler.clock(() => life === this.restarts);
    const pass: Pass = async (isPoked) => {
      this.passes.push({ at: clock.now() - this.#start, isPoked });
      const result = (this.results.length > 1 ? this.results.shift() : this.results[0]) ?? { left: false };
      await clock.sleep(this.passMs);
      if (result instanceof Error) throw result;
      return result;
    };
    return new Controller(
      {
        clock,
        recorder: { log: (level, event) => void this.logged.push(`${level} ${event}`) },
        wakeAt: (atMs) => this.#wakeAt(atMs),
        background: (work) => void work,
        askVisit: () => (this.visits === undefined ? Promise.reject(new Error("down")) : Promise.resolve(this.visits++)),
        ...(this.enter && { enter: this.enter }),
        cancelAlarm: () => {
          this.#cancel();
          return Promise.resolve();
        },
        isOn: () => this.isOn,
        restart: () => {
          this.restarts++;
          this.controller = this.#made();
        },
      },
      pass,
    );
  }

  #wakeAt(atMs: number): Promise<void> {
    if (this.isAlarmBroken) return Promise.reject(new Error("no alarm today"));
    this.alarms++;
    this.#cancel();
    this.#cancel = this.scheduler.after(atMs - this.scheduler.now, () => void this.controller.alarm());
    return this.alarmAnswers;
  }
}

describe("the loop of a controller", () => {
  it("a poke: answers before its pass is over, which is the only one", async () => {
    const world = new World([{ left: false }]);
    world.passMs = 5_000;
    await world.scheduler.run(world.controller.poke(), 1);
    await world.pass(60_000);
    expect(world.passes).toEqual([{ at: 0, isPoked: true }]);
    expect(world.alarms).toBe(0);
  });

  it("its first pass: the object is known to full visits before it; where that fails the pass is made, and the next run tries again", async () => {
    let isDown = true;
    /** how many passes there had been */
    const entered: number[] = [];
    const world = new World([{ left: false }], () =>
      isDown ? Promise.reject(new Error("down")) : Promise.resolve(void entered.push(world.passes.length)),
    );
    const run = async (): Promise<number> => {
      await world.controller.poke();
      await world.pass(60_000);
      return world.passes.length;
    };
    expect([await run(), world.logged]).toEqual([1, ["warn a controller could not enter the list of visits"]]);
    isDown = false;
    expect([await run(), await run(), entered]).toEqual([2, 3, [1]]);
  });

  it("pokes during a pass: cause one more pass, after it", async () => {
    const world = new World([{ left: false }]);
    world.passMs = 1_000;
    for (const waitMs of [300, 300, 10_000]) {
      await world.controller.poke();
      await world.pass(waitMs);
    }
    expect(world.at).toEqual([0, 1_000]);
  });

  /** What becomes of a poke that waits, with when that was. */
  const outcomeOf = (world: World, poke: Promise<unknown>): { text: string } => {
    const seen = { text: "waits" };
    const at = (): number => world.scheduler.now - begun;
    const begun = world.scheduler.now;
    poke.then(
      (answer) => (seen.text = `${answer === READ ? "answered" : "taken"} ${String(at())}`),
      () => (seen.text = `failed ${String(at())}`),
    );
    return seen;
  };

  it("a poke that waits: is answered when its pass is over; one during a pass when the next one is", async () => {
    const world = new World([{ left: false }]);
    world.passMs = 1_000;
    const first = outcomeOf(world, world.controller.poke(undefined, true));
    await world.pass(300);
    const second = outcomeOf(world, world.controller.poke(undefined, true));
    await world.pass(10_000);
    expect([first.text, second.text, world.at]).toEqual(["answered 1000", "answered 1700", [0, 1_000]]);
  });

  it("a poke that does not wait: is taken; one of a controller that is switched off: has nothing to wait for", async () => {
    const world = new World([{ left: false }]);
    expect(await world.controller.poke()).toBe(undefined);
    world.isOn = false;
    expect(await world.controller.poke(undefined, true)).toBe(READ);
  });

  it("a poke that waits for a pass which leaves work: is answered when the alarm is set", async () => {
    const world = new World([new Error("down"), { left: false }]);
    const seen = outcomeOf(world, world.controller.poke(undefined, true));
    await world.pass(100);
    expect([seen.text, world.alarms, world.visits]).toEqual(["answered 0", 1, 0]);
  });

  it("a poke that waits, an alarm that cannot be set: a visit is asked for; where that fails too, the poke fails", async () => {
    const world = new World([{ left: true }]);
    world.isAlarmBroken = true;
    const seen = outcomeOf(world, world.controller.poke(undefined, true));
    await world.pass(100);
    expect([seen.text, world.visits]).toEqual(["answered 0", 1]);
    world.visits = undefined;
    const next = outcomeOf(world, world.controller.poke(undefined, true));
    await world.pass(100);
    expect(next.text).toBe("failed 0");
  });

  it("a controller that is switched on: asks for a visit before its first pass, which may be lost", async () => {
    const world = new World([{ left: false }]);
    await world.controller.switched();
    expect([world.visits, world.at]).toEqual([1, [0]]);
  });

  it("a pass that leaves work: is repeated after waits that double up to the longest one", async () => {
    const world = new World([{ left: true }]);
    await world.controller.poke();
    await world.pass(120_000);
    const waits = world.at.slice(1).map((at, i) => at - (world.at[i] ?? 0));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect([waits[0], waits.at(-1)]).toEqual([RETRY_BASE_MS, RETRY_MAX_MS]);
  });

  it("a pass that fails: is logged, and repeated like one that left work", async () => {
    const world = new World([new Error("down"), { left: false }]);
    await world.controller.poke();
    await world.pass(60_000);
    expect([world.at, world.logged]).toEqual([[0, 500], ["warn controller pass failed"]]);
  });

  it("a poke after failures: begins the waits anew", async () => {
    const world = new World([{ left: true }]);
    await world.controller.poke();
    await world.pass(20_000);
    const before = world.passes.length;
    await world.controller.poke();
    await world.pass(1_600);
    const [first = 0, second = 0, third = 0] = world.at.slice(before);
    expect([second - first, third - second]).toEqual([500, 1_000]);
  });

  it("a finished pass after repeated ones: begins the waits anew", async () => {
    const world = new World([{ left: true }, { left: true }, { left: false, againAt: 0 }, { left: true }, { left: false }]);
    await world.controller.poke();
    await world.pass(60_000);
    expect(world.at).toEqual([0, 500, 1_500, 2_000, 2_500]);
  });

  it("a time that a pass names: is the next pass's, but no sooner than the shortest wait", async () => {
    const world = new World([{ left: false }]);
    const start = world.scheduler.now;
    const later = new World([{ left: false, againAt: start + 7_000 }, { left: false, againAt: start }, { left: false }]);
    await later.controller.poke();
    await later.pass(60_000);
    expect(later.at).toEqual([0, 7_000, 7_500]);
  });

  it("origin of a pass: poked only while nothing but pokes has asked for the pass", async () => {
    const world = new World([{ left: true }, { left: false }]);
    await world.controller.poke();
    await world.pass(10_000);
    await world.controller.ask();
    await world.pass(10_000);
    await world.controller.poke();
    await world.pass(10_000);
    expect(world.passes.map(({ isPoked }) => isPoked)).toEqual([true, false, false, true]);
  });

  it("a poke and cron during one pass: the pass behind it counts as cron's", async () => {
    const world = new World([{ left: false }]);
    world.passMs = 1_000;
    await world.controller.poke();
    await world.controller.ask();
    await world.controller.poke();
    await world.pass(10_000);
    expect(world.passes.map(({ isPoked }) => isPoked)).toEqual([true, false]);
  });

  it("an alarm that cannot be set: is logged, ends neither the pass nor the one asked for meanwhile, and the next poke works", async () => {
    const world = new World([{ left: true }, { left: true }, { left: false }]);
    world.isAlarmBroken = true;
    world.passMs = 1_000;
    await world.controller.poke();
    await world.controller.poke();
    await expect(world.scheduler.run(world.controller.alarm())).resolves.toBeUndefined();
    expect(world.at).toEqual([0, 1_000]);
    expect(world.logged).toEqual(Array.from({ length: 2 }, () => "warn the alarm of a controller could not be set"));
    await world.pass(60_000);
    expect(world.passes).toHaveLength(2);
    world.isAlarmBroken = false;
    await world.controller.poke();
    await world.pass(60_000);
    expect(world.passes).toHaveLength(3);
  });

  it("a poke in any turn around the end of a pass: causes one more pass", async () => {
    for (let turns = 0; turns < 20; turns++) {
      let end: (result: PassResult) => void = () => undefined;
      let passes = 0;
      const { scheduler } = new World([]);
      const controller = new Controller(
        {
          clock: scheduler.clock(),
          recorder: { log: () => undefined },
          wakeAt: () => Promise.resolve(),
          background: (work) => void work,
          restart: () => undefined,
          cancelAlarm: () => Promise.resolve(),
          isOn: () => true,
        },
        () => {
          passes++;
          return new Promise((resolve) => (end = resolve));
        },
      );
      await controller.poke();
      end({ left: false });
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await controller.poke();
      await scheduler.pass(1);
      expect([turns, passes]).toEqual([turns, 2]);
    }
  });

  it("a pass that never ends: is logged, its object restarts after PASS_MAX_MS, and the alarm goes on", async () => {
    const world = new World([{ left: false }]);
    world.passMs = Infinity;
    await world.controller.poke();
    await world.controller.poke();
    await world.pass(PASS_MAX_MS - 1);
    expect([world.at, world.restarts]).toEqual([[0], 0]);
    world.passMs = 0;
    await world.pass(60_000);
    expect([world.at, world.restarts]).toEqual([[0, PASS_MAX_MS + RETRY_BASE_MS], 1]);
    expect(world.logged).toEqual(["error controller pass does not end, its object restarts"]);
    await world.controller.poke();
    await world.pass(PASS_MAX_MS);
    expect([world.passes.length, world.restarts]).toEqual([3, 1]);
  });

  it("a pass that never ends, and an alarm that cannot be set: the object restarts all the same, and the next poke works", async () => {
    const world = new World([{ left: false }]);
    world.isAlarmBroken = true;
    world.passMs = Infinity;
    await world.controller.poke();
    await world.pass(PASS_MAX_MS);
    expect(world.restarts).toBe(1);
    world.passMs = 0;
    await world.controller.poke();
    await world.pass(1);
    expect(world.passes).toHaveLength(2);
  });

  it("a pass that never ends, and an alarm that does not answer: the object restarts a little later", async () => {
    const world = new World([{ left: false }]);
    world.alarmAnswers = new Promise(() => undefined);
    world.passMs = Infinity;
    await world.controller.poke();
    await world.pass(PASS_MAX_MS);
    expect(world.restarts).toBe(0);
    await world.pass(RESTART_WAIT_MS);
    expect(world.restarts).toBe(1);
    world.passMs = 0;
    await world.controller.poke();
    await world.pass(1);
    expect(world.passes).toHaveLength(2);
  });

  it("a pass that ends while the alarm of its restart is set: its object goes on without a restart or an error", async () => {
    const world = new World([{ left: false }]);
    let answer: () => void = () => undefined;
    world.alarmAnswers = new Promise((resolve) => (answer = resolve));
    world.passMs = PASS_MAX_MS + 1;
    await world.controller.poke();
    await world.pass(PASS_MAX_MS + 2);
    answer();
    world.passMs = 0;
    await world.pass(60_000);
    expect([world.restarts, world.logged]).toEqual([0, []]);
    await world.controller.poke();
    await world.pass(1);
    expect(world.at.slice(2)).toEqual([PASS_MAX_MS + 60_002]);
  });

  it("passes one after the other: each has PASS_MAX_MS of its own", async () => {
    const world = new World([{ left: false }]);
    world.passMs = PASS_MAX_MS - 1;
    await world.controller.poke();
    await world.controller.poke();
    await world.pass(3 * PASS_MAX_MS);
    expect([world.at, world.restarts]).toEqual([[0, PASS_MAX_MS - 1], 0]);
  });

  it("a controller that is off: neither a poke nor its alarm begins a pass; switched on, it looks at everything at once", async () => {
    const world = new World([{ left: true }, { left: false }]);
    await world.controller.poke();
    await world.pass(1);
    world.isOn = false;
    await world.controller.switched();
    await world.controller.poke();
    await world.controller.alarm();
    await world.pass(PASS_MAX_MS);
    expect(world.passes).toEqual([{ at: 0, isPoked: true }]);
    world.isOn = true;
    await world.controller.switched();
    await world.pass(1);
    expect(world.passes.slice(1)).toEqual([{ at: PASS_MAX_MS + 1, isPoked: false }]);
  });

  it.each([{ left: true }, { left: false, againAt: 0 }])(
    "switched off during a pass that ends with %j: no alarm is set",
    async (result) => {
      const world = new World([result]);
      world.passMs = 1_000;
      await world.controller.poke();
      await world.controller.poke();
      await world.pass(500);
      world.isOn = false;
      await world.controller.switched();
      await world.pass(PASS_MAX_MS);
      expect([world.at, world.alarms]).toEqual([[0], 0]);
    },
  );

  it("switched off and on during a pass: the next one follows", async () => {
    const world = new World([{ left: false }]);
    world.passMs = 1_000;
    await world.controller.poke();
    for (const isOn of [false, true]) {
      world.isOn = isOn;
      await world.controller.switched();
    }
    await world.pass(5_000);
    expect(world.at).toEqual([0, 1_000]);
  });
});
