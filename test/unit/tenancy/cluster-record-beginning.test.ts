/** The record of a cluster that begins with Service ranges of its own, or whose namespaces start with quotas. */
import { describe, expect, it, vi } from "vitest";
import type { NamespaceQuotas } from "../../../src/api/rpc/namespace-quotas";
import { ClusterRecord } from "../../../src/tenancy/cluster-record";
import { CLUSTER_GONE, type ListedCluster } from "../../../src/tenancy/rpc";
import { PATIENCE } from "../../support/objects/patience";
import { memoryRecordStorage } from "../../support/memory/record-storage";

const RANGES = ["10.1.0.0/16", "fd01::/112"];
const SECOND = "blue~2";

class World {
  readonly storage = memoryRecordStorage();
  /** everything that leaves the record, in its order */
  readonly events: string[] = [];
  /** what the objects know: ranges by the id of the life */
  readonly known = new Map<string, string>();
  /** the call that is lost, counted from 1, and whether it has had its effect */
  lost = { nth: 0, after: false };
  calls = 0;
  isSilent = false;
  /** until then the objects do not answer what they begin with */
  held: Promise<void> | undefined;
  /** what the store of Namespaces knows */
  quotas: NamespaceQuotas | undefined;
  now = 1_000;
  alarmAt: number | undefined;
  record = this.#start();

  #start(): ClusterRecord {
    return new ClusterRecord("blue", {
      storage: this.storage,
      clock: {
        now: () => this.now,
        sleep: () => Promise.resolve(),
        after: () => () => undefined,
        nextTurn: () => Promise.resolve(),
      },
      recorder: { log: () => undefined },
      wakeAt: (atMs) => (this.alarmAt = atMs),
      objects: () => [{ kind: "store", name: "services" }],
      wipe: () => Promise.reject(new Error(CLUSTER_GONE)),
      tell: () => this.#call("tell", () => undefined),
      beginWith: async (id, ranges) => {
        const held = this.held;
        if (held) this.calls++;
        await held;
        return this.#call(`begin ${id}`, () => {
          if (this.isSilent) throw new Error("silent");
          const own = this.known.get(id) ?? ranges.join();
          this.known.set(id, own);
          return own === ranges.join();
        });
      },
      tellQuotas: (id, quotas) =>
        this.#call(`quotas ${id}`, () => {
          if (this.isSilent) throw new Error("silent");
          if ((this.quotas?.version ?? 0) < quotas.version) this.quotas = quotas;
        }),
      noteControllers: () => Promise.resolve(),
      forget: () => this.#call("forget", () => undefined),
      isInDirectory: () => Promise.resolve(false),
      newStamp: () => "stamp",
      enlist: () => this.#call("enlist", () => undefined),
      noteLife: (id, { facts }: Omit<ListedCluster, "name">) => this.#call(`life ${facts?.id ?? String(id)}`, () => true),
      unlist: () => this.#call("unlist", () => undefined),
      noteBusy: (id) => void this.events.push(`busy ${id}`),
    });
  }

  async #call<T>(event: string, effect: () => T): Promise<T> {
    const isLost = ++this.calls === this.lost.nth;
    if (isLost && !this.lost.after) throw new Error("lost before");
    const answer = await Promise.resolve().then(effect);
    this.events.push(event);
    if (isLost) throw new Error("lost after");
    return answer;
  }

  restart(): void {
    this.record = this.#start();
    this.record.resume();
  }

  /** Alarms, with the object started anew before each one, until there is none or so many have rung. */
  async settle(most = 20): Promise<void> {
    for (let alarms = 0; this.alarmAt !== undefined && alarms < most; alarms++) {
      this.now = Math.max(this.now, this.alarmAt);
      this.alarmAt = undefined;
      this.record = this.#start();
      await this.record.alarm();
    }
  }
}

