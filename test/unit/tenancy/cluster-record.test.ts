import { describe, expect, it, vi } from "vitest";
import type { ControllersSetting } from "../../../src/core/config/controllers";
import { CLUSTER_GONE, DIRECTORY_SILENT } from "../../../src/tenancy/rpc";
import { clusterId, clusterName, lifeIn, locationOf } from "../../../src/tenancy/cluster-id";
import { LOCATIONS } from "../../../src/core/config/location";
import { ClusterRecord, type RecordPorts } from "../../../src/tenancy/cluster-record";
import type { ClusterObject } from "../../../src/tenancy/record-storage";
import { memoryRecordStorage } from "../../support/memory/record-storage";
import { PATIENCE } from "../../support/objects/patience";

const FIXED: ClusterObject[] = [
  { kind: "controller", name: "repair" },
  { kind: "store", name: "services" },
  { kind: "store", name: "servicecidrs.networking.k8s.io" },
];

class Crash extends Error {}

/** The objects of the clusters of one name, and a record that may crash at any call to them. */
class World {
  readonly storage = memoryRecordStorage();
  /** `id/kind/name` of everything that holds something, and what was wiped */
  readonly alive = new Set<string>();
  readonly wiped = new Set<string>();
  readonly directory = new Set<string>();
  /** who was told of which controllers, and what cron hears of them */
  readonly told: [string, ControllersSetting][] = [];
  readonly noted: string[] = [];
  /** what the Coordinator answers as its owners; it may grow while it is asked */
  owners: string[] = [];
  /** what the release knows of */
  objects = FIXED;
  /** what the next calls to objects, and to the directory, wait for */
  stalled: Promise<void> | undefined;
  lateNote: Promise<void> | undefined;
  noting = 0;
  grows = 0;
  calls = 0;
  /** the call that is lost, counted from 1, and whether it has had its effect; 0 = none */
  lost = { nth: 0, after: false };
  alarmAt: number | undefined;
  now = 1_000;
  /** what the newest timer is for */
  due = (): void => undefined;
  inDirectory = (id: string): Promise<boolean> => Promise.resolve(this.directory.has(id));
  /** names that the list of clusters was given, each with the phase of the record then */
  readonly listed: string[] = [];
  enlist = (_stamp: string): Promise<void> =>
    Promise.resolve(void this.listed.push(`blue ${this.storage.load()?.phase ?? "without a row"}`));
  /** what the list of clusters is told of lives, each with the phase of the record then */
  readonly lives: string[] = [];
  noteLife = (id: string | null): Promise<boolean> => {
    this.lives.push(`${String(id)} ${this.storage.load()?.phase ?? "without a row"}`);
    return Promise.resolve(true);
  };
  /** stamps whose entries were taken out of the list */
  readonly unlisted: string[] = [];
  unlist = (stamp: string): Promise<void> => Promise.resolve(void this.unlisted.push(stamp));
  stamps = 0;
  record = this.#start();

