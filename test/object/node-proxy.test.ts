/** The health of nodes through the whole Worker and real objects, with a clock that the test drives. */
import { abortAllDurableObjects, createExecutionContext, env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { configOf, type Env } from "../../durable-objects/env";
import { Controller } from "../../durable-objects/controller";
import { NodeProxy } from "../../durable-objects/node-proxy";
import { ResourceStore } from "../../durable-objects/resource-store";
import { HEARD_AGE_MS } from "../../src/proxy-health/node-proxy";
import { silenceMs } from "../../src/proxy-health/judgement";
import { nodeProxyOf } from "../../src/tenancy/cluster-objects";
import { app } from "../../src/worker/app";
import { beginRequest, type Place } from "../../src/worker/http/in-flight";
import { freshCluster } from "../support/objects/store-stubs";

const bindings = env as unknown as Env;
const NODES = "/api/v1/nodes";
const REPORT = `${NODES}/n1/proxy-health`;
const SILENCE_MS = silenceMs(30_000);
const APPLIED = { IPv4: { appliedAgoMs: 0 } };
const TAINT = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };

const PATIENCE = { timeout: 30_000, interval: 20 };

let now = Date.now();
beforeEach(() => void vi.spyOn(Date, "now").mockImplementation(() => now));
afterEach(() => vi.restoreAllMocks());

const begun = () => beginRequest("create", new Headers(), configOf(bindings));

/** The cluster of one test, with the node n1. */
class Cluster {
  readonly name = freshCluster();

  static async ready(): Promise<Cluster> {
    const cluster = new Cluster();
    expect((await cluster.send("POST", NODES, { metadata: { name: "n1" } })).status).toBe(201);
    return cluster;
  }

  send(method: string, path: string, body?: object | string, more: Record<string, string> = {}): Promise<Response> {
    const headers = {
      ...more,
      "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
    };
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const init = { method, headers, ...(text === undefined ? {} : { body: text }) };
    return Promise.resolve(app.request(`http://h/clusters/${this.name}${path}`, init, bindings, createExecutionContext()));
  }

  /** The code of a report, and the message of its answer. */
  async report(body: object | string, method = "PUT", path = REPORT): Promise<string> {
    const response = await this.send(method, path, body);
    const { message } = await response.json<{ message: string }>();
    return `${response.status} ${message}`;
  }

  /** Codes of /healthz and /livez. */
  async codes(node = "n1"): Promise<string> {
    const answers = [await this.send("GET", `/nodes/${node}/healthz`), await this.send("GET", `/nodes/${node}/livez`)];
    await Promise.all(answers.map((answer) => answer.text()));
    return answers.map(({ status }) => status).join(" ");
  }

  /** Sequence of the controller's last change that the object has; 0 = none. */
  cursor(): Promise<number> {
    return runInDurableObject(this.object, (_, { storage }) => {
      const [row] = storage.sql.exec<{ sequence: number }>("SELECT sequence FROM pushed_cursor").toArray();
      return row?.sequence ?? 0;
    });
  }

  get object() {
    return bindings.NODE_PROXY.getByName(`${this.name}/${nodeProxyOf("n1")}`);
  }
}