describe("a cluster with ranges of its own", () => {
  it("begins: its objects know them before cron and the list of all clusters hear of its id, once", async () => {
    const world = new World();
    const made = await world.record.openWith(RANGES, undefined);
    expect(made).toMatchObject({ opened: true, state: { phase: "active", id: "blue", serviceRanges: RANGES } });
    expect(await world.record.openWith(["10.2.0.0/16"], undefined)).toMatchObject({ opened: false, state: { serviceRanges: RANGES } });
    world.restart();
    expect(await world.record.look()).toMatchObject({ serviceRanges: RANGES });
    await world.settle();
    expect(world.events).toEqual(["enlist", "begin blue", "busy blue", "life blue"]);
  });

  it("has the place that it asks for, too", async () => {
    const world = new World();
    const { state } = await world.record.openWith(RANGES, "weur");
    expect(state).toMatchObject({ id: "blue~4000000001", serviceRanges: RANGES });
  });

  it("two that begin it at once, one of them without ranges: the objects are asked once, and both see one cluster", async () => {
    const world = new World();
    const [one, other] = await Promise.all([world.record.openWith(RANGES, undefined), world.record.open()]);
    expect([one.opened, other.opened, one.state]).toEqual([true, false, other.state]);
    expect(world.events.filter((event) => event === "begin blue")).toHaveLength(1);
  });

  it.each([1, 2, 3].flatMap((nth) => [false, true].map((after) => ({ nth, after }))))(
    "call $nth is lost (behind its effect: $after): the alarm goes on, and nobody hears of the id before the objects know the ranges",
    async (lost) => {
      const world = new World();
      world.lost = lost;
      const begun = await world.record.openWith(RANGES, undefined).then(
        () => true,
        () => false,
      );
      world.restart();
      await world.settle();
      // Where the list did not answer nothing has begun, and whoever asks asks again.
      if (!begun && world.known.size === 0) await world.record.openWith(RANGES, undefined);
      await world.settle();
      expect(await world.record.look()).toMatchObject({ phase: "active", serviceRanges: RANGES });
      expect(world.known).toEqual(new Map([["blue", RANGES.join()]]));
      const heard = world.events.findIndex((event) => event === "busy blue" || event === "life blue");
      expect(world.events.indexOf("begin blue")).toBeGreaterThanOrEqual(0);
      expect(heard).toBeGreaterThan(world.events.indexOf("begin blue"));
      expect(world.events).toContain("busy blue");
    },
  );

  it("objects that do not answer: every look fails, the alarm goes on trying, and a deletion is possible", async () => {
    const world = new World();
    world.isSilent = true;
    await expect(world.record.openWith(RANGES, undefined)).rejects.toThrow("silent");
    await expect(world.record.look()).rejects.toThrow("silent");
    await expect(world.record.listed("stamp")).rejects.toThrow("silent");
    await expect(world.record.setControllers(["*"])).rejects.toThrow("silent");
    const before = world.calls;
    await world.settle(3);
    expect([world.calls - before, world.alarmAt !== undefined]).toEqual([3, true]);
    expect(await world.record.remove()).toMatchObject({ phase: "deleting", id: "blue" });
    await world.settle();
    expect(await world.record.look()).toEqual({ phase: "absent" });
    expect(world.events.filter((event) => event.startsWith("busy") || event.startsWith("begin"))).toEqual(["busy blue"]);
  });

  it("the next life of the name: has ranges of its own, or none", async () => {
    const world = new World();
    await world.record.openWith(RANGES, undefined);
    await world.record.remove();
    await world.settle();
    const { state } = await world.record.open();
    expect(state).toMatchObject({ id: SECOND });
    expect(state).not.toHaveProperty("serviceRanges");
    await world.record.remove();
    await world.settle();
    expect((await world.record.openWith(["10.3.0.0/16"], undefined)).state).toMatchObject({ serviceRanges: ["10.3.0.0/16"] });
  });

  it("objects that have begun with others, as those of an earlier release do: the cluster has none of its own, and can be deleted", async () => {
    const world = new World();
    world.known.set("blue", "10.96.0.0/16");
    const { state } = await world.record.openWith(RANGES, undefined);
    expect(state).toMatchObject({ phase: "active", id: "blue" });
    expect(state).not.toHaveProperty("serviceRanges");
    world.restart();
    expect(await world.record.look()).toEqual(state);
    expect(await world.record.remove("blue")).toMatchObject({ phase: "deleting", id: "blue" });
  });

  it("the next life begins while the objects of the one before are asked: its own are asked, too, before anybody hears of it", async () => {
    const world = new World();
    let answer: () => void = () => undefined;
    world.held = new Promise((resolve) => (answer = resolve));
    const first = world.record.openWith(RANGES, undefined);
    await vi.waitFor(() => expect(world.calls).toBeGreaterThan(1), PATIENCE);
    await world.record.remove();
    await world.settle();
    world.held = undefined;
    const second = world.record.openWith(["10.3.0.0/16"], undefined);
    answer();
    await first.catch(() => undefined);
    expect((await second).state).toMatchObject({ id: SECOND, serviceRanges: ["10.3.0.0/16"] });
    expect(world.known.get(SECOND)).toBe("10.3.0.0/16");
  });
});

