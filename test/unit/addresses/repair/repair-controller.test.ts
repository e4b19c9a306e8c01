/** The controller "repair": when it passes, what it notes of Workers, and what it answers. The passes themselves are the Repairer's. */
import { describe, expect, it } from "vitest";
import { RepairController } from "../../../../src/addresses/repair/repair-controller";
import type { EventReport } from "../../../../src/api/events/event-recorder";
import type { VisitOutcome } from "../../../../src/api/rpc/visits";
import type { ObjectFeed } from "../../../../src/api/rpc/object-feed";
import { RETRY_BASE_MS } from "../../../../src/controllers/frame/controller";
import { type Config, parseConfig } from "../../../../src/core/config/config";
import { settingsOf } from "../../../../src/core/config/settings";
import { MemoryRepairStorage } from "../../../support/memory/repair-storage";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { MemorySettingsStorage } from "../../../support/memory/settings-storage";
import { whileAlive } from "../../../support/sim/platform/network";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

const MINUTE_MS = 60_000;
/** Those that full visits call in each cluster. */
const ALWAYS = ["namespaces", "services", "servicecidrs.networking.k8s.io", "ipaddresses.networking.k8s.io"];
const CURSOR = { incarnation: "only", revision: 1 };
const DEFAULT_SERVICE = JSON.stringify({
  metadata: { name: "kubernetes", namespace: "default", uid: "uid-1" },
  spec: { clusterIP: "None" },
});

function configOf(vars: Record<string, string> = {}): Config {
  const config = parseConfig(vars);
  if (!config.ok) throw new Error(config.error.join());
  return config.value;
}

const poke = (controller: RepairController): Promise<unknown> => controller.poke();
const unexpected = (): Promise<never> => Promise.reject(new Error("nothing is to be repaired"));

/** A repair controller of a cluster that has nothing but the default Service, if that; its tables outlive it. */
class World {
  readonly scheduler = new SimScheduler();
  readonly storage = new MemoryRepairStorage();
  readonly settings = new MemorySettingsStorage();
  readonly rows = new MemoryRowStorage();
  /** what is visited */
  visit: (name: string) => Promise<VisitOutcome> | undefined = () => undefined;
  controllers = ["namespaces"];
  /** stores of a cluster of an earlier release */
  stores: { name: string; isUsed(): Promise<boolean> }[] = [];
  readonly reported: string[] = [];
  readonly logged: string[] = [];
  /** when alarms were set for, counted from now */
  readonly alarmsIn: number[] = [];
  config: () => Config = () => configOf();
  /** how often the ports of passes were made */
  made = 0;
  ownersFail = false;
  /** what the store of Services answers about the default Service */
  defaultService: "there" | "absent" | "silent" = "there";
  readonly #calls = new Set<string>();
  #life = 0;
  controller = this.#started();

  get now(): number {
    return this.scheduler.now;
  }

  /** The object dies and starts again. */
  restart(): void {
    this.#life++;
    this.controller = this.#started();
  }

  pass(durationMs: number): Promise<void> {
    return this.scheduler.pass(durationMs);
  }

  /** Asks for a pass, and answers what was called in the second after it. */
  async calledAfter(ask: (controller: RepairController) => Promise<unknown>): Promise<string[]> {
    this.#calls.clear();
    void ask(this.controller);
    await this.pass(1_000);
    return [...this.#calls].sort();
  }

  /** how often another controller was poked */
  poked = 0;

  #started(): RepairController {
    const life = this.#life;
    const isAlive = (): boolean => life === this.#life;
    const clock = this.scheduler.clock(isAlive);
    const storage = whileAlive(this.storage, { isAlive });
    const { settings } = this;
    const recorder = { log: (level: string, event: string) => void this.logged.push(`${level} ${event}`) };
    let cancel: () => void = () => undefined;
    const controller: RepairController = new RepairController({
      clock,
      recorder,
      storage,
      settings,
      config: () => this.config(),
      background: (work) => void work,
      restart: () => undefined,
      cancelAlarm: () => Promise.resolve(),
      isOn: () => true,
      rows: this.rows,
      visit: (name) => this.visit(name),
      controllers: this.controllers,
      stores: () => this.stores,
      others: () => [{ poke: () => Promise.resolve(void this.poked++) }],
      wakeAt: (atMs) => {
        this.alarmsIn.push(atMs - this.now);
        cancel();
        cancel = clock.after(atMs - this.now, () => void controller.alarm());
        return Promise.resolve();
      },
      repair: () => {
        this.made++;
        const events = {
          report: ({ type, reason, regarding }: EventReport) => void this.reported.push(`${type} ${reason} of ${regarding.name}`),
          flush: () => Promise.resolve(),
        };
        return {
          clock,
          recorder,
          storage,
          events,
          nodePortEvents: events,
          loadBalancerEvents: events,
          rows: new MemoryRowStorage(),
          services: {
            ...this.#feed("services", [DEFAULT_SERVICE]),
            makeWhole: unexpected,
            makeServicesWhole: unexpected,
            giveUp: unexpected,
            makeNodePortsWhole: unexpected,
            leakedNodePorts: () => Promise.resolve({ leaked: [], next: undefined }),
            settleNodePorts: unexpected,
          },
          ipAddresses: {
            ...this.#feed("ipaddresses", []),
            restoreMany: unexpected,
            writersOf: unexpected,
            makeHeld: unexpected,
            write: unexpected,
          },
          ranges: () => Promise.resolve({ prefixes: [] }),
          owners: () => (this.ownersFail ? Promise.reject(new Error("down")) : Promise.resolve([])),
          owner: () => ({ checkBitmap: unexpected }),
        };
      },
    });
    return controller;
  }

