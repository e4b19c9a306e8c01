import { describe, expect, it } from "vitest";
import type { Node } from "../../../src/api/meta/kubernetes";
import type { HealthPath } from "../../../src/proxy-health/rules/health-answer";
import { nodeFacts } from "../../../src/proxy-health/rules/eligibility";
import type { Clock } from "../../../src/core/base/ports";
import { HEARD_AGE_MS } from "../../../src/proxy-health/controller-question";
import { ASKED_NODE_AGE_MS } from "../../../src/proxy-health/node-finder";
import { NodeProxy, type NodeProxySetting } from "../../../src/proxy-health/node-proxy";
import type { Cursor, ShardChange } from "../../../src/proxy-health/pushed/shard-change";
import type { Report } from "../../../src/proxy-health/report";
import { NOTHING_KNOWN } from "../../../src/proxy-health/rpc";
import { MemoryNodeStorage } from "../../support/memory/node-storage";

const START = Date.UTC(2025, 0, 2, 3, 4, 5, 600);
const PERIOD_MS = 30_000;
const SILENCE_MS = 60_000;
const APPLIED: Report = { IPv4: { appliedAgoMs: 0 } };

type Metadata = NonNullable<Node["metadata"]>;

/** One object with its alarm, its clock, the store of Nodes and the controller, which knows nothing before it first tells something. */
class World {
  now = START;
  alarmAt: number | undefined;
  asked = 0;
  wakes = 0;
  questions = 0;
  cursor: Cursor = { epoch: 1, sequence: 0 };
  isControllerAway = false;
  isDiskFull = false;
  /** what happens once while the store of Nodes answers */
  meanwhile: () => Promise<unknown> = () => Promise.resolve();
  readonly #timers = new Set<{ at: number; work: () => void }>();
  /** Nodes in the API; undefined = the store does not answer */
  nodes: Map<string, Node> | undefined = new Map([["n1", {}]]);
  readonly storage = new MemoryNodeStorage();
  readonly logged: string[] = [];
  #object: NodeProxy;
  #setting: NodeProxySetting;

  constructor(setting: Partial<NodeProxySetting> = {}) {
    this.#setting = { syncPeriodMs: PERIOD_MS, serverStartedAt: 0, drainingTaints: [], drainsTerminatingNodes: true, ...setting };
    this.#object = this.#made();
  }

  #made(): NodeProxy {
    const clock: Clock = {
      now: () => this.now,
      sleep: () => Promise.resolve(),
      after: (delayMs, work) => {
        const timer = { at: this.now + delayMs, work };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
      nextTurn: () => Promise.resolve(),
    };
    return new NodeProxy(
      {
        storage: this.storage,
        clock,
        recorder: { log: (level, event) => void this.logged.push(`${level} ${event}`) },
        node: async (name) => {
          this.asked++;
          if (!this.nodes) throw new Error("store is away");
          const node = this.nodes.get(name);
          const { meanwhile } = this;
          this.meanwhile = () => Promise.resolve();
          await meanwhile();
          return node ? JSON.stringify(node) : null;
        },
        state: (known) => {
          this.questions++;
          if (this.isControllerAway) return Promise.reject(new Error("controller is away"));
          const isCurrent = known?.epoch === this.cursor.epoch && known.sequence === this.cursor.sequence;
          return Promise.resolve(this.cursor.sequence === 0 || isCurrent ? null : this.whole());
        },
        wakeAt: (atMs) => {
          this.wakes++;
          if (this.isDiskFull) throw new Error("database or disk is full");
          this.alarmAt = atMs;
        },
        alarmAt: () => Promise.resolve(this.alarmAt ?? null),
      },
      this.#setting,
    );
  }

  /** What runs behind an answer does so. */
  async behind(durationMs = 0): Promise<void> {
    this.now += durationMs;
    for (const timer of this.#timers) {
      if (timer.at > this.now) continue;
      this.#timers.delete(timer);
      timer.work();
    }
    for (let i = 0; i < 100; i++) await Promise.resolve();
  }

  /** The object goes and comes; the server with it, if it has a new start. */
  restart(serverStartedAt = this.#setting.serverStartedAt): void {
    this.#setting = { ...this.#setting, serverStartedAt };
    this.#object = this.#made();
  }

