import { describe, expect, it } from "vitest";
import { forbidden, serviceUnavailable, type Status } from "../../../../src/api/meta/status";
import { namespacesDefinition } from "../../../../src/api/registry/namespaces/definition";
import { resourceQuotasDefinition } from "../../../../src/api/registry/resource-quotas/definition";
import type { WriteResult } from "../../../../src/api/rpc/store";
import { type KeptQuotas, type OwedQuota, QuotaSeeds, SEED_WAIT_MS } from "../../../../src/controllers/namespaces/quota-seeds";
import { PartsAlarm } from "../../../../src/core/turns/parts-alarm";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { StoreWorld, WRITE } from "../../../support/worlds/store-world";

const HARD = { "count/services": "5", pods: "10" };

/** A store of Namespaces whose object may die, and the quotas that it makes. */
class World {
  readonly scheduler = new SimScheduler();
  kept: KeptQuotas | undefined;
  readonly owed = new Map<string, OwedQuota>();
  /** namespace -> spec.hard */
  readonly made = new Map<string, unknown>();
  calls = 0;
  /** how many times the values on the disk were looked at */
  reads = 0;
  alarmAt = Infinity;
  answer: (make: () => WriteResult, namespace: string) => Promise<WriteResult> = (make) => Promise.resolve(make());
  /** questions to the record, and whether it answers */
  questions = 0;
  askRecord: () => Promise<void> = () => Promise.resolve();
  alarm!: PartsAlarm;
  seeds = this.#begin();
  readonly world: StoreWorld;
  #part = this.seeds.extension();

  constructor() {
    this.world = new StoreWorld({
      definition: namespacesDefinition,
      scheduler: this.scheduler,
      extension: {
        committed: (change, operation) => this.#part.committed(change, operation),
        settled: (operation) => this.#part.settled(operation),
        writeUndone: () => this.#part.writeUndone(),
        turnLost: () => this.#part.turnLost(),
      },
    });
  }

  #begin(): QuotaSeeds {
    const alarm = (this.alarm = new PartsAlarm(
      () => [this.seeds],
      (atMs) => (this.alarmAt = atMs),
    ));
    return new QuotaSeeds({
      clock: this.scheduler.clock(),
      recorder: { log: () => undefined },
      notes: {
        quotas: () => (this.reads++, this.kept),
        quotasSave: (quotas) => (this.kept = quotas),
        owed: () => [...this.owed],
        owe: (namespace, owed) => void this.owed.set(namespace, owed),
        settle: (namespace) => void this.owed.delete(namespace),
      },
      resourceQuotas: () => ({
        write: (request) => {
          this.calls++;
          const { namespace } = request as { namespace: string };
          return this.answer(() => this.#make(request as { object: string }), namespace);
        },
      }),
      askRecord: () => (this.questions++, this.askRecord()),
      wakeBy: (atMs) => alarm.by(atMs),
    });
  }

  #make({ object }: { object: string }): WriteResult {
    const { metadata, spec } = JSON.parse(object) as { metadata: { name: string; namespace: string }; spec: { hard: unknown } };
    this.made.set(`${metadata.namespace}/${metadata.name}`, spec.hard);
    return { ok: true, code: 201, object, warnings: [], gone: false };
  }

  /** The object dies, and begins again on the same rows. */
  restart(): void {
    this.seeds = this.#begin();
    this.#part = this.seeds.extension();
    this.world.restart();
  }

  create(name: string): Promise<{ ok: boolean }> {
    return this.world.create({ metadata: { name } }, { group: "" });
  }

  /** The alarm rings at its times as long as there is one, at most so often. */
  async alarms(most = 20): Promise<void> {
    for (let i = 0; i < most && this.alarmAt < Infinity; i++) {
      await this.scheduler.pass(Math.max(0, this.alarmAt - this.scheduler.now));
      this.alarmAt = Infinity;
      await this.scheduler.run(this.seeds.makeDue());
      this.alarm.rang();
    }
  }
}

const refused = (status: Status) => (): Promise<WriteResult> => Promise.resolve({ ok: false, status, warnings: [] });
const lost = (): Promise<WriteResult> => Promise.reject(new Error("the call was lost"));

describe("a new namespace", () => {
  it("in a cluster without quotas: costs one look at the disk in a life of the object, no call, no row and no alarm", async () => {
    const world = new World();
    for (const name of ["a", "b", "c"]) await world.create(name);
    expect([world.reads, world.calls, world.owed.size, world.alarmAt, world.world.stored("c") !== undefined]).toEqual([
      1,
      0,
      0,
      Infinity,
      true,
    ]);
  });

  it("in a cluster with quotas: has its quota before the answer, and nothing is owed", async () => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    await world.create("a");
    expect([Object.fromEntries(world.made), [...world.owed]]).toEqual([{ "a/initial": HARD }, []]);
    await world.alarms();
    expect([world.calls, world.alarmAt]).toEqual([1, Infinity]);
  });

  it("the object dies before its quota is made: the alarm of its own transaction makes it", async () => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    world.answer = () => new Promise(() => undefined);
    const begunAt = world.scheduler.now;
    void world.world.store.write({ verb: "create", namespace: "", object: '{"metadata":{"name":"a"}}', options: { ...WRITE, group: "" } });
    await world.scheduler.pass(10);
    expect([...world.owed.keys(), world.alarmAt - begunAt < 1_100]).toEqual(["a", true]);
    world.answer = (make) => Promise.resolve(make());
    world.restart();
    await world.alarms();
    expect([Object.fromEntries(world.made), world.owed.size, world.alarmAt]).toEqual([{ "a/initial": HARD }, 0, Infinity]);
  });

  it("later changes of it, and namespaces that are there: get none", async () => {
    const world = new World();
    await world.create("a");
    world.seeds.set({ version: 1, hard: HARD });
    await world.world.update({ metadata: { name: "a", labels: { x: "y" } } }, { group: "" });
    expect(world.calls).toBe(0);
  });

  it("quotas that were set again, late or taken away: the newest ones count", async () => {
    const world = new World();
    world.seeds.set({ version: 2, hard: HARD });
    world.seeds.set({ version: 1, hard: { pods: "1" } });
    await world.create("a");
    world.seeds.set({ version: 3, hard: null });
    world.restart();
    await world.create("b");
    expect(Object.fromEntries(world.made)).toEqual({ "a/initial": HARD });
  });
});

