/** Calls to the record of a cluster that come late: from an object that has ended, from an older generation, or about another life of the name. */
import { describe, expect, it } from "vitest";
import { ClusterRecord } from "../../../src/tenancy/cluster-record";
import { CLUSTER_GONE, type ClusterSource } from "../../../src/tenancy/rpc";
import { memoryRecordStorage } from "../../support/memory/record-storage";

const MINUTE = 60_000;
const hard = { pods: "5" };

class World {
  readonly storage = memoryRecordStorage();
  now = 1_000;
  alarmAt: number | undefined;
  /** what the list of all clusters waits for before it has the name */
  enlisting: Promise<void> = Promise.resolve();
  record = this.#start();

  #start(): ClusterRecord {
    return new ClusterRecord("blue", {
      storage: this.storage,
      clock: { now: () => this.now, sleep: () => Promise.resolve(), after: () => () => undefined, nextTurn: () => Promise.resolve() },
      recorder: { log: () => undefined },
      wakeAt: (atMs) => (this.alarmAt = atMs),
      objects: () => [{ kind: "store", name: "services" }],
      wipe: () => Promise.reject(new Error(CLUSTER_GONE)),
      tell: () => Promise.resolve(),
      beginWith: () => Promise.resolve(true),
      tellQuotas: () => Promise.resolve(),
      noteControllers: () => Promise.resolve(),
      forget: () => Promise.resolve(),
      isInDirectory: () => Promise.resolve(false),
      newStamp: () => "stamp",
      enlist: () => this.enlisting,
      noteLife: () => Promise.resolve(true),
      unlist: () => Promise.resolve(),
      noteBusy: () => undefined,
    });
  }

  restart(): void {
    this.record = this.#start();
    this.record.resume();
  }

  /** The cluster of this object begins, and ends. */
  async life(uid: string): Promise<void> {
    const { state } = await this.record.openWith(["10.1.0.0/16"], "weur", { uid, generation: 1 });
    await this.record.remove("id" in state ? state.id : "", { uid, generation: 1 });
    while (this.alarmAt !== undefined) {
      this.alarmAt = undefined;
      await this.record.alarm();
    }
  }
}

/** Everything that an object says of its cluster. */
const CALLS: readonly [what: string, call: (record: ClusterRecord, source: ClusterSource) => Promise<unknown>][] = [
  ["open", (record, source) => record.open(source)],
  ["open in a place", (record, source) => record.openIn("enam", source)],
  ["open with ranges", (record, source) => record.openWith(["10.9.0.0/16"], undefined, source)],
  ["controllers", (record, source) => record.setControllers(["*"], source)],
  ["quotas", (record, source) => record.setQuotas(hard, source)],
  ["remove", (record, source) => record.remove("", source)],
];

describe("a call of an object that has ended", () => {
  it.each(CALLS)("%s: begins no cluster, and changes nothing in the next one, behind a restart, too", async (_, call) => {
    const world = new World();
    await world.life("u1");
    world.restart();
    await call(world.record, { uid: "u1", generation: 9 });
    expect(await world.record.look()).toEqual({ phase: "absent" });
    const begun = await world.record.openIn("weur", { uid: "u2", generation: 1 });
    expect(begun.opened).toBe(true);
    await call(world.record, { uid: "u1", generation: 9 });
    expect(await world.record.look()).toEqual(begun.state);
  });

  it("that ended before a cluster began for it: begins none", async () => {
    const world = new World();
    expect(await world.record.remove("", { uid: "u1", generation: 1 })).toEqual({ phase: "absent" });
    expect(await world.record.open({ uid: "u1", generation: 1 })).toEqual({ state: { phase: "absent" }, opened: false });
    expect((await world.record.open({ uid: "u2", generation: 1 })).opened).toBe(true);
  });

  it("that ends while the list of all clusters is told of its beginning: begins none", async () => {
    const world = new World();
    let told: () => void = () => undefined;
    world.enlisting = new Promise((resolve) => (told = resolve));
    const opening = world.record.open({ uid: "u1", generation: 1 });
    await world.record.remove("", { uid: "u1", generation: 1 });
    told();
    expect(await opening).toEqual({ state: { phase: "absent" }, opened: false });
  });

  it("a minute later no call is late any more: the object was brought back", async () => {
    const world = new World();
    await world.life("u1");
    world.now += MINUTE;
    expect((await world.record.open({ uid: "u1", generation: 1 })).opened).toBe(true);
  });

  it("of many lives within a minute: each is known", async () => {
    const world = new World();
    for (let i = 0; i < 20; i++) await world.life(`u${i}`);
    for (let i = 0; i < 20; i++) expect((await world.record.open({ uid: `u${i}` })).opened, `u${i}`).toBe(false);
    expect(world.storage.endedLoad()?.length).toBe(20);
    world.now += MINUTE;
    await world.life("next");
    expect(world.storage.endedLoad()?.map(({ uid }) => uid)).toEqual(["next"]);
  });
});