  setNode(spec: Node["spec"], metadata: Metadata = {}): void {
    this.nodes?.set("n1", { spec, metadata });
  }

  whole(): ShardChange {
    return { to: this.cursor, nodes: this.entries([...(this.nodes?.keys() ?? [])]), checks: [] };
  }

  entries(names: readonly string[]): ShardChange["nodes"] {
    const entry = (node: Node | undefined) => (node ? { facts: nodeFacts(node), counts: {} } : null);
    return Object.fromEntries(names.map((name) => [name, entry(this.nodes?.get(name))]));
  }

  /** The controller's next change: of these nodes, as they are now. Answers what the object has then. */
  tell(...names: string[]): Promise<Cursor | null> {
    const from = this.cursor;
    this.cursor = { ...from, sequence: from.sequence + 1 };
    return this.push(from.sequence === 0 ? this.whole() : { from, to: this.cursor, nodes: this.entries(names) });
  }

  push(change: ShardChange): Promise<Cursor | null> {
    return this.#object.push(change);
  }

  async report(report: Report = APPLIED, node = "n1"): Promise<string> {
    const result = await this.#object.report(node, report);
    return result.ok ? "kept" : result.reason;
  }

  /** Time goes by, and the alarm goes off on time. */
  async pass(durationMs: number): Promise<void> {
    const end = this.now + durationMs;
    for (let at = this.alarmAt; at !== undefined && at <= end; at = this.alarmAt) {
      this.now = Math.max(this.now, at);
      await this.ring();
    }
    this.now = end;
  }

  async ring(): Promise<void> {
    this.alarmAt = undefined;
    await this.#object.alarm();
  }

  /** Code of the check of default/web, or why there is none. */
  async serviceCodes(): Promise<string> {
    try {
      const answer = await this.#object.serviceHealth("n1", { namespace: "default", name: "web" }, null);
      return answer ? String(answer.code) : "refused";
    } catch (error) {
      return (error as Error).message;
    }
  }

  async body(path: HealthPath, node = "n1"): Promise<{ code: number; [member: string]: unknown }> {
    const { code, body } = await this.#object.health(node, path);
    return { code, ...(JSON.parse(body) as object) };
  }

  /** Codes of /healthz and /livez. */
  async codes(node = "n1"): Promise<string> {
    return `${(await this.body("/healthz", node)).code} ${(await this.body("/livez", node)).code}`;
  }
}

const taint = (key: string): Node["spec"] => ({ taints: [{ key, effect: "NoSchedule" }] });

describe("node without an agent", () => {
  it("a Node that is there: answers as a proxy at its start", async () => {
    const world = new World();
    const times = { lastUpdated: "2025-01-02T03:04:05.6Z", currentTime: "2025-01-02T03:04:05.6Z" };
    expect(await world.body("/healthz")).toEqual({ code: 200, ...times, nodeEligible: true, healthy: true });
    expect(await world.body("/livez")).toEqual({ code: 200, ...times, healthy: true });
    await world.pass(100 * SILENCE_MS);
    expect(await world.codes()).toBe("200 200");
  });

  it("a Node that was never seen: not eligible, and healthy", async () => {
    const world = new World();
    expect(await world.body("/healthz", "n2")).toMatchObject({ code: 503, nodeEligible: false, healthy: true });
    expect(await world.codes("n2")).toBe("503 200");
  });
});

describe("Node that was found, while the controller cannot tell", () => {
  it.each<[what: string, spec: Node["spec"], metadata: Metadata]>([
    ["a taint", taint("ToBeDeletedByClusterAutoscaler"), {}],
    ["a deletionTimestamp", {}, { deletionTimestamp: "2025-01-02T03:04:05Z" as never }],
  ])("%s: is seen by the next question, also after a restart, and written once", async (_, spec, metadata) => {
    const world = new World();
    expect(await world.codes()).toBe("200 200");
    const writes = world.storage.writes;
    world.setNode(spec, metadata);
    for (let i = 0; i < 3; i++) {
      world.now += ASKED_NODE_AGE_MS;
      expect(await world.codes()).toBe("503 200");
    }
    world.restart();
    world.nodes = undefined;
    expect([await world.codes(), world.storage.writes - writes]).toEqual(["503 200", 1]);
  });

  it("another uid: the last report of the earlier Node is gone", async () => {
    const world = new World();
    world.setNode({}, { uid: "1" });
    await world.report({ IPv4: { healthy: false } });
    world.now += ASKED_NODE_AGE_MS;
    world.setNode({}, { uid: "2", creationTimestamp: new Date(world.now).toISOString() });
    expect(await world.codes()).toBe("200 200");
    world.restart();
    expect([await world.codes(), [...world.storage.reports()]]).toEqual(["200 200", []]);
  });
});