  #feed(name: string, objects: string[]): ObjectFeed {
    const called = <T>(method: string, answer: T): Promise<T> => {
      this.#calls.add(`${name}.${method}`);
      return Promise.resolve(answer);
    };
    return {
      objectsSince: () => called("objectsSince", { kind: "changes", changes: [], cursor: CURSOR, more: false }),
      objectsAfter: () => called("objectsAfter", { objects, cursor: CURSOR, next: "" }),
      objectsNamed: (keys) => {
        if (this.defaultService === "silent") return Promise.reject(new Error("down"));
        const shown = this.defaultService === "there" ? objects : [];
        return called(
          "objectsNamed",
          keys.map(({ name }) => shown.find((object) => object.includes(`"${name}"`)) ?? null),
        );
      },
    };
  }
}

const READS_CHANGES = ["ipaddresses.objectsSince", "services.objectsSince"];
const READS_SLICES = ["ipaddresses.objectsAfter", "ipaddresses.objectsSince", "services.objectsAfter", "services.objectsSince"];

describe("passes of the repair controller", () => {
  it("its first pass: is a full sweep; the ports are made with it, and once", async () => {
    const world = new World();
    expect(world.made).toBe(0);
    expect(await world.calledAfter(poke)).toContain("services.objectsAfter");
    await world.controller.poke();
    await world.pass(1_000);
    expect(world.made).toBe(1);
    expect(await world.controller.repairCounts()).toEqual({
      sweeps: 1,
      ipErrors: {},
      reconcileErrors: 0,
      nodePorts: { portErrors: {}, reconcileErrors: 0 },
      differingSettings: [],
      isRepaired: true,
      lastRuns: { cronMs: 0, repairMs: 0 },
    });
  });

  it("cron's visit, and the end of a pass with a slice: are noted; a poke notes nothing", async () => {
    const world = new World();
    const lastRuns = async (): Promise<object | undefined> => (await world.controller.repairCounts()).lastRuns;
    await world.controller.poke();
    await world.pass(10 * MINUTE_MS);
    expect(await lastRuns()).toEqual({ cronMs: 0, repairMs: 0 });
    const visitedMs = world.now;
    void world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
    await world.pass(1_000);
    const noted = { cronMs: visitedMs, repairMs: expect.any(Number) };
    expect(await lastRuns()).toEqual(noted);
    await world.controller.pokeFrom(settingsOf(configOf()));
    await world.pass(1_000);
    expect(await lastRuns()).toEqual(noted);
    world.restart();
    expect(await lastRuns()).toEqual(noted);
  });

  it("ticks of cron: a full visit first; then those who asked, until each is settled; then nobody, for a day", async () => {
    const world = new World();
    const visited: string[] = [];
    let outcome: VisitOutcome = "settled";
    world.visit = (name) => {
      visited.push(name);
      return Promise.resolve(outcome);
    };
    const tick = (): Promise<unknown> => world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
    const minutely = async (): Promise<unknown> => {
      const answered = tick();
      await world.pass(MINUTE_MS);
      return answered;
    };
    const first = [tick(), tick()];
    await world.pass(MINUTE_MS);
    expect(await Promise.all(first), "the same tick, called again").toEqual(["rests", "rests"]);
    expect(visited.splice(0).sort()).toEqual([...ALWAYS, ...ALWAYS].sort());
    // The pass behind the full visit has met the settings under which the cluster was opened.
    expect(await minutely()).toBe("rests");
    expect(await minutely()).toBe("rests");
    expect(visited).toEqual([]);
    outcome = "left";
    expect(await world.controller.askVisits("pods")).toBe(false);
    expect(await world.controller.askVisits("pods")).toBe(true);
    expect(await minutely()).toBe("left");
    world.restart();
    expect(await minutely()).toBe("left");
    outcome = "settled";
    expect(await minutely()).toBe("rests");
    expect(visited.splice(0)).toEqual(["pods", "pods", "pods"]);
    expect(await world.calledAfter(tick)).toEqual([]);
    await world.pass(24 * 60 * MINUTE_MS);
    expect(await minutely()).toBe("rests");
    expect(visited.sort()).toEqual([...ALWAYS, "pods"].sort());
  });

  it("a cluster at rest that is visited once a day: the first full visit behind its last one is a day and a half away at most", async () => {
    for (let hour = 0; hour < 24; hour++) {
      const world = new World();
      const full: number[] = [];
      world.visit = () => {
        full.push(world.now);
        return Promise.resolve("settled");
      };
      const visit = async (): Promise<void> => {
        const answered = world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
        await world.pass(MINUTE_MS);
        await answered;
      };
      await visit();
      const begun = world.now;
      // Ticks of a busy cluster in whose list is nobody: no further one.
      for (let minute = 0; minute < 3; minute++) await visit();
      full.length = 0;
      // Its time of the day.
      await world.pass(hour * 60 * MINUTE_MS);
      for (let day = 0; day < 3 && full.length === 0; day++) {
        await visit();
        if (full.length === 0) await world.pass(24 * 60 * MINUTE_MS - MINUTE_MS);
      }
      expect(full.length, String(hour)).toBe(ALWAYS.length);
      expect((full[0] ?? Infinity) - begun, String(hour)).toBeLessThanOrEqual(36.1 * 60 * MINUTE_MS);
    }
  });

  it("first tick behind the start of a local server: a full visit, and one alone", async () => {
    const world = new World();
    const visited: string[] = [];
    world.visit = (name) => {
      visited.push(name);
      return Promise.resolve("settled");
    };
    const tick = async (): Promise<number> => {
      const answered = world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
      await world.pass(MINUTE_MS);
      expect(await answered).toBe("rests");
      return visited.splice(0).length;
    };
    expect([await tick(), await tick()]).toEqual([ALWAYS.length, 0]);
    const startedAt = configOf({ SERVER_STARTED_AT: String(world.now) });
    world.config = () => startedAt;
    world.restart();
    await world.pass(1_000);
    expect([await tick(), await tick()]).toEqual([ALWAYS.length, 0]);
  });

  it.each([
    ["a tick", "cronAt"],
    ["a sweep", "slicedAt"],
  ])("%s of an earlier release: cron calls everybody, once more after a rollback; meanwhile each store may be used", async (_, mark) => {
    const world = new World();
    const tick = async (): Promise<unknown> => {
      const answered = world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
      await world.pass(24 * 60 * MINUTE_MS);
      return answered;
    };
    const olderTick = (): void => {
      world.storage.numberSet(mark, world.now);
      world.restart();
    };
    let isDown = true;
    world.stores = [
      { name: "pods", isUsed: () => Promise.resolve(true) },
      { name: "nodes", isUsed: () => Promise.resolve(false) },
      { name: "leases", isUsed: () => (isDown ? Promise.reject(new Error("down")) : Promise.resolve(false)) },
      { name: "services", isUsed: () => Promise.reject(new Error("nobody has to ask it")) },
    ];
    olderTick();
    expect(await world.controller.entered()).toBeNull();
    expect([await tick(), await world.controller.entered()], "one of them is down").toEqual([undefined, null]);
    isDown = false;
    expect(await tick()).toBeUndefined();
    expect(await world.controller.entered()).toEqual([...ALWAYS, "pods", "controllers/namespaces"]);
    expect(await tick()).toBe("rests");
    olderTick();
    expect([await world.controller.entered(), await tick(), await tick()]).toEqual([null, undefined, "rests"]);
  });

  it("an object of an earlier release that calls: each store may be used until a full visit behind its last call, whoever dies meanwhile", async () => {
    const world = new World();
    const tick = async (): Promise<unknown> => {
      const answered = world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
      await world.pass(24 * 60 * MINUTE_MS);
      return answered;
    };
    expect(await world.controller.entered()).toEqual(ALWAYS);
    await world.controller.doubt();
    world.restart();
    expect(await world.controller.entered(), "after a death").toBeNull();
    let calls = 1;
    world.stores = [{ name: "pods", isUsed: () => (calls-- > 0 ? world.controller.doubt() : Promise.resolve()).then(() => true) }];
    expect([await tick(), await world.controller.entered()], "another call while stores are asked").toEqual([undefined, null]);
    expect([await tick(), await tick()]).toEqual([undefined, "rests"]);
    expect(await world.controller.entered()).toEqual([...ALWAYS, "pods", "controllers/namespaces"]);
  });

  it("an object that a release before has put in the list: each store may be used, and it is known from the next full visit on", async () => {
    const world = new World();
    const tick = async (): Promise<unknown> => {
      const answered = world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
      await world.pass(24 * 60 * MINUTE_MS);
      return answered;
    };
    await world.controller.askVisits("nodes");
    world.restart();
    expect(await world.controller.entered()).toEqual([...ALWAYS, "nodes"]);
    world.rows.rowPut("visits", "pods", "");
    world.restart();
    expect(await world.controller.entered()).toBeNull();
    world.visit = () => Promise.resolve("left");
    expect(await tick()).toBeUndefined();
    world.restart();
    expect(await world.controller.entered()).toEqual([...ALWAYS, "nodes", "controllers/namespaces", "pods"]);
  });

  it("a release with one more controller: the next full visit calls it, and nobody who was never used", async () => {
    const world = new World();
    const visited: string[] = [];
    world.visit = (name) => {
      visited.push(name);
      return Promise.resolve("settled");
    };
    world.stores = [{ name: "pods", isUsed: () => Promise.reject(new Error("nobody has to ask it")) }];
    const tick = async (): Promise<string[]> => {
      const answered = world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
      await world.pass(24 * 60 * MINUTE_MS);
      expect(await answered).toBe("rests");
      return visited.splice(0).sort();
    };
    expect(await tick()).toEqual([...ALWAYS].sort());
    world.controllers = ["namespaces", "new"];
    world.restart();
    expect(await tick()).toEqual(["controllers/new", ...ALWAYS].sort());
    world.restart();
    expect(await tick()).toEqual(["controllers/new", ...ALWAYS].sort());
    expect(await world.controller.entered()).toEqual([...ALWAYS, "controllers/new"]);
  });

  it("a visit that finds an object settled, which asks again meanwhile: the object keeps its place", async () => {
    const world = new World();
    void world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
    await world.pass(MINUTE_MS);
    await world.controller.askVisits("services");
    world.visit = async (name): Promise<VisitOutcome> => {
      expect(await world.controller.askVisits(name)).toBe(true);
      return "settled";
    };
    const answered = world.controller.pokeFrom(settingsOf(configOf()), "cron", world.now);
    await world.pass(1_000);
    expect(await answered).toBe("left");
  });

  it("the first repair: has ended after a pass that came through, in each life of the object anew", async () => {
    const world = new World();
    const isRepaired = async (): Promise<boolean | undefined> => (await world.controller.repairCounts()).isRepaired;
    world.ownersFail = true;
    await world.controller.poke();
    await world.pass(4 * RETRY_BASE_MS);
    expect(await isRepaired()).toBe(false);
    world.ownersFail = false;
    await world.pass(MINUTE_MS);
    expect(await isRepaired()).toBe(true);
    world.restart();
    expect(await isRepaired()).toBe(false);
    await world.controller.poke();
    await world.pass(1_000);
    expect(await isRepaired()).toBe(true);
  });

  it("a poke: reads only what has changed, however much time has gone by", async () => {
    const world = new World();
    await world.controller.poke();
    await world.pass(10 * MINUTE_MS);
    expect(await world.calledAfter(poke)).toEqual(READS_CHANGES);
  });

  it.each<[string, (controller: RepairController) => Promise<unknown>]>([
    ["cron's poke, which tells the settings", (controller) => controller.pokeFrom(settingsOf(configOf()))],
    ["the alarm", (controller) => controller.alarm()],
  ])("%s: reads a slice of everything too, where one is due", async (_, ask) => {
    const world = new World();
    await world.controller.poke();
    await world.pass(MINUTE_MS);
    expect(await world.calledAfter(ask)).toEqual(READS_SLICES);
    expect(await world.calledAfter(ask)).toEqual(READS_CHANGES);
  });

  it("a sweep that is asked for: sweeps everything once, also when the object dies before its pass", async () => {
    const world = new World();
    await world.controller.poke();
    await world.pass(1_000);
    await world.controller.sweep();
    world.restart();
    expect(await world.calledAfter(poke)).toEqual(READS_SLICES);
    expect(await world.calledAfter(poke)).toEqual(READS_CHANGES);
    expect((await world.controller.repairCounts()).sweeps).toBe(2);
  });

  it("a suspect: is looked at when it is due, by the alarm", async () => {
    const world = new World();
    await world.controller.poke();
    await world.pass(1_000);
    world.storage.suspectPut("services/default/late", world.now + 40_000);
    await world.controller.poke();
    await world.pass(39_999);
    expect(world.alarmsIn).toEqual([40_000]);
    expect(world.storage.suspectEarliest()).toBe(world.now + 1);
    expect(await world.calledAfter(() => Promise.resolve())).toContain("services.objectsNamed");
    expect(world.storage.suspectEarliest()).toBeUndefined();
  });

  it("a pass that leaves work: goes on after RETRY_BASE_MS each time, without longer and longer waits", async () => {
    const world = new World();
    await world.controller.poke();
    await world.pass(1_000);
    world.storage.suspectPut("services/default/late", world.now);
    // Due again as soon as it was looked at, over and over.
    world.storage.suspectsDone = () => void world.storage.suspectPut("services/default/late", world.now);
    world.storage.suspectEarliest = () => world.now;
    await world.controller.poke();
    await world.pass(5 * RETRY_BASE_MS);
    expect(world.alarmsIn.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => RETRY_BASE_MS));
  });

  it("a pass that fails: is counted and logged, and repeated after waits that grow", async () => {
    const world = new World();
    world.ownersFail = true;
    await world.controller.poke();
    await world.pass(4 * RETRY_BASE_MS);
    expect(world.alarmsIn.slice(0, 2)).toEqual([RETRY_BASE_MS, 2 * RETRY_BASE_MS]);
    expect(world.logged.slice(0, 2)).toEqual(["warn controller pass failed", "warn controller pass failed"]);
    expect((await world.controller.repairCounts()).reconcileErrors).toBeGreaterThanOrEqual(2);
    world.ownersFail = false;
    await world.pass(MINUTE_MS);
    expect((await world.controller.repairCounts()).sweeps).toBe(1);
  });

  it("a configuration that cannot be read: fails the pass, which is repeated until it can be", async () => {
    const world = new World();
    world.config = () => {
      throw new Error("FEATURE_GATES: no such gate");
    };
    await world.controller.poke();
    await world.pass(RETRY_BASE_MS - 1);
    expect([world.made, world.logged]).toEqual([0, ["warn controller pass failed"]]);
    world.config = () => configOf();
    await world.pass(MINUTE_MS);
    expect([world.made, (await world.controller.repairCounts()).sweeps]).toEqual([1, 1]);
  });
});