describe("quotas with which new namespaces start", () => {
  const hard = { pods: "5" };

  it("are told to the store of Namespaces, and stand in the state; null takes them away; the next life has none", async () => {
    const world = new World();
    expect(await world.record.setQuotas(hard)).toEqual({ state: { phase: "absent" }, isTold: false });
    await world.record.open();
    expect(await world.record.setQuotas(hard)).toMatchObject({ isTold: true, state: { quotas: hard } });
    expect(world.quotas?.hard).toEqual(hard);
    const { state } = await world.record.setQuotas(null);
    expect([world.quotas?.hard, "quotas" in state]).toEqual([null, false]);
    await world.record.setQuotas(hard);
    await world.record.remove();
    await world.settle();
    expect((await world.record.open()).state).not.toHaveProperty("quotas");
  });

  it("a store that does not hear: the state says so until the alarm has told it, behind a restart, too", async () => {
    const world = new World();
    await world.record.open();
    world.isSilent = true;
    expect(await world.record.setQuotas(hard)).toMatchObject({ isTold: false, state: { quotas: hard, isTold: false } });
    await world.settle(2);
    world.alarmAt = undefined;
    world.isSilent = false;
    world.restart();
    await world.settle();
    expect([world.quotas?.hard, world.alarmAt]).toEqual([hard, undefined]);
    expect(await world.record.look()).not.toHaveProperty("isTold");
  });

  it("two lists at once: the later one counts, whichever is heard first", async () => {
    const world = new World();
    await world.record.open();
    await Promise.all([world.record.setQuotas({ pods: "1" }), world.record.setQuotas(hard)]);
    await world.settle();
    expect([world.quotas?.hard, await world.record.look()]).toMatchObject([hard, { quotas: hard }]);
  });

  it("with which a cluster begins: the store of Namespaces knows them before anybody hears of the id", async () => {
    const world = new World();
    const made = await world.record.openWith(undefined, undefined, undefined, hard);
    expect(made).toMatchObject({ opened: true, state: { phase: "active", id: "blue", quotas: hard } });
    expect(made.state).not.toHaveProperty("isTold");
    expect(world.events).toEqual(["enlist", "quotas blue", "busy blue", "life blue"]);
    await world.record.openWith(RANGES, undefined, undefined, { pods: "1" });
    expect(await world.record.look()).toEqual(made.state);
  });

  it.each([1, 2, 3, 4].flatMap((nth) => [false, true].map((after) => ({ nth, after }))))(
    "with which a cluster begins, and ranges; call $nth is lost (behind its effect: $after): nobody hears of the id before both are known",
    async (lost) => {
      const world = new World();
      world.lost = lost;
      const begun = await world.record.openWith(RANGES, undefined, undefined, hard).catch(() => undefined);
      world.restart();
      await world.settle();
      if (!begun && world.known.size === 0) await world.record.openWith(RANGES, undefined, undefined, hard);
      await world.settle();
      expect(await world.record.look()).toMatchObject({ phase: "active", serviceRanges: RANGES, quotas: hard });
      expect(world.quotas?.hard).toEqual(hard);
      const heard = world.events.findIndex((event) => event === "busy blue" || event === "life blue");
      expect(heard).toBeGreaterThan(Math.max(world.events.indexOf("begin blue"), world.events.indexOf("quotas blue")));
    },
  );

  it("with which a cluster begins, while the store does not answer: every look fails, and a deletion is possible", async () => {
    const world = new World();
    world.isSilent = true;
    await expect(world.record.openWith(undefined, undefined, undefined, hard)).rejects.toThrow("Namespaces");
    await expect(world.record.look()).rejects.toThrow("Namespaces");
    await world.settle(2);
    expect(world.alarmAt).toBeDefined();
    expect(await world.record.remove()).toMatchObject({ phase: "deleting", id: "blue" });
    await world.settle();
    expect((await world.record.open()).state).not.toHaveProperty("quotas");
  });

  it("that the store of Namespaces has lost: are told again when it asks, behind a death of the record, too; also that there are none", async () => {
    const world = new World();
    await world.record.open();
    for (const amounts of [hard, null]) {
      await world.record.setQuotas(amounts);
      world.quotas = undefined;
      await world.record.carryOn("blue");
      world.restart();
      await world.settle();
      expect([world.quotas, world.alarmAt]).toMatchObject([{ hard: amounts }, undefined]);
    }
  });

  it.each([false, true])(
    "with which a cluster has begun, told again while the store is silent (row of the release before: %s): it can be used, changed and deleted",
    async (isOld) => {
      const world = new World();
      await world.record.openWith(undefined, undefined, { uid: "u", generation: 1 }, hard);
      await world.settle();
      const row = world.storage.quotasLoad();
      if (isOld && row) world.storage.quotasSave({ ...row, isFirst: true });
      world.isSilent = true;
      await world.record.carryOn("blue");
      world.restart();
      await world.settle(2);
      const there = { phase: "active", id: "blue", quotas: hard };
      expect(await world.record.look()).toMatchObject(there);
      expect(await world.record.listed("stamp")).toMatchObject(there);
      expect(await world.record.open()).toMatchObject({ opened: false, state: there });
      expect(await world.record.setControllers(["*"])).toMatchObject({ isTold: true });
      expect(await world.record.setQuotas(null)).toMatchObject({ isTold: false });
      expect(await world.record.remove("blue")).toMatchObject({ phase: "deleting" });
    },
  );

  it("with which a cluster begins, told again before the store has heard: the cluster has not begun yet", async () => {
    const world = new World();
    world.isSilent = true;
    await expect(world.record.openWith(undefined, undefined, undefined, hard)).rejects.toThrow("Namespaces");
    await world.record.carryOn("blue");
    await expect(world.record.look()).rejects.toThrow("Namespaces");
    world.isSilent = false;
    await world.settle();
    expect(await world.record.look()).toMatchObject({ phase: "active", quotas: hard });
  });
});