/** Upstream's table with the node part of TestHealthzServer. */
describe("node that is about to go", () => {
  it.each<[what: string, setting: Partial<NodeProxySetting>, spec: Node["spec"], metadata: Metadata, codes: string]>([
    ["taint of another key", {}, taint("other"), {}, "200 200"],
    ["taint of the autoscaler", {}, taint("ToBeDeletedByClusterAutoscaler"), {}, "503 200"],
    ["deletionTimestamp", {}, {}, { deletionTimestamp: "2025-01-02T03:04:05Z" as never }, "503 200"],
    ["cordon", {}, { unschedulable: true }, {}, "200 200"],
    ["taint of DRAINING_TAINTS", { drainingTaints: ["karpenter.sh/disrupted"] }, taint("karpenter.sh/disrupted"), {}, "503 200"],
    ["gate off", { drainsTerminatingNodes: false }, taint("ToBeDeletedByClusterAutoscaler"), {}, "200 200"],
  ])("%s: codes of /healthz and /livez", async (_, setting, spec, metadata, codes) => {
    const world = new World(setting);
    world.setNode(spec, metadata);
    expect(await world.codes()).toBe(codes);
    expect(await world.body("/healthz")).toMatchObject({ healthy: true, nodeEligible: codes.startsWith("200") });
  });

  it("a taint that comes and goes: is seen by the first check after the controller told of it", async () => {
    const world = new World();
    const seen = [await world.codes()];
    for (const key of ["ToBeDeletedByClusterAutoscaler", "other"]) {
      world.setNode(taint(key));
      seen.push(await world.codes());
      await world.tell("n1");
      seen.push(await world.codes());
    }
    expect(seen).toEqual(["200 200", "200 200", "503 200", "503 200", "200 200"]);
  });

  it("a Node that was removed: is as one that was never seen, and its last report is gone", async () => {
    const world = new World();
    await world.report({ IPv4: { appliedAgoMs: 0, queuedForMs: SILENCE_MS } });
    expect(await world.codes()).toBe("503 503");
    await world.tell();
    world.nodes?.clear();
    await world.tell("n1");
    expect(await world.codes()).toBe("503 200");
    expect(await world.report()).toBe("unknownNode");
    world.setNode({});
    expect(await world.report()).toBe("kept");
    expect(await world.codes()).toBe("200 200");
  });
});

describe("Node that is made anew under an old name", () => {
  it("another uid: the silence and the report of the old one are gone; the same uid keeps them", async () => {
    const world = new World();
    world.setNode({}, { uid: "1" as never });
    await world.report();
    await world.pass(SILENCE_MS);
    world.setNode({}, { uid: "1" as never, generation: 2 });
    await world.tell("n1");
    expect(await world.codes()).toBe("503 503");
    world.setNode({}, { uid: "2" as never });
    await world.tell("n1");
    expect(await world.codes()).toBe("200 200");
    world.restart();
    expect([await world.codes(), [...world.storage.reports()]]).toEqual(["200 200", []]);
  });
});