describe("quotas, and a list of controllers", () => {
  it.each(CALLS.filter(([what]) => what === "controllers" || what === "quotas"))(
    "%s: of another life than the one that is there, of an older generation, and of an object whose place another one has taken: change nothing",
    async (_, call) => {
      const world = new World();
      await world.life("u0");
      await world.record.open();
      for (const [record, source] of [
        ["setControllers", { uid: "u1", generation: 3 }],
        ["setQuotas", { uid: "u1", generation: 3 }],
      ] as const) {
        await (record === "setQuotas" ? world.record.setQuotas({ pods: "1" }, source) : world.record.setControllers(["a"], source));
      }
      const before = await world.record.look();
      expect(before).toMatchObject({ id: "blue~2", controllers: ["a"], quotas: { pods: "1" } });
      for (const late of [{ life: "blue" }, { uid: "u1", generation: 4, life: "blue" }, { uid: "u1", generation: 2 }]) {
        await call(world.record, late);
        expect(await world.record.look(), JSON.stringify(late)).toEqual(before);
      }
      await call(world.record, { uid: "u2", generation: 1, life: "blue~2" });
      const after = await world.record.look();
      expect(after).not.toEqual(before);
      await world.record.setControllers(["late"], { uid: "u1", generation: 5 });
      await world.record.setQuotas({ pods: "7" }, { uid: "u1", generation: 5 });
      expect(await world.record.look()).toEqual(after);
    },
  );

  it("an older generation, a minute later: its object was brought back, and counts", async () => {
    const world = new World();
    await world.record.open();
    await world.record.setQuotas({ pods: "1" }, { uid: "u", generation: 3 });
    world.now += MINUTE + 10;
    expect(await world.record.setQuotas(hard, { uid: "u", generation: 2 })).toMatchObject({ state: { quotas: hard } });
  });

  describe("of an object that somebody has removed by force, whose cluster another one has taken", () => {
    const A = { uid: "a", generation: 5, createdAt: 1_000 };
    const B = { uid: "b", generation: 1, createdAt: 3_000 };

    it.each([false, true])(
      "what comes late from it changes nothing, and the other one is not taken for ended (restart: %s)",
      async (dies) => {
        const world = new World();
        await world.record.open({ ...A, generation: 1 });
        await world.record.setControllers(["x"], B);
        if (dies) world.restart();
        const before = await world.record.look();
        expect(await world.record.setControllers([], A)).toEqual({ state: before, isTold: true, isLate: true });
        expect(await world.record.setQuotas(hard, A)).toEqual({ state: before, isTold: true, isLate: true });
        expect(world.storage.endedLoad()).toBeUndefined();
        const next = await world.record.setControllers(["y"], { ...B, generation: 2 });
        expect(next).toMatchObject({ state: { controllers: ["y"] }, isTold: true });
        expect(next).not.toHaveProperty("isLate");
      },
    );

    it("that is brought back a minute later: counts", async () => {
      const world = new World();
      await world.record.open();
      await world.record.setQuotas({ pods: "1" }, B);
      world.now += MINUTE + 10;
      expect(await world.record.setQuotas(hard, A)).toMatchObject({ state: { quotas: hard } });
    });

    it("of whose beginning a caller of the release before does not tell: the last word counts, as there", async () => {
      const world = new World();
      await world.record.open();
      await world.record.setQuotas({ pods: "1" }, { uid: "b", generation: 1 });
      expect(await world.record.setQuotas(hard, A)).toMatchObject({ state: { quotas: hard } });
    });
  });
});