describe("settings that the repair controller is told of", () => {
  const OTHER = configOf({ SERVICE_CLUSTER_IP_RANGE: "10.97.0.0/16" });

  it("a Worker that differs: counts at once, is an event of the default Service once, and is forgotten after five minutes", async () => {
    const world = new World();
    await world.controller.poke();
    await world.pass(1_000);
    const told = world.controller.pokeFrom(settingsOf(OTHER));
    expect((await world.controller.repairCounts()).differingSettings).toEqual(["SERVICE_CLUSTER_IP_RANGE"]);
    await told;
    await world.pass(1_000);
    expect(world.reported).toEqual(["Warning ConfigurationDiffers of kubernetes"]);
    await world.pass(5 * MINUTE_MS);
    expect((await world.controller.repairCounts()).differingSettings).toEqual([]);
    expect(world.reported).toHaveLength(1);
  });

  it.each(["absent", "silent"] as const)(
    "a Worker that differs, and a default Service that is %s: no event, and the log has it",
    async (state) => {
      const world = new World();
      world.defaultService = state;
      await world.controller.pokeFrom(settingsOf(OTHER));
      await world.pass(1_000);
      expect(world.reported).toEqual([]);
      expect(world.logged).toContain("warn configurations differ");
    },
  );

  it("a Worker that agrees: leaves nothing behind", async () => {
    const world = new World();
    await world.controller.pokeFrom(settingsOf(configOf()));
    await world.pass(1_000);
    expect([world.reported, (await world.controller.repairCounts()).differingSettings]).toEqual([[], []]);
  });

  it("a cluster that is opened under other settings than before: has everything swept, asks the other controllers, and tells of it", async () => {
    const world = new World();
    await world.controller.poke();
    await world.pass(1_000);
    expect(world.poked).toBe(0);
    world.config = () => OTHER;
    world.restart();
    expect(await world.calledAfter(poke)).toContain("services.objectsAfter");
    expect(world.reported).toEqual(["Normal ConfigurationChanged of kubernetes"]);
    expect([(await world.controller.repairCounts()).sweeps, world.poked]).toEqual([2, 1]);
  });
});
