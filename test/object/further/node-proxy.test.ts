/** The health of nodes through the whole Worker and real objects, with a clock that the test drives. */
import { abortAllDurableObjects, createExecutionContext, env, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { objectConfig, type Env } from "../../../durable-objects/platform/env";
import { Controller } from "../../../durable-objects/controller";
import { NodeProxy } from "../../../durable-objects/node-proxy";
import { ResourceStore } from "../../../durable-objects/resource-store";
import { HEARD_AGE_MS } from "../../../src/proxy-health/controller-question";
import { silenceMs } from "../../../src/proxy-health/judgement";
import { nodeProxyOf } from "../../../src/tenancy/cluster-objects";
import { app } from "../../../src/worker/app";
import { beginRequest, type HeldSeats } from "../../../src/worker/http/in-flight";
import { servingBothFamilies } from "../../support/objects/address-paths";
import { freshCluster } from "../../support/objects/store-stubs";
import { PATIENCE } from "../../support/objects/patience";

const bindings = env as unknown as Env;
const NODES = "/api/v1/nodes";
const REPORT = `${NODES}/n1/proxy-health`;
const SILENCE_MS = silenceMs(30_000);
const APPLIED = { IPv4: { appliedAgoMs: 0 } };
const TAINT = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };

let now = Date.now();
beforeEach(() => void vi.spyOn(Date, "now").mockImplementation(() => now));
afterEach(() => vi.restoreAllMocks());