describe("check of a node", () => {
  it("a node without an agent: upstream's body and headers, for no cache to keep", async () => {
    const cluster = await Cluster.ready();
    const response = await cluster.send("GET", "/nodes/n1/healthz");
    const { currentTime, lastUpdated, ...body } = await response.json<Record<string, unknown>>();
    expect([response.status, body]).toEqual([200, { nodeEligible: true, healthy: true }]);
    expect(currentTime).toBe(lastUpdated);
    const shown = ["Content-Type", "X-Content-Type-Options", "Cache-Control"].map((name) => response.headers.get(name));
    expect(shown).toEqual(["application/json", "nosniff", "no-store"]);
    expect((await cluster.send("HEAD", "/nodes/n1/livez")).status).toBe(200);
    expect((await cluster.send("POST", "/nodes/n1/healthz")).status).toBe(405);
  });

  it("a node that was never seen: 503 on /healthz, 200 on /livez; a cluster that is not there: 404", async () => {
    const cluster = await Cluster.ready();
    expect([await cluster.codes("n2"), await cluster.codes("%2F"), await new Cluster().codes()]).toEqual(["503 200", "503 200", "404 404"]);
  });

  it("an object of the node that fails: its last answers go on, and without one those of a start", async () => {
    const cluster = await Cluster.ready();
    await cluster.report({ IPv4: { healthy: false } });
    await cluster.send("POST", NODES, { metadata: { name: "n2" } });
    expect(await cluster.codes()).toBe("503 503");
    const health = vi.spyOn(NodeProxy.prototype, "health");
    for (const error of ["database or disk is full: SQLITE_FULL", "a bug"]) {
      health.mockRejectedValue(new Error(error));
      expect([await cluster.codes(), await cluster.codes("n2")]).toEqual(["503 503", "200 200"]);
    }
    health.mockRestore();
    await cluster.report(APPLIED);
    expect(await cluster.codes()).toBe("200 200");
  });

  it("a name that no Node can have: is as one that was never seen, and reaches no object", async () => {
    const cluster = await Cluster.ready();
    const health = vi.spyOn(NodeProxy.prototype, "health");
    for (const name of ["a".repeat(254), "N1", "x".repeat(8_000)]) expect(await cluster.codes(name)).toBe("503 200");
    expect(health).not.toHaveBeenCalled();
  });

  it("as many writes under way as are allowed: a report is kept, one of unknown or larger size is refused", async () => {
    const cluster = await Cluster.ready();
    const places: (Place | undefined)[] = [];
    for (let place = begun(); place; place = begun()) places.push(place);
    const sized = (length?: number) =>
      cluster.send("PUT", REPORT, APPLIED, length === undefined ? {} : { "Content-Length": String(length) });
    const statuses = [(await sized(26)).status, (await sized()).status, (await sized(5_000)).status];
    for (const place of places) place?.end();
    expect(statuses).toEqual([200, 429, 429]);
  });

  it("a taint of the autoscaler, and a removed Node: 503 as soon as the controller has told of it", async () => {
    const cluster = await Cluster.ready();
    expect(await cluster.codes()).toBe("200 200");
    for (const [taints, codes] of [
      [[TAINT], "503 200"],
      [[], "200 200"],
    ] as const) {
      expect((await cluster.send("PATCH", `${NODES}/n1`, { spec: { taints } })).status).toBe(200);
      await expect.poll(() => cluster.codes(), PATIENCE).toBe(codes);
    }
    expect((await cluster.send("DELETE", `${NODES}/n1`)).status).toBe(200);
    await expect.poll(() => cluster.codes(), PATIENCE).toBe("503 200");
  });

  it("a push that is lost: is made again", async () => {
    const cluster = await Cluster.ready();
    await expect.poll(() => cluster.cursor(), PATIENCE).toBeGreaterThan(0);
    vi.spyOn(NodeProxy.prototype, "push").mockRejectedValueOnce(new Error("lost"));
    await cluster.send("PATCH", `${NODES}/n1`, { spec: { taints: [TAINT] } });
    await expect.poll(() => cluster.codes(), PATIENCE).toBe("503 200");
  });

  it("a controller that fails, and a store of Nodes that does: the last known state goes on, also after the object died", async () => {
    const cluster = await Cluster.ready();
    await cluster.send("PATCH", `${NODES}/n1`, { spec: { taints: [TAINT] } });
    await expect.poll(() => cluster.codes(), PATIENCE).toBe("503 200");
    const failing = [
      vi.spyOn(ResourceStore.prototype, "objectsNamed").mockRejectedValue(new Error("disk is full")),
      vi.spyOn(ResourceStore.prototype, "objectsSince").mockRejectedValue(new Error("disk is full")),
      vi.spyOn(Controller.prototype, "shardState").mockRejectedValue(new Error("disk is full")),
    ];
    await cluster.send("PATCH", `${NODES}/n1`, { spec: { taints: [] } });
    now += HEARD_AGE_MS;
    expect(await cluster.codes()).toBe("503 200");
    await abortAllDurableObjects();
    expect(await cluster.codes()).toBe("503 200");
    for (const spy of failing) spy.mockRestore();
    await expect
      .poll(async () => {
        now += HEARD_AGE_MS;
        return cluster.codes();
      }, PATIENCE)
      .toBe("200 200");
  });
});