describe("data plane that is late", () => {
  /** What is reported, then code and families after as many ms. */
  it.each<[report: Report, afterMs: number, seen: string]>([
    [{}, 0, "200"],
    [APPLIED, 59_999, "200 IPv4 ok"],
    [{ IPv4: { queuedForMs: 60_000 } }, 0, "200"],
    [{ IPv4: { appliedAgoMs: 90_000, queuedForMs: 0 } }, 59_999, "200 IPv4 ok"],
    [{ IPv4: { appliedAgoMs: 90_000, queuedForMs: 0 } }, 60_000, "503 IPv4 late"],
    [{ IPv4: { appliedAgoMs: 0, queuedForMs: 59_999 } }, 0, "200 IPv4 ok"],
    [{ IPv4: { appliedAgoMs: 0, queuedForMs: 59_999 } }, 1, "503 IPv4 late"],
    [{ IPv4: { appliedAgoMs: 0 }, IPv6: { appliedAgoMs: 0, queuedForMs: 60_000 } }, 0, "503 IPv4 ok IPv6 late"],
    [{ IPv4: { healthy: true }, IPv6: { healthy: false } }, 0, "503 IPv4 ok IPv6 late"],
    [{ IPv4: { healthy: true } }, 50_000, "200 IPv4 ok"],
  ])("report %j after %d ms: %s", async (report, afterMs, seen) => {
    const world = new World();
    await world.report(report);
    world.now += afterMs;
    for (const path of ["/healthz", "/livez"] as const) {
      const { code, status = {} } = await world.body(path);
      const families = Object.entries(status as object).map(
        ([family, { healthy }]: [string, { healthy: boolean }]) => `${family} ${healthy ? "ok" : "late"}`,
      );
      expect([code, ...families].join(" ")).toBe(seen);
    }
  });

  it("a late family: the answer has the newest sync on top, and the time of each family's own", async () => {
    const world = new World();
    await world.report({ IPv4: { appliedAgoMs: 70_600, queuedForMs: 60_000 }, IPv6: { healthy: false } });
    expect(await world.body("/livez")).toEqual({
      code: 503,
      lastUpdated: "2025-01-02T03:02:55Z",
      currentTime: "2025-01-02T03:04:05.6Z",
      healthy: false,
      status: {
        IPv4: { lastUpdated: "2025-01-02T03:02:55Z", healthy: false },
        IPv6: { lastUpdated: "0001-01-01T00:00:00Z", healthy: false },
      },
    });
  });

  it("a later report: stands in place of the one before", async () => {
    const world = new World();
    await world.report({ IPv4: { appliedAgoMs: 0, queuedForMs: 60_000 }, IPv6: { healthy: false } });
    await world.report(APPLIED);
    expect(await world.codes()).toBe("200 200");
  });
});

describe("agent that is silent", () => {
  it.each<[what: string, report: Report]>([
    ["one that only lives", {}],
    ["one that reports a sync", APPLIED],
  ])("%s: is silent after two periods without a report, and no longer with the next", async (_, report) => {
    const world = new World();
    await world.report(report);
    await world.pass(SILENCE_MS - 1);
    expect(await world.codes()).toBe("200 200");
    await world.pass(1);
    expect(await world.codes()).toBe("503 503");
    expect(await world.body("/healthz")).toMatchObject({ healthy: false, nodeEligible: true });
    world.restart();
    expect(await world.codes()).toBe("503 503");
    await world.report(report);
    expect(await world.codes()).toBe("200 200");
    expect(world.logged).toEqual(["warn the agent of a node is silent", "info the agent of a node reports again"]);
  });

  it("an agent that reports each period: is never silent; one beside it that stopped is, at its own time", async () => {
    const world = new World();
    world.nodes?.set("n2", {});
    await world.report(APPLIED, "n2");
    await world.pass(10_000);
    for (let i = 0; i < 10; i++) {
      await world.report();
      await world.pass(PERIOD_MS / 2);
      expect(await world.codes()).toBe("200 200");
      expect(await world.codes("n2")).toBe(world.now - START < SILENCE_MS ? "200 200" : "503 503");
      await world.pass(PERIOD_MS / 2);
    }
  });

  it("all agents silent: the object has no alarm any more", async () => {
    const world = new World();
    await world.report();
    await world.pass(SILENCE_MS);
    expect(world.alarmAt).toBeUndefined();
    await world.report();
    expect(world.alarmAt).toBe(world.now + SILENCE_MS);
  });
});