const IMPATIENT = { ...objectConfig(bindings), requestQueueSeconds: 0, fairRequestsMin: 0 };
const begun = (): HeldSeats | undefined => {
  const place = beginRequest({ verb: "create", config: IMPATIENT, cluster: "another", user: "" });
  if (place instanceof Promise) throw new Error("it waits");
  return place;
};

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
      "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
      ...more,
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
    const places: (HeldSeats | undefined)[] = [];
    for (let place = begun(); place; place = begun()) places.push(place);
    const sized = (length?: number) =>
      cluster.send("PUT", `${REPORT}?timeout=1s`, APPLIED, length === undefined ? {} : { "Content-Length": String(length) });
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

  it("a Node that waits for a finalizer: 503 on /healthz from its deletion on, and marked as draining; gone, it is as one never seen", async () => {
    const cluster = await Cluster.ready();
    expect((await cluster.send("PATCH", `${NODES}/n1`, { metadata: { finalizers: ["example.com/held"] } })).status).toBe(200);
    await cluster.report(APPLIED);
    expect(await cluster.codes()).toBe("200 200");
    const deleted = await (await cluster.send("DELETE", `${NODES}/n1`)).json();
    expect(deleted).toMatchObject({ metadata: { name: "n1", deletionTimestamp: expect.any(String) as string } });
    await expect.poll(() => cluster.codes(), PATIENCE).toBe("503 200");
    const body = await (await cluster.send("GET", "/nodes/n1/healthz")).json();
    expect(body).toMatchObject({ nodeEligible: false, healthy: true, status: { IPv4: { healthy: true } } });
    const { targets } = await (await cluster.send("GET", "/nodes/targets?draining=true")).json<{ targets: object[] }>();
    expect(targets).toMatchObject([{ node: "n1", weight: 0, draining: true }]);
    await abortAllDurableObjects();
    expect(await cluster.codes()).toBe("503 200");
    await cluster.send("PATCH", `${NODES}/n1`, { metadata: { finalizers: null } });
    const status = async () => JSON.stringify(await (await cluster.send("GET", "/nodes/n1/healthz")).json());
    await expect.poll(status, PATIENCE).not.toContain("IPv4");
    expect(await cluster.codes()).toBe("503 200");
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
    await expect.poll(() => cluster.cursor(), PATIENCE).toBeGreaterThan(0);
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

describe("metrics of checks", () => {
  it("checks of a cluster: counted by code, by the controller alone, and not anew after a crash", async () => {
    const cluster = await Cluster.ready();
    const lines = async () => {
      const text = await (await cluster.send("GET", "/metrics")).text();
      return text.split("\n").filter((line) => /^(kubeproxy_proxy|servicenet_proxy_health_)/.test(line));
    };
    const label = `cluster="${cluster.name}"`;
    await cluster.report(APPLIED);
    for (const node of ["n1", "n1", "n2"]) await cluster.codes(node);
    // These answers are not the proxy's.
    for (const path of ["gone:10256/proxy/healthz", "n1:10256/proxy/", "https:n1:10256/proxy/healthz"])
      await cluster.send("GET", `${NODES}/${path}`);
    const health = vi.spyOn(NodeProxy.prototype, "health");
    const expected = [
      `kubeproxy_proxy_healthz_total{code="200",${label}} 2`,
      `kubeproxy_proxy_healthz_total{code="503",${label}} 1`,
      `kubeproxy_proxy_livez_total{code="200",${label}} 3`,
      ...["healthy", "late", "silent"].map((state, i) => `servicenet_proxy_health_nodes{state="${state}",${label}} ${i === 0 ? 1 : 0}`),
      `servicenet_proxy_health_late_nodes{ip_family="IPv4",${label}} 0`,
      `servicenet_proxy_health_oldest_sync_timestamp_seconds{ip_family="IPv4",${label}} ${now / 1_000}`,
    ];
    await expect.poll(lines, PATIENCE).toEqual(expected);
    await abortAllDurableObjects();
    expect(await lines()).toEqual(expected);
    expect(health).not.toHaveBeenCalled();
  });
});

describe("subresource nodes/proxy", () => {
  const ADDRESS = { type: "InternalIP", address: "10.0.0.1" };
  const REFUSED = (port: number) => `503 error trying to reach service: dial tcp 10.0.0.1:${port}: connect: connection refused`;

  /** The code of an answer, and its message or text. */
  async function told(response: Response): Promise<string> {
    const text = await response.text();
    const said = text.startsWith("{") ? (JSON.parse(text) as { message?: string }).message : text.trim();
    return `${response.status}${said ? ` ${said}` : ""}`;
  }

  it("the port of the proxy's health: its answers by every method; any other path there: 404 as its own", async () => {
    const cluster = await Cluster.ready();
    await cluster.report({ IPv4: { appliedAgoMs: 1_000 } });
    const at = "/api/v1/nodes/n1:10256/proxy";
    const response = await cluster.send("GET", `${at}/healthz?timeout=5s&pretty=true`);
    expect([response.status, response.headers.get("Content-Type"), response.headers.get("Cache-Control")]).toEqual([
      200,
      "application/json",
      "no-store",
    ]);
    expect(await response.json()).toMatchObject({ nodeEligible: true, healthy: true, status: { IPv4: { healthy: true } } });
    for (const method of ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      expect((await cluster.send(method, `${at}/livez`)).status).toBe(200);
    const others = await Promise.all(["/", "/healthz/", "/metrics"].map(async (path) => told(await cluster.send("GET", at + path))));
    expect(others).toEqual(["404 404 page not found", "404 404 page not found", "404 404 page not found"]);
  });

  it("no path: redirected to one, with the query and the cluster", async () => {
    const cluster = await Cluster.ready();
    const response = await cluster.send("GET", "/api/v1/nodes/n1:10256/proxy?a=b");
    expect([response.status, response.headers.get("Location")]).toEqual([
      301,
      `/clusters/${cluster.name}/api/v1/nodes/n1:10256/proxy/?a=b`,
    ]);
    expect(await told(await cluster.send("POST", "/api/v1/nodes/n1:10256/proxy"))).toBe("404 404 page not found");
  });

  it("a late proxy: 503 on both paths; a taint of the autoscaler: on /healthz alone", async () => {
    const cluster = await Cluster.ready();
    const codes = async () => {
      const answers = await Promise.all(
        ["healthz", "livez"].map((path) => cluster.send("GET", `/api/v1/nodes/http:n1:10256/proxy/${path}`)),
      );
      return answers.map(({ status }) => status);
    };
    await cluster.report({ IPv4: { healthy: false } });
    expect(await codes()).toEqual([503, 503]);
    await cluster.report(APPLIED);
    await cluster.send("PATCH", `${NODES}/n1`, { spec: { taints: [TAINT] } });
    await expect.poll(codes, PATIENCE).toEqual([503, 200]);
  });

  it("ports where nothing listens, and ids that reach nothing: upstream's refusals", async () => {
    const cluster = await Cluster.ready();
    const { status } = await cluster.send("PATCH", `${NODES}/n1/status`, { status: { addresses: [ADDRESS] } });
    expect(status).toBe(200);
    await cluster.send("POST", NODES, { metadata: { name: "bare" } });
    const rows: [string, string][] = [
      ["n1/proxy/", REFUSED(10250)],
      ["n1:/proxy/metrics", REFUSED(10250)],
      ["https:n1:10250/proxy/metrics", REFUSED(10250)],
      ["n1:8080/proxy/healthz", REFUSED(8080)],
      ["https:n1:10256/proxy/healthz", "503 error trying to reach service: http: server gave HTTP response to HTTPS client"],
      ["bare:80/proxy/", "500 no preferred addresses found; known addresses: []"],
      ["gone:10256/proxy/healthz", '404 nodes "gone" not found'],
      ["gone/proxy", '404 nodes "gone" not found'],
      ["n1:http/proxy/", '400 invalid node request "n1:http"'],
      ["ftp:n1:10256/proxy/healthz", '400 invalid node request "ftp:n1:10256"'],
      ["n1:10256/proxy/healthz?dryRun=All", "400 dryRun is not supported"],
    ];
    for (const [path, want] of rows) expect([path, await told(await cluster.send("GET", `${NODES}/${path}`))]).toEqual([path, want]);
  });

  it("a store of Nodes that fails: checks go on, and other ports say so", async () => {
    const cluster = await Cluster.ready();
    await cluster.report({ IPv4: { healthy: false } });
    vi.spyOn(ResourceStore.prototype, "get").mockRejectedValue(new Error("database or disk is full: SQLITE_FULL"));
    const answers = await Promise.all(["n1:10256/proxy/livez", "n1:80/proxy/"].map((path) => cluster.send("GET", `${NODES}/${path}`)));
    expect(answers.map(({ status, headers }) => [status, headers.has("Retry-After")])).toEqual([
      [503, false],
      [503, true],
    ]);
  });

  it("requests: counted under upstream's verb, once each", async () => {
    const cluster = await Cluster.ready();
    for (const method of ["GET", "HEAD", "POST"]) await cluster.send(method, "/api/v1/nodes/n1:10256/proxy/livez");
    const text = await (await cluster.send("GET", "/metrics")).text();
    const counted = text.split("\n").filter((line) => line.startsWith("apiserver_request_total") && line.includes('subresource="proxy"'));
    expect(counted).toEqual([expect.stringMatching(/scope="resource".*verb="CONNECT".* 3$|verb="CONNECT".*scope="resource".* 3$/)]);
  });
});

describe("check of a Service", () => {
  const SERVICES = "/api/v1/namespaces/default/services";
  const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
  const check = async (cluster: Cluster, query = "", node = "n1"): Promise<string> => {
    const response = await cluster.send("GET", `/nodes/${node}/services/default/web${query}`);
    await response.text();
    return `${response.status} ${response.headers.get("X-Load-Balancing-Endpoint-Weight") ?? "-"}`;
  };

  it("Local with endpoints on the node: their number, also at its port; Cluster: 503 as nothing answers; Local again: the slices are read anew", async () => {
    const cluster = await Cluster.ready();
    const endpoints = ["10.1.0.1", "10.1.0.2"].map((address) => ({ addresses: [address], nodeName: "n1" }));
    const slice = { addressType: "IPv4", ports: [{ name: "", port: 80 }], endpoints };
    const labels = { "kubernetes.io/service-name": "web" };
    expect((await cluster.send("POST", SLICES, { metadata: { name: "a", labels }, ...slice })).status).toBe(201);
    const local = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80 }] };
    const made = await cluster.send("POST", SERVICES, { metadata: { name: "web" }, spec: local });
    const { spec } = await made.json<{ spec: { healthCheckNodePort: number } }>();
    await expect.poll(() => check(cluster), PATIENCE).toBe("200 2");
    expect([await check(cluster, "?family=IPv4"), await check(cluster, "?family=IPv6"), await check(cluster, "?family=4")]).toEqual([
      "200 2",
      "503 -",
      "400 -",
    ]);
    const port = await cluster.send("GET", `${NODES}/n1:${spec.healthCheckNodePort}/proxy/`);
    expect([port.status, await port.text()]).toEqual([200, expect.stringContaining('"localEndpoints": 2')]);
    await cluster.send("PUT", `${SLICES}/a`, { metadata: { name: "a", labels }, ...slice, endpoints: endpoints.slice(1) });
    await expect.poll(() => check(cluster), PATIENCE).toBe("200 1");
    await cluster.send("PATCH", `${SERVICES}/web`, { spec: { externalTrafficPolicy: "Cluster" } });
    await expect.poll(() => check(cluster), PATIENCE).toBe("503 -");
    await cluster.send("PATCH", `${SERVICES}/web`, { spec: { externalTrafficPolicy: "Local" } });
    await expect.poll(() => check(cluster), PATIENCE).toBe("200 1");
    vi.spyOn(NodeProxy.prototype, "serviceHealth").mockRejectedValue(new Error("a bug"));
    expect([await check(cluster), await check(cluster, "", "n2")]).toEqual(["200 1", "503 0"]);
  });
});

