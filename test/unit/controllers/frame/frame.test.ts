import { describe, expect, it } from "vitest";
import type { WriteResult } from "../../../../src/api/rpc/store";
import type { Status } from "../../../../src/api/meta/status";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import type { PassResult } from "../../../../src/controllers/frame/controller";
import { type Description, type Followed, Frame } from "../../../../src/controllers/frame/frame";
import type { Plan } from "../../../../src/controllers/frame/planned-work";
import { type Outcome, outcomeOf } from "../../../../src/controllers/frame/round";
import { Watch } from "../../../../src/controllers/frame/watch";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

const refusal = (code: number): Status => ({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason: "Invalid" });
const REFUSED: Outcome = { refused: refusal(422) };

/** A frame whose parts note what becomes of them. `answers`: what becomes of the work of a name; done unless told otherwise. */
class World {
  readonly scheduler = new SimScheduler();
  /** what happened, in order */
  readonly seen: string[] = [];
  readonly logged: string[] = [];
  work: string[] = [];
  readonly answers: Record<string, Outcome | Error> = {};
  /** stores that cannot be read */
  readonly broken = new Set<string>();
  /** how long each write takes */
  writeMs = 1;
  failsToSave = false;
  failsToLoad = false;
  readonly frame: Frame<string>;

  constructor(description: Partial<Description<string>> = {}, plan: Partial<Plan<string>> = {}) {
    const clock = this.scheduler.clock();
    this.frame = new Frame<string>(
      { clock, recorder: { log: (_, event) => void this.logged.push(event) } },
      {
        rows: {
          load: () => {
            this.seen.push("load");
            if (this.failsToLoad) throw new Error("no disk");
          },
          save: () => {
            this.seen.push("save");
            if (this.failsToSave) throw new Error("disk full");
          },
        },
        keeps: [{ load: () => void this.seen.push("facts") }],
        follows: () => [this.store("first"), [this.store("second"), this.store("third")]],
        work: {
          plan: ({ isCurrent }) => {
            this.seen.push(isCurrent ? "plan" : "plan of a part");
            return this.work;
          },
          write: async (name) => {
            this.seen.push(name);
            await clock.sleep(this.writeMs);
            const answer = this.answers[name] ?? "done";
            if (answer instanceof Error) throw answer;
            return answer;
          },
          nameOf: (name) => name,
          atOnce: 1,
          ...plan,
        },
        saved: () => void this.seen.push("told"),
        ...description,
      },
    );
  }

  store(name: string): Followed {
    const pull = (): Promise<boolean> => {
      this.seen.push(`pull ${name}`);
      return Promise.resolve(!this.broken.has(name));
    };
    const { broken } = this;
    return {
      pull,
      read: 0,
      get failure() {
        return broken.has(name) ? `${name} is down` : undefined;
      },
    };
  }

  pass(isPoked = false): Promise<PassResult> {
    return this.scheduler.run(this.frame.pass(isPoked));
  }

  /** What happened since the last call. */
  take(): string[] {
    return this.seen.splice(0);
  }

  get now(): number {
    return this.scheduler.now;
  }
}

const PULLS = ["pull first", "pull second", "pull third"];