describe("server that was away", () => {
  it("an alarm more than 5 s late: grants a full period, during which waiting changes do not age", async () => {
    const world = new World();
    await world.report({ IPv4: { appliedAgoMs: 0, queuedForMs: 1_000 } });
    world.now += 3 * SILENCE_MS;
    world.restart();
    expect(await world.codes(), "before the alarm").toBe("200 200");
    await world.ring();
    expect(await world.codes()).toBe("200 200");
    world.restart();
    await world.pass(SILENCE_MS - 1);
    expect(await world.codes()).toBe("200 200");
    await world.pass(1);
    expect(await world.codes()).toBe("503 503");
  });

  it.each([
    [5_000, "503 503"],
    [5_001, "200 200"],
  ])("an alarm %d ms late: %s", async (lateMs, codes) => {
    const world = new World();
    await world.report();
    world.now += SILENCE_MS + lateMs;
    await world.ring();
    expect(await world.codes()).toBe(codes);
  });

  it("an alarm on time, soon after a new start of the server: the period counts from the start", async () => {
    const world = new World();
    await world.report();
    world.now += SILENCE_MS - 3_000;
    world.restart(world.now);
    await world.pass(SILENCE_MS - 1);
    expect(await world.codes()).toBe("200 200");
    await world.pass(1);
    expect(await world.codes()).toBe("503 503");
  });

  it("a family that was late before: stays late", async () => {
    const world = new World();
    await world.report({ IPv4: { appliedAgoMs: 0, queuedForMs: 60_000 } });
    world.restart(world.now + 1);
    world.now += 10_000;
    expect(await world.codes()).toBe("503 503");
  });

  it("an early alarm: calls nobody silent and is set again", async () => {
    const world = new World();
    await world.report();
    world.now += SILENCE_MS - 1;
    await world.ring();
    expect(world.alarmAt).toBe(START + SILENCE_MS);
    expect(await world.codes()).toBe("200 200");
  });

  it("a restart that lost the alarm: sets it again", async () => {
    const world = new World();
    await world.report();
    world.alarmAt = undefined;
    world.restart();
    await world.behind();
    expect(world.alarmAt).toBe(START + SILENCE_MS);
  });

  it("a restart with its alarm still set, before and after its time: writes nothing", async () => {
    const world = new World();
    await world.report();
    const wakes = world.wakes;
    for (const afterMs of [0, SILENCE_MS + 1, SILENCE_MS]) {
      world.now += afterMs;
      world.restart();
      await world.behind();
    }
    expect(world.wakes - wakes).toBe(0);
  });

  it("an alarm lost while the object lives: a check sets it behind its answer, once; a report at once", async () => {
    const world = new World();
    await world.report();
    world.alarmAt = undefined;
    world.now += SILENCE_MS + 5_001;
    expect([await world.codes(), world.alarmAt]).toEqual(["200 200", undefined]);
    await world.behind(1_000);
    expect([world.alarmAt, world.wakes]).toEqual([world.now, 2]);
    world.alarmAt = undefined;
    await world.codes();
    await world.behind(1_000);
    expect(world.alarmAt).toBeUndefined();
    await world.report();
    expect(world.alarmAt).toBe(world.now);
  });

  it("a lost alarm on a full disk: checks go on from the rows, after restarts too", async () => {
    const world = new World();
    await world.report();
    world.alarmAt = undefined;
    world.isDiskFull = true;
    for (let i = 0; i < 4; i++) {
      world.restart();
      await world.behind(SILENCE_MS / 2);
      expect(await world.codes()).toBe("200 200");
      await world.behind(1_000);
    }
  });

  it("several agents and no report of any for a period: one more period, once; then all are silent", async () => {
    const world = new World();
    world.nodes?.set("n2", {});
    await world.report();
    await world.pass(10_000);
    await world.report(APPLIED, "n2");
    await world.pass(SILENCE_MS - 10_000);
    const both = async () => [await world.codes(), await world.codes("n2")];
    expect(await both()).toEqual(["200 200", "200 200"]);
    await world.pass(SILENCE_MS - 1);
    expect(await both()).toEqual(["200 200", "200 200"]);
    await world.pass(1);
    expect(await both()).toEqual(["503 503", "503 503"]);
  });
});