describe("check of a Service of two families", () => {
  servingBothFamilies();
  const SERVICES = "/api/v1/namespaces/default/services";
  const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
  const labels = { "kubernetes.io/service-name": "web" };

  const makeSlice = async (cluster: Cluster, addressType: "IPv4" | "IPv6", addresses: string[]): Promise<void> => {
    const endpoints = addresses.map((address) => ({ addresses: [address], nodeName: "n1" }));
    const slice = { metadata: { name: addressType.toLowerCase(), labels }, addressType, ports: [{ name: "", port: 80 }], endpoints };
    expect((await cluster.send("POST", SLICES, slice)).status).toBe(201);
  };
  /** Makes the Service; answers its check port. */
  const makeService = async (cluster: Cluster, ipFamilies: string[]): Promise<number> => {
    const families = { ipFamilyPolicy: ipFamilies.length > 1 ? "RequireDualStack" : "SingleStack", ipFamilies };
    const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80 }], ...families };
    const made = await cluster.send("POST", SERVICES, { metadata: { name: "web" }, spec });
    expect(made.status).toBe(201);
    return (await made.json<{ spec: { healthCheckNodePort: number } }>()).spec.healthCheckNodePort;
  };
  /** Code and weight without a family, with IPv4, with IPv6. */
  const checks = async (cluster: Cluster, path = "/nodes/n1/services/default/web"): Promise<string> => {
    const answers = await Promise.all(["", "?family=IPv4", "?family=IPv6"].map((query) => cluster.send("GET", path + query)));
    await Promise.all(answers.map((answer) => answer.text()));
    return answers.map(({ status, headers }) => `${status} ${headers.get("X-Load-Balancing-Endpoint-Weight") ?? "-"}`).join(", ");
  };

  it.each([
    [["IPv4", "IPv6"], "200 1, 200 1, 200 2"],
    [["IPv6", "IPv4"], "200 2, 200 1, 200 2"],
    [["IPv6"], "200 2, 503 -, 200 2"],
    [["IPv4"], "200 1, 200 1, 503 -"],
  ])("%j: each family has its own count, by name and at the port", async (ipFamilies, want) => {
    const cluster = await Cluster.ready();
    await cluster.send("PATCH", `${NODES}/n1/status`, { status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } });
    await makeSlice(cluster, "IPv4", ["10.1.0.1"]);
    await makeSlice(cluster, "IPv6", ["fd00::1", "fd00::2"]);
    const port = await makeService(cluster, ipFamilies);
    await expect.poll(() => checks(cluster), PATIENCE).toBe(want);
    const atPort = await checks(cluster, `${NODES}/n1:${port}/proxy/`);
    expect(atPort).toBe(want);
  });

  it("endpoints of one family alone: the other one's check is 503 with weight 0", async () => {
    const cluster = await Cluster.ready();
    await makeSlice(cluster, "IPv6", ["fd00::1"]);
    await makeService(cluster, ["IPv4", "IPv6"]);
    await expect.poll(() => checks(cluster), PATIENCE).toBe("503 0, 503 0, 200 1");
  });

  it("the label service.kubernetes.io/service-proxy-name: ends the check, as a connection to kube-proxy would be refused; without it again: begins anew", async () => {
    const cluster = await Cluster.ready();
    const address = { type: "InternalIP", address: "10.0.0.1" };
    await cluster.send("PATCH", `${NODES}/n1/status`, { status: { addresses: [address] } });
    await makeSlice(cluster, "IPv4", ["10.1.0.1"]);
    const port = await makeService(cluster, ["IPv4"]);
    const label = (value: string | null) =>
      cluster.send("PATCH", `${SERVICES}/web`, { metadata: { labels: { "service.kubernetes.io/service-proxy-name": value } } });
    await expect.poll(() => checks(cluster), PATIENCE).toBe("200 1, 200 1, 503 -");
    // Any value, also none.
    for (const value of ["cilium", ""]) {
      await label(value);
      await expect.poll(() => checks(cluster), PATIENCE).toBe("503 -, 503 -, 503 -");
      const refused = await (await cluster.send("GET", `${NODES}/n1:${port}/proxy/`)).json<{ message: string }>();
      expect(refused.message).toBe(`error trying to reach service: dial tcp 10.0.0.1:${port}: connect: connection refused`);
      await label(null);
      await expect.poll(() => checks(cluster), PATIENCE).toBe("200 1, 200 1, 503 -");
    }
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

  it.each(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])(
    "a report that says it is %s: 415, since a page may send that anywhere",
    async (type) => {
      const cluster = await Cluster.ready();
      const { status } = await cluster.send("PUT", REPORT, { IPv4: { healthy: false } }, { "Content-Type": type });
      expect([status, await cluster.codes()]).toEqual([415, "200 200"]);
    },
  );

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
    // What the controller tells is written as well, whenever it comes.
    const one = (query: string) => runInDurableObject(cluster.object, (_, { storage }) => storage.sql.exec(query).one()["n"] as number);
    await expect.poll(() => one("SELECT count(*) AS n FROM pushed_checks"), PATIENCE).toBe(1);
    vi.spyOn(NodeProxy.prototype, "push").mockRejectedValue(new Error("lost"));
    const rows = () => one("SELECT total_changes() AS n");
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
