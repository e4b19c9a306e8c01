/** Checks of Services: upstream's table of the per-Service server (pkg/proxy/healthcheck/healthcheck_test.go), on an object as the controller tells it. */
import { describe, expect, it } from "vitest";
import { NodeProxy } from "../../../src/proxy-health/node-proxy";
import type { ServiceCheck } from "../../../src/proxy-health/pushed/shard-change";
import type { Report } from "../../../src/proxy-health/report";
import { MemoryNodeStorage } from "../../support/memory/node-storage";

const FACTS = { uid: "1", isTerminating: false, taints: ["ToBeDeletedByClusterAutoscaler"] };

class World {
  readonly #object = new NodeProxy(
    {
      storage: new MemoryNodeStorage(),
      clock: {
        now: () => 1_000_000,
        sleep: () => Promise.resolve(),
        after: () => () => undefined,
        nextTurn: () => Promise.resolve(),
      },
      recorder: { log: () => undefined },
      node: () => Promise.resolve(null),
      state: () => Promise.resolve(null),
      wakeAt: () => undefined,
      alarmAt: () => Promise.resolve(null),
    },
    { serverStartedAt: 0, drainingTaints: [], drainsTerminatingNodes: true, syncPeriodMs: 30_000 },
  );
  #sequence = 0;
  #checks: ServiceCheck[] = [];

  /** Ports by Service, as upstream's SyncServices has them; then the counts of the node n1, as its SyncEndpoints has them. */
  async sync(ports: Readonly<Record<string, number>>, counts: Readonly<Record<string, number>> = {}): Promise<void> {
    this.#checks = Object.entries(ports).map(([key, port]) => {
      const [namespace = "", name = ""] = key.split("/");
      return { namespace, name, port, families: ["IPv4"] };
    });
    const told = Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, { IPv4: count }]));
    const to = { epoch: 1, sequence: ++this.#sequence };
    await this.#object.push({ to, nodes: { n1: { facts: FACTS, counts: told } }, checks: this.#checks });
  }

  report(report: Report): Promise<unknown> {
    return this.#object.report("n1", report);
  }

  async asked(...asked: Parameters<NodeProxy["serviceHealth"]>): Promise<string> {
    const answer = await this.#object.serviceHealth(...asked);
    return answer ? `${answer.code} ${answer.headers["X-Load-Balancing-Endpoint-Weight"] ?? ""}` : "refused";
  }

  /** Of each check: `port code weight`. */
  async seen(): Promise<string[]> {
    return Promise.all(this.#checks.map(async ({ port }) => `${port} ${await this.asked("n1", { port }, null)}`));
  }

  body(port: number): Promise<unknown> {
    return this.#object.serviceHealth("n1", { port }, null);
  }
}

describe("check of a Service on a node that is about to go", () => {
  it.each<[step: string, ports: Record<string, number>, counts: Record<string, number>, seen: string[]]>([
    ["counts of a Service without a check", {}, { "a/b": 93 }, []],
    ["no counts", { "a/b": 9376 }, {}, ["9376 503 0"]],
    ["18 endpoints", { "a/b": 9376 }, { "a/b": 18 }, ["9376 200 18"]],
    [
      "three Services",
      { "a/b": 9376, "c/d": 12909, "e/f": 11113 },
      { "a/b": 9, "c/d": 3, "e/f": 7 },
      ["9376 200 9", "12909 200 3", "11113 200 7"],
    ],
    ["another port", { "c/d": 12909, "e/f": 11114, "g/h": 11878 }, { "c/d": 3 }, ["12909 200 3", "11114 503 0", "11878 503 0"]],
    [
      "counts without one of them",
      { "c/d": 12909, "e/f": 11114, "g/h": 11878 },
      { "a/b": 9, "e/f": 7, "g/h": 6 },
      ["12909 503 0", "11114 200 7", "11878 200 6"],
    ],
  ])("%s: codes and weights as upstream", async (_, ports, counts, seen) => {
    const world = new World();
    await world.sync({ "a/b": 9376 }, { "a/b": 1 });
    await world.sync(ports, counts);
    expect(await world.seen()).toEqual(seen);
  });

  it("a proxy that is late: 503 with the same weights, until it is healthy again", async () => {
    const world = new World();
    await world.sync({ "c/d": 12909, "e/f": 11114 }, { "e/f": 7 });
    await world.report({ IPv4: { healthy: false } });
    expect(await world.seen()).toEqual(["12909 503 0", "11114 503 7"]);
    expect(await world.body(11114)).toEqual({
      code: 503,
      headers: { "Content-Type": "application/json", "X-Content-Type-Options": "nosniff", "X-Load-Balancing-Endpoint-Weight": "7" },
      body: '{\n\t"service": {\n\t\t"namespace": "e",\n\t\t"name": "f"\n\t},\n\t"localEndpoints": 7,\n\t"serviceProxyHealthy": false\n}',
      isOfNode: true,
    });
    await world.report({ IPv4: { healthy: true } });
    expect(await world.seen()).toEqual(["12909 503 0", "11114 200 7"]);
  });

  it("a port, a name, or a family that nobody has: nothing answers; a node that nobody knows: no endpoints", async () => {
    const world = new World();
    await world.sync({ "a/b": 9376 }, { "a/b": 2 });
    const named = { namespace: "a", name: "b" };
    const seen = [
      await world.asked("n1", named, null),
      await world.asked("n1", named, "IPv4"),
      await world.asked("n1", named, "IPv6"),
      await world.asked("n1", { namespace: "b", name: "b" }, null),
      await world.asked("n1", { port: 1 }, null),
      await world.asked("n2", named, null),
    ];
    expect(seen).toEqual(["200 2", "200 2", "refused", "refused", "refused", "503 0"]);
  });
});