describe("clock that was set back", () => {
  const HOUR_MS = 3_600_000;

  it.each([
    ["an hour", HOUR_MS],
    ["an hour, after a start of the server", HOUR_MS, START],
    ["a minute", SILENCE_MS],
  ])(
    "by %s: an agent that stops is silent within three minutes of checks, and one that goes on never is",
    async (_, backMs, startedAt = 0) => {
      const world = new World({ serverStartedAt: startedAt });
      world.nodes?.set("n2", {});
      await world.report();
      await world.report(APPLIED, "n2");
      world.now -= backMs;
      const end = world.now + 3 * SILENCE_MS;
      while (world.now < end) {
        await world.report(APPLIED, "n2");
        expect(await world.codes("n2")).toBe("200 200");
        await world.codes();
        await world.behind();
        await world.pass(PERIOD_MS / 2);
        await world.behind();
      }
      expect([await world.codes(), await world.codes("n2")]).toEqual(["503 503", "200 200"]);
    },
  );

  it("twice: silence is noticed both times, by checks alone", async () => {
    const world = new World();
    for (let times = 0; times < 2; times++) {
      await world.report();
      world.now -= HOUR_MS;
      expect(await world.codes()).toBe("200 200");
      await world.behind(1_000);
      await world.pass(2 * SILENCE_MS);
      expect(await world.codes()).toBe("503 503");
    }
  });

  it("a waiting change: ages from its report, and no answer has a time of the future", async () => {
    const world = new World();
    await world.report({ IPv4: { appliedAgoMs: 1_000, queuedForMs: 30_000 } });
    world.now -= HOUR_MS;
    expect(await world.body("/livez")).toMatchObject({
      code: 200,
      status: { IPv4: { lastUpdated: new Date(world.now - 1_000).toISOString().replace("00Z", "Z") } },
    });
    await world.behind(1_000);
    await world.pass(0);
    await world.pass(SILENCE_MS - 1);
    expect(await world.codes()).toBe("503 503");
  });
});

describe("store of Nodes that does not answer", () => {
  it("state of a node: goes on as it was last known, also after a restart", async () => {
    const world = new World();
    world.setNode(taint("ToBeDeletedByClusterAutoscaler"));
    world.nodes?.set("n2", {});
    expect([await world.codes(), await world.codes("n2")]).toEqual(["503 200", "200 200"]);
    world.nodes = undefined;
    for (let i = 0; i < 3; i++) {
      world.now += HEARD_AGE_MS;
      world.restart();
      expect([await world.codes(), await world.codes("n2")]).toEqual(["503 200", "200 200"]);
    }
  });

  it("a node of which nothing is known: no answer, each check asks anew, and it is known as soon as the store answers", async () => {
    const world = new World();
    const { nodes } = world;
    world.nodes = undefined;
    for (const path of ["/healthz", "/livez"] as const) await expect(world.body(path)).rejects.toThrow(NOTHING_KNOWN);
    expect(world.asked).toBe(2);
    world.nodes = nodes;
    expect(await world.codes()).toBe("200 200");
  });

  it("a name that the store did not have when it last answered, or that the controller did not tell: goes on as one without a Node", async () => {
    const asked = new World();
    expect(await asked.codes("n2")).toBe("503 200");
    asked.nodes = undefined;
    asked.now += ASKED_NODE_AGE_MS;
    expect([await asked.codes("n2"), await asked.codes("n2")]).toEqual(["503 200", "503 200"]);
    const told = new World();
    await told.tell();
    told.nodes = undefined;
    expect(await told.codes("n2")).toBe("503 200");
  });

  it("report of a known node: is kept; of an unknown one: may be sent again", async () => {
    const world = new World();
    await world.report();
    world.nodes = undefined;
    world.now += SILENCE_MS - 1;
    expect([await world.report(), await world.report(APPLIED, "n2")]).toEqual(["kept", "unanswered"]);
  });
});

describe("cost", () => {
  it("checks: write nothing, do not ask for a known Node, and ask the controller once in the bound", async () => {
    const world = new World();
    await world.report();
    await world.tell();
    const [writes, asked, questions] = [world.storage.writes, world.asked, world.questions];
    for (let i = 0; i < 20; i++) {
      world.now += HEARD_AGE_MS / 10;
      await Promise.all([world.codes(), world.codes()]);
    }
    expect([world.storage.writes - writes, world.asked - asked, world.questions - questions]).toEqual([0, 0, 2]);
  });

  it("checks of a name without a Node: ask for it once in the bound, those at the same time together", async () => {
    const world = new World();
    for (let i = 0; i < 20; i++) {
      await Promise.all([world.codes("n2"), world.codes("n2")]);
      world.now += ASKED_NODE_AGE_MS / 10;
    }
    expect([world.asked, world.storage.writes]).toEqual([2, 0]);
  });

  it("nodes whose Nodes are gone: their rows go, those of nodes that never had an agent as well", async () => {
    const world = new World();
    for (let i = 0; i < 50; i++) {
      world.nodes?.set(`x${i}`, {});
      if (i % 2) await world.report(APPLIED, `x${i}`);
    }
    await world.tell();
    const names = [...(world.nodes?.keys() ?? [])];
    world.nodes?.clear();
    await world.tell(...names);
    expect([[...world.storage.reports()], [...world.storage.facts()]]).toEqual([[], []]);
  });

  it("reports: one write each", async () => {
    const world = new World();
    await world.report();
    const writes = world.storage.writes;
    for (let i = 0; i < 5; i++) await world.report();
    expect(world.storage.writes - writes).toBe(5);
  });
});