  #start(): ClusterRecord {
    const ports: RecordPorts = {
      storage: this.storage,
      clock: {
        now: () => this.now,
        sleep: () => Promise.resolve(),
        after: (_, due) => ((this.due = due), () => undefined),
        nextTurn: () => Promise.resolve(),
      },
      recorder: { log: () => undefined },
      wakeAt: (atMs) => (this.alarmAt = atMs),
      objects: () => this.objects,
      wipe: (id, object, listed) => this.#call(() => this.#wipe(id, object, listed)),
      tell: (id, { kind, name }, setting) => this.#call(() => void this.told.push([`${id}/${kind}/${name}`, setting])),
      beginWith: () => Promise.resolve(true),
      tellQuotas: () => Promise.resolve(),
      noteControllers: async (id, list) => {
        this.noting++;
        await this.lateNote;
        await this.#call(() => void this.noted.push(`${id} ${String(list)}`));
      },
      forget: (id) => this.#call(() => void this.directory.delete(id)),
      isInDirectory: (id) => this.inDirectory(id),
      newStamp: () => `stamp-${String(++this.stamps)}`,
      enlist: (stamp) => this.enlist(stamp),
      noteLife: (id) => this.noteLife(id),
      unlist: (stamp) => this.unlist(stamp),
      noteBusy: () => undefined,
    };
    return new ClusterRecord("blue", ports);
  }

  async #call<T>(effect: () => T): Promise<T> {
    const isLost = ++this.calls === this.lost.nth;
    await this.stalled;
    if (isLost && !this.lost.after) throw new Crash("lost before");
    let answer: T;
    try {
      answer = effect();
    } catch (error) {
      if (isLost) throw new Crash("lost after", { cause: error });
      throw error;
    }
    if (isLost) throw new Crash("lost after");
    return answer;
  }

  #wipe(id: string, { kind, name }: ClusterObject, listed: string[]): string[] {
    if (name === "servicecidrs.networking.k8s.io" && this.grows > 0) this.owners.push(`late-${--this.grows}`);
    const unlisted = name === "servicecidrs.networking.k8s.io" ? this.owners.filter((uid) => !listed.includes(uid)) : [];
    if (unlisted.length > 0) return unlisted;
    this.alive.delete(`${id}/${kind}/${name}`);
    this.wiped.add(`${id}/${kind}/${name}`);
    throw new Error(`Error: ${CLUSTER_GONE}`);
  }

  /** A cluster whose objects hold something. */
  async opened(): Promise<string> {
    const { state } = await this.record.open();
    if (state.phase !== "active") throw new Error(state.phase);
    for (const { kind, name } of [...FIXED, ...this.owners.map((uid): ClusterObject => ({ kind: "owner", name: uid }))]) {
      this.alive.add(`${state.id}/${kind}/${name}`);
    }
    this.directory.add(state.id);
    return state.id;
  }

  restart(): void {
    this.record = this.#start();
    this.record.resume();
  }

  /** Alarms, with the object started anew before each one, until there is none. Answers how many there were. */
  async settle(): Promise<number> {
    let alarms = 0;
    while (this.alarmAt !== undefined) {
      if (++alarms > 100) throw new Error("the deletion does not end");
      this.now = Math.max(this.now, this.alarmAt);
      this.alarmAt = undefined;
      this.record = this.#start();
      await this.record.alarm();
    }
    return alarms;
  }
}