describe("report of a node", () => {
  it("a late family: 503 on both paths, until a report says otherwise; POST does the same as PUT", async () => {
    const cluster = await Cluster.ready();
    expect(await cluster.report({ IPv4: { appliedAgoMs: 1_000, queuedForMs: 59_000 } })).toBe("200 the report is kept");
    expect(await cluster.codes()).toBe("200 200");
    now += 1_000;
    expect(await cluster.codes()).toBe("503 503");
    expect(await cluster.report({ IPv4: { healthy: true } }, "POST")).toBe("200 the report is kept");
    expect(await cluster.codes()).toBe("200 200");
  });

  it("what is no report: is refused, and the last good one stays", async () => {
    const cluster = await Cluster.ready();
    await cluster.report({ IPv4: { healthy: false } });
    const refusals = [
      await cluster.report({ IPv5: {} }),
      await cluster.report({ IPv4: { queuedForMs: -1 } }),
      await cluster.report("[]"),
      await cluster.report("{"),
      await cluster.report({ IPv4: { healthy: true }, padding: "x".repeat(5_000) }),
      await cluster.report(APPLIED, "PUT", `${NODES}/n2/proxy-health`),
    ];
    expect(refusals).toEqual([
      '422 ProxyHealth "n1" is invalid: family: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"',
      '422 ProxyHealth "n1" is invalid: IPv4.queuedForMs: Invalid value: -1: must be a whole number of milliseconds between 0 and 315360000000',
      "400 the body is no JSON object",
      "400 the body is no JSON object",
      "413 a report has at most 4096 bytes",
      '404 nodes "n2" not found',
    ]);
    expect(await cluster.codes()).toBe("503 503");
    expect((await cluster.send("GET", REPORT)).status).toBe(405);
  });

  it("a Node that comes after a check of its name: its first report is kept", async () => {
    const cluster = await Cluster.ready();
    expect(await cluster.codes("n2")).toBe("503 200");
    await cluster.send("POST", NODES, { metadata: { name: "n2" } });
    expect(await cluster.report(APPLIED, "PUT", `${NODES}/n2/proxy-health`)).toBe("200 the report is kept");
    expect(await cluster.codes("n2")).toBe("200 200");
  });

  it("reports and checks: one row for each report, none for a check", async () => {
    const cluster = await Cluster.ready();
    await cluster.report(APPLIED);
    await cluster.codes();
    const rows = () =>
      runInDurableObject(cluster.object, (_, { storage }) => storage.sql.exec("SELECT total_changes() AS n").one().n as number);
    const before = await rows();
    for (let i = 0; i < 3; i++) await cluster.report(APPLIED);
    for (let i = 0; i < 10; i++) {
      now += 1_000;
      await cluster.codes();
    }
    expect((await rows()) - before).toBe(3);
  });
});

describe("agent that stops", () => {
  it("two periods without a report: 503 by the alarm, also after the object died; the next report ends it", async () => {
    const cluster = await Cluster.ready();
    await cluster.report(APPLIED);
    now += SILENCE_MS;
    expect(await cluster.codes()).toBe("200 200");
    expect(await runDurableObjectAlarm(cluster.object)).toBe(true);
    expect(await cluster.codes()).toBe("503 503");
    await abortAllDurableObjects();
    expect(await cluster.codes()).toBe("503 503");
    await cluster.report(APPLIED);
    expect(await cluster.codes()).toBe("200 200");
  });

  it("two minutes without a server: nobody is called silent before a full period after it", async () => {
    const cluster = await Cluster.ready();
    await cluster.report({ IPv4: { appliedAgoMs: 0, queuedForMs: 30_000 } });
    await abortAllDurableObjects();
    now += 120_000;
    expect(await cluster.codes()).toBe("200 200");
    expect(await runDurableObjectAlarm(cluster.object)).toBe(true);
    expect(await cluster.codes()).toBe("200 200");
    now += SILENCE_MS;
    expect(await runDurableObjectAlarm(cluster.object)).toBe(true);
    expect(await cluster.codes()).toBe("503 503");
  });
});
