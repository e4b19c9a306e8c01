import { describe, expect, it } from "vitest";
import { forbidden, serviceUnavailable, type Status } from "../../../../src/api/meta/status";
import { namespacesDefinition } from "../../../../src/api/registry/namespaces/definition";
import { resourceQuotasDefinition } from "../../../../src/api/registry/resource-quotas/definition";
import type { WriteResult } from "../../../../src/api/rpc/store";
import { QuotaSeeds, SEED_WAIT_MS } from "../../../../src/controllers/namespaces/quota-seeds";
import type { NamespaceQuotas } from "../../../../src/api/rpc/namespace-quotas";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { StoreWorld } from "../../../support/worlds/store-world";

const HARD = { "count/services": "5", pods: "10" };

/** A store of Namespaces whose object may die, and the quotas that it makes. */
class World {
  readonly scheduler = new SimScheduler();
  kept: NamespaceQuotas | undefined;
  readonly owed = new Set<string>();
  /** namespace -> spec.hard */
  readonly made = new Map<string, unknown>();
  calls = 0;
  /** how many times the values on the disk were looked at */
  reads = 0;
  alarmAt = Infinity;
  answer: (make: () => WriteResult) => Promise<WriteResult> = (make) => Promise.resolve(make());
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
      },
    });
  }

  #begin(): QuotaSeeds {
    return new QuotaSeeds({
      clock: this.scheduler.clock(),
      recorder: { log: () => undefined },
      notes: {
        quotas: () => (this.reads++, this.kept),
        quotasSave: (quotas) => (this.kept = quotas),
        owed: (limit) => [...this.owed].slice(0, limit),
        owe: (namespace) => void this.owed.add(namespace),
        settle: (namespace) => void this.owed.delete(namespace),
      },
      resourceQuotas: () => ({
        write: (request) => {
          this.calls++;
          return this.answer(() => this.#make(request as { object: string }));
        },
      }),
      setAlarm: (atMs) => (this.alarmAt = atMs),
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

  /** The alarm rings as long as there is one, at most so often. */
  async alarms(most = 20): Promise<void> {
    for (let i = 0; i < most && this.alarmAt < Infinity; i++) {
      this.alarmAt = Infinity;
      await this.seeds.make();
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
    expect([...world.owed]).toEqual(["a"]);
    world.restart();
    await world.alarms(2);
    expect([...world.owed, world.alarmAt < Infinity]).toEqual(["a", true]);
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
    for (let i = 0; i < 250; i++) world.owed.add(`n${i}`);
    world.alarmAt = 1;
    await world.alarms();
    expect([world.made.size, world.owed.size, world.alarmAt]).toEqual([250, 0, Infinity]);
  });
});