describe("ids of clusters", () => {
  it.each([
    ["blue", 1, "blue"],
    ["blue", 2, "blue~2"],
    ["a-1", 12, "a-1~12"],
  ])("%s, life %i: %s", (name, life, id) => {
    expect(clusterId(name, life)).toBe(id);
    expect(clusterName(id)).toBe(name);
    expect(locationOf(id)).toBeUndefined();
  });

  it.each(LOCATIONS)("a life in %s: says so, counts on, and leaves no trace in the next one", (location) => {
    for (const life of [1, 2, 12]) {
      const number = lifeIn(location, life);
      const id = clusterId("blue", number);
      expect([clusterName(id), locationOf(id)]).toEqual(["blue", location]);
      // A release that knows no places counts on from there.
      expect(lifeIn("oc", number + 1)).toBe(lifeIn("oc", life + 1));
      expect(clusterId("blue", lifeIn(undefined, number + 1))).toBe(`blue~${String(life + 1)}`);
    }
  });

  it("no two lives have one id, wherever they were", () => {
    let life = 1;
    const ids = [undefined, ...LOCATIONS, ...LOCATIONS, undefined].map((location) => {
      const number = lifeIn(location, life);
      life = number + 1;
      return clusterId("blue", number);
    });
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("the place of a cluster", () => {
  it("chosen at its beginning, and told with its life; no later call changes it", async () => {
    const world = new World();
    const id = "blue~4000000001";
    expect(await world.record.openIn("weur")).toMatchObject({ opened: true, state: { phase: "active", id } });
    expect(await world.record.openIn("oc")).toMatchObject({ opened: false, state: { id } });
    expect(await world.record.open()).toMatchObject({ opened: false, state: { id } });
    world.restart();
    expect([locationOf(id), await world.record.look()]).toMatchObject(["weur", { id }]);
    expect(world.lives).toEqual([`${id} active`]);
  });

  it("a crash before it is stored: the next attempt chooses", async () => {
    const world = new World();
    const { save } = world.storage;
    world.storage.save = () => {
      throw new Crash();
    };
    await expect(world.record.openIn("weur")).rejects.toThrow(Crash);
    world.storage.save = save;
    world.restart();
    expect(await world.record.openIn("oc")).toMatchObject({ opened: true, state: { id: "blue~7000000001" } });
  });

  it("two that begin it at once: one place counts, for both", async () => {
    const world = new World();
    const [one, other] = await Promise.all([world.record.openIn("weur"), world.record.openIn("oc")]);
    expect([one.opened, other.opened].sort()).toEqual([false, true]);
    expect(one.state).toEqual(other.state);
  });

  it("the next life of the name: has its own; every object of the one before is wiped where it was", async () => {
    const world = new World();
    await world.record.openIn("weur");
    const id = await world.opened();
    expect(id).toBe("blue~4000000001");
    await world.record.remove();
    expect(await world.record.openIn("oc")).toMatchObject({ opened: false, state: { phase: "deleting", id } });
    await world.settle();
    expect([...world.alive, ...world.directory]).toEqual([]);
    expect([...world.wiped].every((object) => object.startsWith(`${id}/`))).toBe(true);
    expect(await world.record.openIn("oc")).toMatchObject({ opened: true, state: { id: "blue~7000000002" } });
    await world.record.remove();
    await world.settle();
    expect(await world.opened()).toBe("blue~3");
  });

  it("a cluster that is older than places: stays where it is", async () => {
    const world = new World();
    world.directory.add("blue");
    expect(await world.record.openIn("weur")).toMatchObject({ opened: false, state: { id: "blue" } });
  });
});

describe("the list of clusters", () => {
  it("a cluster that begins: is in the list before, and is not entered again", async () => {
    const world = new World();
    await world.opened();
    await world.record.open();
    world.restart();
    await world.record.open();
    expect(world.listed).toEqual(["blue without a row"]);
  });

  it("a cluster that is older than the list: is entered when somebody next writes into it as its maker", async () => {
    const world = new World();
    world.storage.save({ name: "blue", life: 3, phase: "active", createdAt: 1, deletedAt: 0 });
    await world.record.look();
    expect(world.listed).toEqual([]);
    expect(await world.record.open()).toMatchObject({ opened: false, state: { id: "blue~3" } });
    expect(world.listed).toEqual(["blue active"]);
  });

  it("a list that does not answer: no cluster begins, and the next attempt enters it", async () => {
    const world = new World();
    const { enlist } = world;
    world.enlist = () => Promise.reject(new Error("lost"));
    await expect(world.record.open()).rejects.toThrow(DIRECTORY_SILENT);
    expect(world.storage.load()).toBeUndefined();
    world.enlist = enlist;
    expect(await world.record.open()).toMatchObject({ opened: true });
    expect(world.listed).toEqual(["blue without a row"]);
  });

  it("a crash between the list and the cluster: the cluster is absent, and begins at the next attempt", async () => {
    const world = new World();
    const { save } = world.storage;
    world.storage.save = () => {
      throw new Crash();
    };
    await expect(world.record.open()).rejects.toThrow(Crash);
    world.storage.save = save;
    world.restart();
    expect(await world.record.look()).toEqual({ phase: "absent" });
    expect(await world.record.open()).toMatchObject({ opened: true });
    expect(world.listed).toEqual(["blue without a row"]);
  });
});

describe("the life that the list of clusters is told", () => {
  it("a cluster that begins: told behind its beginning, once", async () => {
    const world = new World();
    await world.opened();
    await world.record.open();
    world.restart();
    await world.record.open();
    expect(world.lives).toEqual(["blue active"]);
  });

  it("two that begin it at once: told once", async () => {
    const world = new World();
    await Promise.all([world.record.open(), world.record.open()]);
    expect(world.lives).toEqual(["blue active"]);
  });

  it.each(["the word", "the answer"])("%s is lost: the cluster begins, and the next writer has it told again", async (lost) => {
    const world = new World();
    const { noteLife } = world;
    world.noteLife = async (id) => {
      if (lost === "the answer") await noteLife(id);
      throw new Crash();
    };
    expect(await world.record.open()).toMatchObject({ opened: true, state: { phase: "active" } });
    world.noteLife = noteLife;
    world.restart();
    await world.record.open();
    expect(world.lives).toEqual(lost === "the answer" ? ["blue active", "blue active"] : ["blue active"]);
  });

  it("a deletion: told before its answer, once, and taken out of the list at its end; the next life enters it anew, and is told", async () => {
    const world = new World();
    await world.opened();
    await world.record.remove();
    expect(world.lives).toEqual(["blue active", "null deleting"]);
    await world.settle();
    expect([world.lives, world.unlisted]).toEqual([["blue active", "null deleting"], ["stamp-1"]]);
    await world.record.open();
    expect([world.lives.at(-1), world.listed.at(-1), world.storage.stamp()]).toEqual(["blue~2 active", "blue absent", "stamp-2"]);
  });

  it("a deletion whose word is lost each time: begins, and ends when the list answers", async () => {
    const world = new World();
    await world.opened();
    const { noteLife, unlist } = world;
    let left = 4;
    const lose = (): boolean => left-- > 0;
    world.noteLife = (id) => (lose() ? Promise.reject(new Crash()) : noteLife(id));
    world.unlist = (stamp) => (lose() ? Promise.reject(new Crash()) : unlist(stamp));
    expect(await world.record.remove()).toMatchObject({ phase: "deleting" });
    await world.settle();
    expect([left < 0, world.unlisted, world.storage.load()?.phase]).toEqual([true, ["stamp-1"], "absent"]);
  });

  it("a deletion that comes while the beginning is told: taken away once more", async () => {
    const world = new World();
    const { noteLife } = world;
    let answer = (): void => undefined;
    world.noteLife = async (id) => {
      if (id !== null) await new Promise<void>((resolve) => (answer = resolve));
      return noteLife(id);
    };
    const opening = world.record.open();
    await vi.waitFor(() => expect(world.storage.load()?.phase).toBe("active"), PATIENCE);
    await world.record.remove();
    answer();
    await opening;
    expect(world.lives).toEqual(["null deleting", "blue deleting", "null deleting"]);
    expect(world.storage.notedLife()).toBe("-blue");
  });
});

describe("a cluster's controllers", () => {
  const LIST = ["*", "-namespace-controller"];
  const CONTROLLERS_OFF = { version: 1_000, list: LIST };

  it("a list: told to every object, stores first, then noted for cron; the same list again: told again as a later version", async () => {
    const world = new World();
    await world.opened();
    const state = { phase: "active", id: "blue", createdAt: 1_000, controllers: LIST };
    expect(await world.record.setControllers(LIST)).toEqual({ state, isTold: true });
    expect(world.told).toEqual(
      ["store/services", "store/servicecidrs.networking.k8s.io", "controller/repair"].map((name) => [`blue/${name}`, CONTROLLERS_OFF]),
    );
    expect(world.noted).toEqual([`blue ${LIST.join()}`]);
    expect(await world.record.setControllers([...LIST])).toEqual({ state, isTold: true });
    expect([world.told.length, await world.record.look()]).toEqual([6, state]);
    expect(world.told.map(([, { version }]) => version)).toEqual([1_000, 1_000, 1_000, 1_001, 1_001, 1_001]);
    expect(await world.record.setControllers(null)).toEqual({ state: { ...state, controllers: null }, isTold: true });
    expect(world.told.at(-1)).toEqual(["blue/controller/repair", { version: 1_002, list: null }]);
  });

  it.each([1, 2, 3, 4].flatMap((nth) => [false, true].map((after) => ({ nth, after }))))(
    "call $nth lost, its effect done: $after: the alarm tells all again",
    async (lost) => {
      const world = new World();
      await world.opened();
      world.lost = lost;
      expect(await world.record.setControllers(LIST)).toMatchObject({ isTold: false });
      await world.settle();
      expect(new Set(world.told.map(([name]) => name)).size).toBe(3);
      expect(world.noted.at(-1)).toBe(`blue ${LIST.join()}`);
      expect(await world.record.setControllers(LIST)).toMatchObject({ isTold: true });
    },
  );

  it("the variable's list for a cluster whose record knows of no own one: all are told, as the record may be older than they", async () => {
    const world = new World();
    await world.opened();
    expect(await world.record.setControllers(null)).toMatchObject({ isTold: true });
    expect(world.told).toHaveLength(3);
    expect(world.told.at(-1)?.[1]).toEqual({ version: 1_000, list: null });
  });

  it.each([
    ["the list that it had then", LIST],
    ["another list", ["*"]],
  ])("a record brought back from before a change, then %s: newer than what the objects know", async (_, list) => {
    const world = new World();
    await world.opened();
    await world.record.setControllers(LIST);
    const old = world.storage.controllersLoad();
    world.now = 2_000;
    await world.record.setControllers(null);
    if (old) world.storage.controllersSave(old);
    world.now = 3_000;
    await world.record.setControllers(list);
    expect(world.told.at(-1)?.[1]).toEqual({ version: 3_000, list });
  });

  it("a controller that a later release has: hears of the list when the record starts again; without a list nobody is called", async () => {
    const world = new World();
    await world.opened();
    await world.record.setControllers(LIST);
    world.objects = [...FIXED, { kind: "controller", name: "endpoints" }];
    world.told.length = 0;
    world.alarmAt = undefined;
    world.restart();
    await world.settle();
    expect(world.told).toContainEqual(["blue/controller/endpoints", CONTROLLERS_OFF]);
    world.restart();
    expect(world.alarmAt, "all have heard").toBeUndefined();
    await world.record.setControllers(null);
    world.objects = FIXED;
    world.alarmAt = undefined;
    world.restart();
    expect(world.alarmAt).toBeUndefined();
  });

  it("a list while an older one waits for an object: the older one tells nobody any more, and cron hears of the newer one last", async () => {
    const world = new World();
    await world.opened();
    let free: () => void = () => undefined;
    world.stalled = new Promise((resolve) => (free = resolve));
    const older = world.record.setControllers(LIST);
    const again = world.record.alarm();
    await Promise.resolve();
    world.stalled = undefined;
    const newer = world.record.setControllers(["*"]);
    free();
    expect([await older, await newer]).toMatchObject([{ isTold: false }, { isTold: true }]);
    await again;
    expect(world.noted).toEqual(["blue *"]);
    expect(world.told.at(-1)).toEqual(["blue/controller/repair", { version: 1_001, list: ["*"] }]);
  });

  it("one list by two callers at once, as by a PUT and the controller of the object: told once, and both hear that all have heard", async () => {
    const world = new World();
    await world.opened();
    let free: () => void = () => undefined;
    world.stalled = new Promise((resolve) => (free = resolve));
    const calls = [world.record.setControllers(LIST), world.record.setControllers([...LIST])];
    await Promise.resolve();
    world.stalled = undefined;
    calls.push(world.record.setControllers(LIST));
    free();
    expect(await Promise.all(calls)).toMatchObject(calls.map(() => ({ isTold: true })));
    expect(world.told).toEqual(
      ["store/services", "store/servicecidrs.networking.k8s.io", "controller/repair"].map((name) => [`blue/${name}`, CONTROLLERS_OFF]),
    );
  });

  it("an older generation of its object: changes nothing for a minute, in which a call may be late; then the object was brought back", async () => {
    const world = new World();
    await world.opened();
    const ofObject = (generation: number, uid = "u") => ({ uid, generation });
    await world.record.setControllers(LIST, ofObject(3));
    const told = world.told.length;
    expect(await world.record.setControllers(["*"], ofObject(2))).toMatchObject({ state: { controllers: LIST }, isTold: true });
    expect(world.told).toHaveLength(told);
    for (const [list, source] of [
      [["a"], ofObject(3)],
      [["b"], ofObject(1, "another")],
      [["c"], undefined],
    ] as const) {
      expect(await world.record.setControllers(list, source)).toMatchObject({ state: { controllers: list }, isTold: true });
    }
    await world.record.setControllers(LIST, ofObject(3));
    world.now += 60_010;
    expect(await world.record.setControllers(["*"], ofObject(2))).toMatchObject({ state: { controllers: ["*"] }, isTold: true });
  });

  it("a later generation that joins: what comes late between the two is late", async () => {
    const world = new World();
    await world.opened();
    let free: () => void = () => undefined;
    world.stalled = new Promise((resolve) => (free = resolve));
    const calls = [5, 7].map((generation) => world.record.setControllers(LIST, { uid: "u", generation }));
    await Promise.resolve();
    world.stalled = undefined;
    free();
    await Promise.all(calls);
    expect(await world.record.setControllers(["*"], { uid: "u", generation: 6 })).toMatchObject({
      state: { controllers: LIST },
      isTold: true,
    });
  });

  it("a note for cron that arrives after its timeout: the newer list is noted again", async () => {
    const world = new World();
    await world.opened();
    let arrive: () => void = () => undefined;
    world.lateNote = new Promise((resolve) => (arrive = resolve));
    const older = world.record.setControllers(LIST);
    await vi.waitFor(() => expect(world.noting).toBe(1), PATIENCE);
    world.due();
    expect(await older).toMatchObject({ isTold: false });
    world.lateNote = undefined;
    expect(await world.record.setControllers(["*"])).toMatchObject({ isTold: true });
    arrive();
    await vi.waitFor(() => expect(world.noted.at(-1)).toBe(`blue ${LIST.join()}`), PATIENCE);
    await world.settle();
    expect(world.noted.at(-1)).toBe("blue *");
  });

  it("a crash before anybody has heard: the object that starts again tells them", async () => {
    const world = new World();
    await world.opened();
    world.storage.controllersSave({ ...CONTROLLERS_OFF, isTold: false });
    world.record.resume();
    await world.settle();
    expect(world.told).toHaveLength(3);
  });

  it("a cluster that is absent or being deleted: gets no list; the next of its name begins with the variable's", async () => {
    const world = new World();
    expect(await world.record.setControllers(LIST)).toEqual({ state: { phase: "absent" }, isTold: false });
    await world.opened();
    await world.record.setControllers(LIST);
    await world.record.remove();
    expect(await world.record.setControllers(null)).toMatchObject({ state: { phase: "deleting" }, isTold: false });
    await world.settle();
    await world.opened();
    expect(await world.record.look()).toMatchObject({ id: "blue~2", controllers: null });
  });
});

describe("a cluster's record", () => {
  it("a look: makes nothing; open: makes the cluster once", async () => {
    const world = new World();
    expect(await world.record.look()).toEqual({ phase: "absent" });
    expect(world.storage.load()).toBeUndefined();
    const active = { phase: "active", id: "blue", createdAt: 1_000, controllers: null };
    expect(await Promise.all([world.record.open(), world.record.open()])).toEqual([
      { state: active, opened: true },
      { state: active, opened: false },
    ]);
    expect(await world.record.look()).toEqual(active);
  });

  it("a cluster older than records: found in the directory, and not again after its deletion", async () => {
    const world = new World();
    world.directory.add("blue");
    expect(await world.record.look()).toMatchObject({ phase: "active", id: "blue" });
    await world.record.remove();
    await world.settle();
    world.directory.add("blue");
    expect(await world.record.look()).toEqual({ phase: "absent" });
  });

  it.each(["fails", "does not answer"])(
    "a directory that %s: each call says so, nothing is written, and the next one asks again",
    async (how) => {
      const world = new World();
      const { inDirectory } = world;
      world.inDirectory = () => (how === "fails" ? Promise.reject(new Error("KV GET failed: 500")) : new Promise(() => undefined));
      for (const method of ["look", "open", "remove"] as const) {
        const answer = world.record[method]();
        world.due();
        await expect(answer).rejects.toThrow(DIRECTORY_SILENT);
      }
      expect(world.storage.load()).toBeUndefined();
      world.inDirectory = inDirectory;
      expect(await world.record.look()).toEqual({ phase: "absent" });
    },
  );

  it("the deletion of an absent cluster: begins nothing", async () => {
    const world = new World();
    expect(await world.record.remove()).toEqual({ phase: "absent" });
    expect(world.alarmAt).toBeUndefined();
  });

  it("a deletion: wipes every object and key, reports its progress, and the next life has another id", async () => {
    const world = new World();
    world.owners = ["uid-1", "uid-2"];
    const id = await world.opened();
    expect(await world.record.remove()).toMatchObject({ phase: "deleting", id, objects: 3, wiped: 0, deletedAt: 1_000 });
    expect(await world.record.open()).toMatchObject({ state: { phase: "deleting" }, opened: false });
    await world.settle();
    expect([...world.alive, ...world.directory]).toEqual([]);
    expect(await world.record.look()).toEqual({ phase: "absent" });
    expect(await world.opened()).toBe("blue~2");
    await world.record.remove();
    await world.settle();
    expect(await world.opened()).toBe("blue~3");
    expect([...world.alive].every((object) => object.startsWith("blue~3/"))).toBe(true);
  });

  it("owners made during the deletion: wiped too", async () => {
    const world = new World();
    world.owners = ["uid-1"];
    world.grows = 3;
    await world.opened();
    await world.record.remove();
    await world.settle();
    expect([...world.wiped].filter((object) => object.includes("/owner/")).sort()).toEqual(
      ["blue/owner/late-0", "blue/owner/late-1", "blue/owner/late-2", "blue/owner/uid-1"].sort(),
    );
  });

  it("more objects than one run takes: all are wiped in several runs", async () => {
    const world = new World();
    world.owners = Array.from({ length: 1_000 }, (_, i) => `uid-${i}`);
    await world.opened();
    await world.record.remove();
    expect(await world.settle()).toBeGreaterThan(3);
    expect([...world.alive]).toEqual([]);
  });

  it("a crash at any call, before or after its effect: the deletion continues", async () => {
    const quiet = new World();
    quiet.owners = ["uid-1", "uid-2"];
    await quiet.opened();
    await quiet.record.remove();
    await quiet.settle();
    expect(quiet.calls, "calls of one deletion").toBe(3 + 1 + 2 + 1);
    for (let nth = 1; nth <= quiet.calls; nth++) {
      for (const after of [false, true]) {
        const world = new World();
        world.owners = ["uid-1", "uid-2"];
        world.lost = { nth, after };
        await world.opened();
        await world.record.remove();
        await world.settle();
        expect([...world.alive, ...world.directory], `call ${nth} lost ${after ? "after" : "before"} its effect`).toEqual([]);
        expect(await world.record.look()).toEqual({ phase: "absent" });
        expect(await world.opened()).toBe("blue~2");
      }
    }
  });

  it("a later release goes on with it: the objects that it has and the release before had not are wiped, too", async () => {
    const world = new World();
    const id = await world.opened();
    await world.record.remove();
    const added: ClusterObject = { kind: "controller", name: "later" };
    world.objects = [...FIXED, added];
    await world.settle();
    expect(world.wiped).toContain(`${id}/controller/later`);
    expect(await world.record.open()).toMatchObject({ state: { id: "blue~2" } });
  });

  it("a deletion that names a life: ends that one, and changes nothing of a later one, however late and often it comes", async () => {
    const world = new World();
    const first = await world.opened();
    expect(await world.record.remove(first)).toMatchObject({ phase: "deleting", id: first });
    expect(await world.record.remove(first)).toMatchObject({ phase: "deleting", id: first });
    await world.settle();
    expect(await world.record.remove(first)).toEqual({ phase: "absent" });
    const next = await world.opened();
    world.restart();
    expect(await world.record.remove(first)).toMatchObject({ phase: "active", id: next });
    await world.settle();
    expect(await world.record.look()).toMatchObject({ phase: "active", id: next });
  });

  it("a deletion that names no life, as the release before asks: ends the one that is there", async () => {
    const world = new World();
    await world.opened();
    await world.record.remove();
    await world.settle();
    const id = await world.opened();
    expect(await world.record.remove()).toMatchObject({ phase: "deleting", id });
  });

  it("a list of which some object has not heard: the state says so until all have", async () => {
    const world = new World();
    await world.opened();
    expect(await world.record.look()).not.toHaveProperty("isTold");
    world.lost = { nth: world.calls + 1, after: false };
    expect(await world.record.setControllers(["*"])).toMatchObject({ isTold: false, state: { isTold: false } });
    expect(await world.record.look()).toMatchObject({ controllers: ["*"], isTold: false });
    await world.settle();
    expect(await world.record.look()).not.toHaveProperty("isTold");
  });

  it("a lost alarm: set again when the object starts", async () => {
    const world = new World();
    await world.opened();
    await world.record.remove();
    world.alarmAt = undefined;
    world.record.resume();
    await world.settle();
    expect(await world.record.look()).toEqual({ phase: "absent" });
    world.record.resume();
    expect(world.alarmAt).toBeUndefined();
  });

  it("cron: continues a deletion whose alarm was lost; of a finished life it removes only the keys", async () => {
    const world = new World();
    const id = await world.opened();
    await world.record.remove();
    world.alarmAt = undefined;
    await world.record.carryOn(id);
    await world.settle();
    expect(await world.record.look()).toEqual({ phase: "absent" });
    const next = await world.opened();
    world.directory.add(id);
    await world.record.carryOn(id);
    expect([...world.directory]).toEqual([next]);
    await world.record.carryOn(next);
    expect([[...world.directory], world.alarmAt]).toEqual([[next], undefined]);
    await world.record.setControllers(["*"]);
    world.alarmAt = undefined;
    world.told.length = 0;
    await world.record.carryOn(next);
    await world.settle();
    expect([world.told.length, world.noted.at(-1)]).toEqual([3, `${next} *`]);
  });
});