describe("a pass in the frame", () => {
  it("its order: rows are loaded once, each step is read, the plan is written, all is saved, then told", async () => {
    const world = new World();
    world.work = ["a", "b"];
    expect(await world.pass()).toMatchObject({ left: false, report: { done: 2, later: 0, putOff: 0, left: false } });
    expect(world.take()).toEqual(["load", "facts", ...PULLS, "plan", "a", "b", "save", "told"]);
    await world.pass();
    expect(world.take()).toEqual([...PULLS, "plan", "a", "b", "save", "told"]);
  });

  it.each<[string, string, Partial<Description<string>>, string[]]>([
    ["a store cannot be read: no later step is read, nothing is planned, and what was read is saved", "first", {}, ["pull first"]],
    ["one store of a step cannot be read: the others of the step are", "second", {}, PULLS],
    [
      "work may be done on a part: all steps are read, and the plan knows it",
      "first",
      { actsOnPart: true },
      [...PULLS, "plan of a part", "a"],
    ],
  ])("%s", async (_, broken, description, happens) => {
    const world = new World(description);
    world.work = ["a"];
    world.broken.add(broken);
    expect(await world.pass()).toMatchObject({ left: true, report: { left: true, error: `${broken} is down` } });
    expect(world.take()).toEqual(["load", "facts", ...happens, "save", "told"]);
  });

  it.each<[string, Outcome | Error, Partial<PassResult>, object, string[]]>([
    ["is done", "done", { left: false }, { done: 3, later: 0, putOff: 0, waiting: 0 }, ["a", "b", "c"]],
    ["needs nothing more", "none", { left: false }, { done: 2, later: 0, putOff: 0 }, ["a", "b", "c"]],
    ["has to be tried again", "later", { left: true }, { done: 2, later: 1, putOff: 0 }, ["a", "b", "c"]],
    ["fails", new Error("no answer"), { left: true }, { done: 2, later: 1, error: "no answer" }, ["a", "b", "c"]],
    ["gets no answer from its store", "silent", { left: true }, { done: 1, later: 2 }, ["a", "b"]],
    ["waits by itself", "waits", { left: false }, { done: 2, putOff: 1, waiting: 0 }, ["a", "b", "c"]],
    ["is refused", REFUSED, { left: false }, { done: 2, putOff: 1, waiting: 1 }, ["a", "b", "c"]],
  ])("a piece of work that %s: what becomes of the others and of the pass", async (_, answer, result, report, tried) => {
    const world = new World();
    world.work = ["a", "b", "c"];
    world.answers.b = answer;
    expect(await world.pass()).toMatchObject({ ...result, report });
    expect(world.take()).toEqual(["load", "facts", ...PULLS, "plan", ...tried, "save", "told"]);
  });

  it("refused work: is tried again after a minute, then after two; it is forgotten with the plan that lacks it, or when it succeeds", async () => {
    const world = new World({ follows: () => [] });
    const tries = async (): Promise<string[]> => (world.take(), await world.pass(), world.take().filter((one) => one === "a"));
    world.work = ["a"];
    world.answers.a = REFUSED;
    const begun = world.now;
    const { againAt = 0 } = await world.pass();
    expect(againAt - begun).toBeGreaterThanOrEqual(60_000);
    expect(await tries()).toEqual([]);
    await world.scheduler.pass(againAt - world.now);
    expect(await tries()).toEqual(["a"]);
    await world.scheduler.pass(60_000);
    expect(await tries()).toEqual([]);
    await world.scheduler.pass(60_000);
    world.answers.a = "done";
    expect(await tries()).toEqual(["a"]);
    expect(await tries()).toEqual(["a"]);
    world.answers.a = REFUSED;
    await world.pass();
    world.work = [];
    expect(await world.pass()).toMatchObject({ left: false, report: { waiting: 0 } });
    world.work = ["a"];
    expect(await tries()).toEqual(["a"]);
  });

  it("a store that was read says why something beside it was not: the status has it, and no work is left", async () => {
    const beside: Followed = { pull: () => Promise.resolve(true), read: 0, failure: "Leases are down" };
    const world = new World({ follows: () => [beside] });
    expect(await world.pass()).toMatchObject({ left: false, report: { left: false, error: "Leases are down" } });
  });

  it("the time of the next pass that cannot be found out: what was read is saved, and the pass is repeated", async () => {
    const world = new World({
      due: () => {
        throw new Error("no rows");
      },
    });
    expect(await world.pass()).toMatchObject({ left: true, report: { error: "no rows" } });
    expect(world.take()).toEqual(["load", "facts", ...PULLS, "plan", "save", "told"]);
  });

  it("a plan that cannot be made: what was read is saved, and the pass is repeated", async () => {
    const world = new World({}, { plan: () => Promise.reject(new Error("no list")) });
    expect(await world.pass()).toMatchObject({ left: true, report: { error: "no list" } });
    expect(world.take()).toEqual(["load", "facts", ...PULLS, "save", "told"]);
    expect(world.logged).toEqual(["controller pass failed"]);
  });

  it("rows that cannot be read: the pass rejects before anything else, and the next one reads them", async () => {
    const world = new World();
    world.failsToLoad = true;
    await expect(world.pass()).rejects.toThrow("no disk");
    expect(world.take()).toEqual(["load"]);
    world.failsToLoad = false;
    await world.pass();
    expect(world.take().slice(0, 3)).toEqual(["load", "facts", "pull first"]);
  });

  it("a save that fails: nothing is told, and the pass is repeated", async () => {
    const world = new World();
    world.failsToSave = true;
    expect(await world.pass()).toMatchObject({ left: true, report: { left: true, error: "disk full" } });
    expect(world.take()).toEqual(["load", "facts", ...PULLS, "plan", "save"]);
    expect(world.logged).toEqual(["a controller could not store what it learned"]);
    world.failsToSave = false;
    expect(await world.pass()).toMatchObject({ left: false });
    expect(world.take()).toEqual([...PULLS, "plan", "save", "told"]);
  });

  it("a budget that is used up: one piece is begun in any case, and the rest is left, or taken back", async () => {
    const back: string[] = [];
    for (const plan of [{}, { notBegun: (name: string) => void back.push(name) }]) {
      const world = new World({ budgetMs: 100 }, plan);
      world.writeMs = 1_000;
      world.work = ["a", "b", "c"];
      const { left, report } = await world.pass();
      expect([left, report?.later]).toEqual("notBegun" in plan ? [false, 0] : [true, 2]);
      expect(world.take()).toEqual(["load", "facts", ...PULLS, "plan", "a", "save", "told"]);
    }
    expect(back).toEqual(["b", "c"]);
  });

  it("further rounds: while there is work at once and the budget lasts; the last one names when the next pass is due", async () => {
    let rounds = 0;
    const world = new World({ follows: () => [], goesOn: () => ++rounds < 3, due: () => world.now + 5_000 });
    world.work = ["a"];
    expect(await world.pass()).toMatchObject({ left: false, againAt: world.now + 5_000, report: { done: 3 } });
    expect(world.take().filter((one) => one === "save")).toHaveLength(3);
    const cut = new World({ follows: () => [], goesOn: () => true, budgetMs: 100 });
    cut.work = ["a"];
    expect(await cut.pass()).toMatchObject({ left: false, againAt: cut.now });
    const idle = new World({ follows: () => [], goesOn: ({ begun }) => begun > 0 });
    expect(await idle.pass()).not.toHaveProperty("againAt");
  });

  it("work as one function: counts by itself, and leaves what it says", async () => {
    const world = new World({
      work: (round) => {
        round.noteRead(7);
        round.note("done", 3);
        round.note("later", 2);
        return Promise.resolve();
      },
      retryAt: () => 4_711,
    });
    expect(await world.pass()).toMatchObject({ left: false, againAt: 4_711, report: { read: 7, done: 3, later: 2, left: true } });
  });

  it("events: the pass waits for them, but not for long", async () => {
    const world = new World({ events: { flush: () => new Promise(() => undefined) } });
    const begun = world.now;
    await world.pass();
    expect(world.now - begun).toBe(1_000);
  });

  it("passes at most once in a period: a poke in between is put off, once; work that is left is repeated without the loop's haste", async () => {
    const world = new World({ everyMs: 10_000, follows: () => [] });
    const begun = world.now;
    await world.pass(true);
    expect(await world.pass(true)).toEqual({ left: false, againAt: begun + 10_000, isPutOff: true });
    expect(await world.pass(true)).toEqual({ left: false, isPutOff: true });
    world.work = ["a"];
    world.answers.a = "later";
    expect(await world.pass(false)).toMatchObject({ left: false, againAt: world.now + 2_000, report: { left: true } });
  });
});