describe("a store of ResourceQuotas", () => {
  it.each([
    ["loses the call", lost],
    ["is in trouble", refused(serviceUnavailable("silent", 1))],
  ])("that %s: the alarm tries again, also behind a death of the object", async (_, answer) => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    world.answer = answer;
    await world.create("a");
    expect([...world.owed.keys()]).toEqual(["a"]);
    world.restart();
    await world.alarms(2);
    expect([...world.owed.keys(), world.alarmAt < Infinity]).toEqual(["a", true]);
    world.answer = (make) => Promise.resolve(make());
    await world.alarms();
    expect([Object.fromEntries(world.made), world.owed.size, world.alarmAt]).toEqual([{ "a/initial": HARD }, 0, Infinity]);
  });

  it("that is silent: the answer to the create waits no longer than it may", async () => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    world.answer = () => new Promise(() => undefined);
    const begun = world.scheduler.clock().now();
    await world.create("a");
    expect(world.scheduler.clock().now() - begun).toBe(SEED_WAIT_MS);
  });

  it.each([
    ["has one of the name", { ...serviceUnavailable("there", 1), code: 409, reason: "AlreadyExists" }],
    ["refuses it for good", forbidden(resourceQuotasDefinition, "initial", "no")],
  ])("that %s: nothing is owed any more", async (_, status) => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    world.answer = refused(status as Status);
    await world.create("a");
    await world.alarms();
    expect([world.owed.size, world.calls]).toEqual([0, 1]);
  });

  it("more namespaces than one run takes: all get theirs", async () => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    for (let i = 0; i < 250; i++) world.owed.set(`n${i}`, { failures: 0, dueAt: 0 });
    world.alarmAt = 1;
    await world.alarms();
    expect([world.made.size, world.owed.size, world.alarmAt]).toEqual([250, 0, Infinity]);
  });

  it("fails for one namespace for ever: the others have theirs before their answers, and it is tried ever more rarely, behind deaths, too", async () => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    const tries: number[] = [];
    world.answer = (make, namespace) => {
      if (namespace !== "a") return Promise.resolve(make());
      tries.push(world.scheduler.now);
      return lost();
    };
    await world.create("a");
    await world.create("b");
    expect(world.made.has("b/initial")).toBe(true);
    const begun = world.calls;
    for (let i = 0; i < 12; i++) {
      world.restart();
      await world.alarms(1);
    }
    expect(world.calls - begun).toBe(12);
    const waits = tries.slice(1).map((at, i) => Math.round((at - (tries[i] ?? 0)) / 1_000));
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]);
    for (const name of ["c", "d"]) await world.create(name);
    expect([...world.made.keys()]).toEqual(["b/initial", "c/initial", "d/initial"]);
  });

  it("is silent for one namespace: the quota of the next one does not wait for it", async () => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    world.answer = (make, namespace) => (namespace === "a" ? new Promise(() => undefined) : Promise.resolve(make()));
    await world.create("a");
    const begun = world.scheduler.now;
    await world.create("b");
    expect([world.made.has("b/initial"), world.scheduler.now - begun < 100]).toEqual([true, true]);
  });

  it("is in trouble with a thousand owed: a run asks few times, and all get theirs when it is over", async () => {
    const world = new World();
    world.seeds.set({ version: 1, hard: HARD });
    for (let i = 0; i < 1_000; i++) world.owed.set(`n${i}`, { failures: 0, dueAt: 0 });
    world.answer = lost;
    world.alarmAt = world.scheduler.now;
    const begun = world.scheduler.now;
    await world.alarms(60);
    expect(world.calls).toBeLessThanOrEqual(60 * 12);
    expect(world.scheduler.now - begun).toBeGreaterThan(50_000);
    world.answer = (make) => Promise.resolve(make());
    await world.alarms(200);
    expect([world.made.size, world.owed.size, world.alarmAt]).toEqual([1_000, 0, Infinity]);
  });
});

describe("a store of Namespaces that was brought back in time", () => {
  it("asks the record for its quotas until that has promised to tell them, behind a death, too", async () => {
    const world = new World();
    world.askRecord = () => Promise.reject(new Error("silent"));
    world.seeds.beginAnew();
    await world.alarms(3);
    world.restart();
    await world.alarms(2);
    expect(world.questions).toBe(5);
    world.askRecord = () => Promise.resolve();
    await world.alarms();
    expect([world.questions, world.alarmAt, world.kept]).toEqual([6, Infinity, { version: 0, hard: null }]);
    world.seeds.set({ version: 7, hard: HARD });
    await world.create("a");
    expect(Object.fromEntries(world.made)).toEqual({ "a/initial": HARD });
  });

  it("is told meanwhile: stays in doubt, as that may have been an older word", async () => {
    const world = new World();
    world.seeds.beginAnew();
    world.seeds.set({ version: 7, hard: HARD });
    world.restart();
    await world.alarms();
    expect([world.questions, world.kept]).toEqual([1, { version: 7, hard: HARD }]);
  });
});