describe("what the controller tells", () => {
  it("a change that comes late, twice, or with a gap: changes nothing, and the answer says what the object has", async () => {
    const world = new World();
    await world.tell();
    const first = world.whole();
    world.setNode(taint("ToBeDeletedByClusterAutoscaler"));
    const second = await world.tell("n1");
    expect(second).toEqual({ epoch: 1, sequence: 2 });
    expect([await world.push(first), await world.codes()]).toEqual([second, "503 200"]);
    const gap: ShardChange = { from: { epoch: 1, sequence: 5 }, to: { epoch: 1, sequence: 6 }, nodes: { n1: null } };
    expect([await world.push(gap), await world.codes()]).toEqual([second, "503 200"]);
    const writes = world.storage.writes;
    expect([await world.push(world.whole()), world.storage.writes - writes]).toEqual([second, 0]);
  });

  it("a change with a gap for an object without rows: the answer says that it has nothing", async () => {
    const world = new World();
    expect(await world.push({ from: { epoch: 1, sequence: 0 }, to: { epoch: 1, sequence: 1 }, nodes: {} })).toBeNull();
  });

  it("a controller that began anew: its later epoch counts, whatever its sequence", async () => {
    const world = new World();
    for (let i = 0; i < 5; i++) await world.tell("n1");
    world.setNode(taint("ToBeDeletedByClusterAutoscaler"));
    world.cursor = { epoch: 2, sequence: 0 };
    expect(await world.tell()).toEqual({ epoch: 2, sequence: 1 });
    expect(await world.codes()).toBe("503 200");
  });

  it("a lost push: the first check after the bound asks, and the next one has it; so it is with a clock that was set back", async () => {
    const world = new World();
    await world.tell();
    world.setNode(taint("ToBeDeletedByClusterAutoscaler"));
    world.cursor = { epoch: 1, sequence: 2 };
    world.now += HEARD_AGE_MS - 1;
    expect([await world.codes(), world.questions]).toEqual(["200 200", 0]);
    world.now += 1;
    await world.codes();
    expect([await world.codes(), world.questions]).toEqual(["503 200", 1]);
    world.setNode(taint("other"));
    world.cursor = { epoch: 1, sequence: 3 };
    world.now -= 10 * HEARD_AGE_MS;
    await world.codes();
    expect(await world.codes()).toBe("200 200");
  });

  it("a push with a gap: the next check asks at once, and the one after it has what was missed", async () => {
    const world = new World();
    await world.tell();
    world.setNode(taint("ToBeDeletedByClusterAutoscaler"));
    world.cursor = { epoch: 1, sequence: 3 };
    await world.push({ from: { epoch: 1, sequence: 2 }, to: world.cursor, nodes: {} });
    await world.codes();
    expect([await world.codes(), world.questions]).toEqual(["503 200", 1]);
  });

  it("an answer of a controller whose clock was set back: counts, although its epoch is older", async () => {
    const world = new World();
    await world.tell();
    world.setNode(taint("ToBeDeletedByClusterAutoscaler"));
    world.cursor = { epoch: 0, sequence: 1 };
    expect(await world.push(world.whole())).toEqual({ epoch: 1, sequence: 1 });
    world.now += HEARD_AGE_MS;
    await world.codes();
    expect(await world.codes()).toBe("503 200");
  });

  it("a whole state without Nodes that were found: their store is asked whether they are there, but for those of the last minute", async () => {
    const world = new World();
    world.nodes?.set("n2", {}).set("n3", {});
    await world.report(APPLIED, "n2");
    await world.report(APPLIED, "n3");
    world.now += 60_000;
    await world.report();
    world.nodes?.delete("n2");
    world.nodes?.delete("n1");
    await world.push({ to: { epoch: 1, sequence: 1 }, nodes: {}, checks: [] });
    await world.behind();
    const kept = () => [[...world.storage.reports()].map(([name]) => name), [...world.storage.facts()].map(([name]) => name)];
    expect(kept()).toEqual([
      ["n3", "n1"],
      ["n3", "n1"],
    ]);
    world.restart();
    await world.push({ to: { epoch: 1, sequence: 2 }, nodes: {}, checks: [] });
    await world.behind();
    expect(kept()).toEqual([["n3"], ["n3"]]);
  });

  it("a Node that was found, and a store that fails: no whole state ends it", async () => {
    const world = new World();
    await world.report({ IPv4: { healthy: false } });
    const { nodes } = world;
    world.nodes = undefined;
    world.now += 120_000;
    await world.push({ to: { epoch: 1, sequence: 1 }, nodes: {}, checks: [] });
    await world.behind();
    expect(await world.codes()).toBe("503 503");
    world.nodes = nodes;
    expect(await world.report()).toBe("kept");
  });

  it("a Node that goes while its store answers that it is there: is gone, since the push is newer", async () => {
    const world = new World();
    world.nodes?.set("n2", {});
    await world.tell();
    world.setNode({ taints: [] });
    world.meanwhile = async () => {
      world.nodes?.delete("n2");
      await world.tell("n2");
    };
    world.cursor = { epoch: 1, sequence: 2 };
    const lost = { from: { epoch: 1, sequence: 1 }, to: world.cursor, nodes: { n2: null } };
    await world.push(lost);
    expect(await world.report(APPLIED, "n2")).toBe("unknownNode");
    expect([...world.storage.reports()]).toEqual([]);
  });

  it.each<[what: string, reportedAfterMs: number, codes: string]>([
    ["of the new agent", 1_000, "503 503"],
    ["of the earlier agent", -1_000, "200 200"],
    ["within the second of the creation", 999, "200 200"],
    ["of a clock that was set back since", 60_000, "200 200"],
  ])("a Node made anew, and a last report %s: is judged by its own report alone", async (_, reportedAfterMs, codes) => {
    const world = new World();
    world.setNode({}, { uid: "1" });
    await world.tell();
    const createdAt = Math.floor((world.now + 10_000) / 1_000) * 1_000;
    world.setNode({}, { uid: "2", creationTimestamp: new Date(createdAt).toISOString() });
    world.now = createdAt + reportedAfterMs;
    await world.report({ IPv4: { healthy: false } });
    world.now = createdAt + 2_000;
    await world.tell("n1");
    expect(await world.codes()).toBe(codes);
    world.restart();
    expect(await world.codes()).toBe(codes);
  });

  it("checks of a Service before anybody told of checks: ask together, and fail until the controller answers", async () => {
    const world = new World();
    const ask = () => world.serviceCodes();
    const unknown = `${NOTHING_KNOWN}: nothing is known of the node yet`;
    expect(await Promise.all([ask(), ask()])).toEqual([unknown, unknown]);
    expect([await ask(), world.questions]).toEqual([unknown, 1]);
    world.now += 5_000;
    world.cursor = { epoch: 1, sequence: 1 };
    expect(await Promise.all([ask(), ask()])).toEqual(["refused", "refused"]);
    expect(world.questions).toBe(2);
  });

  it("a state without checks: those that were told go on, with their counts", async () => {
    const world = new World();
    const web = { namespace: "default", name: "web", port: 30_001, families: ["IPv4" as const] };
    const facts = nodeFacts({});
    await world.push({
      to: { epoch: 1, sequence: 1 },
      nodes: { n1: { facts, counts: { "default/web": { IPv4: 2 } } } },
      checks: [web],
    });
    await world.push({ to: { epoch: 2, sequence: 1 }, nodes: { n1: { facts } } });
    expect(await world.serviceCodes()).toBe("200");
    world.restart();
    expect(await world.serviceCodes()).toBe("200");
  });

  it("a controller that does not answer: the last known state goes on, and checks ask again after 5 s", async () => {
    const world = new World();
    await world.tell();
    world.isControllerAway = true;
    world.now += HEARD_AGE_MS;
    for (let i = 0; i < 10; i++) {
      expect(await world.codes()).toBe("200 200");
      await world.behind(1_000);
    }
    expect(world.questions).toBe(2);
  });
});