describe("an absence of the server", () => {
  it("is noticed by the first pass after it; a pass that takes long is none", async () => {
    const scheduler = new SimScheduler();
    const storage = new MemoryRowStorage();
    const away: number[] = [];
    let isWaiting = true;
    const life = (): Frame<string> => {
      const rows = new KeptRows(storage);
      const watch = new Watch(rows);
      return new Frame<string>(
        { clock: scheduler.clock(), recorder: { log: () => undefined } },
        {
          rows,
          keeps: [watch],
          work: {
            plan: () => ["a", "b"],
            nameOf: (name) => name,
            write: () =>
              scheduler
                .clock()
                .sleep(30_000)
                .then(() => "done"),
            atOnce: 1,
          },
          due: () => scheduler.now + 1_000,
          absence: { watch, isWaiting: () => isWaiting, away: (lateMs) => void away.push(lateMs) },
        },
      );
    };
    const frame = life();
    await scheduler.run(frame.run());
    await scheduler.pass(1_000);
    await scheduler.run(frame.run());
    expect(away).toEqual([]);
    await scheduler.pass(21_000);
    await scheduler.run(life().run());
    expect(away).toEqual([20_000]);
    isWaiting = false;
    await scheduler.pass(1_000);
    await scheduler.run(life().run());
    await scheduler.pass(100_000);
    await scheduler.run(life().run());
    expect(away).toEqual([20_000]);
  });
});

describe("the outcome of a write", () => {
  const terminating = { ...refusal(403), details: { causes: [{ reason: "NamespaceTerminating", message: "" }] } };
  it.each<[string, Status | undefined, Outcome]>([
    ["success", undefined, "done"],
    ["404", refusal(404), "none"],
    ["a namespace that is being emptied", terminating, "none"],
    ["409", refusal(409), "later"],
    ["429", refusal(429), "later"],
    ["503", refusal(503), "later"],
    ["403", refusal(403), { refused: refusal(403) }],
    ["422", refusal(422), { refused: refusal(422) }],
  ])("%s", (_, status, outcome) => {
    const answer: WriteResult = status
      ? { ok: false, status, warnings: [] }
      : { ok: true, code: 200, object: "{}", warnings: [], gone: false };
    expect(outcomeOf(answer)).toEqual(outcome);
  });
});
