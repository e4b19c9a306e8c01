/**
 * `npm run proxy` with real connections: two nodes of one server, each with a proxy. Pods are servers on loopback addresses. Most of their slices are
 * written by hand; where Pods are objects, the server's controller writes them. Every proxy and every test has loopback addresses of its own, so runs beside each other do not meet.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EndpointSlice, KubeObject } from "../../../src/api/meta/kubernetes";
import { Listeners } from "../../../scripts/proxy/listeners";
import { parseOptions } from "../../../scripts/proxy/options";
import { type RunningProxy, startProxy } from "../../../scripts/proxy/run";
import {
  answerOf,
  type Backend,
  connected,
  exchange,
  tcpBackend,
  UdpClient,
  udpBackend,
  whoAnswers,
} from "../../support/clients/echo-backends";
import { freePort } from "../../support/server/free-port";
import { type RunningProgram, startProgram } from "../../support/server/program";
import { NODES_ARE_NAMES, serverForTests } from "../../support/server/server-for-tests";
import { aSlice, anEndpoint, type SliceEndpoint } from "../../support/values/endpoint-objects";
import { parsePrometheus } from "../../support/values/prometheus";

const NAMESPACE = "/api/v1/namespaces/default";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const serverPort = await freePort();
/** of all endpoints and Services here; their addresses differ */
const port = await freePort();
const server = serverForTests(["--port", String(serverPort), ...NODES_ARE_NAMES]);
const poll = { timeout: 30_000, interval: 20 };

/** Second bytes of loopback prefixes: for the endpoints, and for each node its ClusterIPs and its node ports. */
const firstByte = 10 + Math.floor(Math.random() * 230);
const [pods, one, two] = [firstByte, firstByte + 1, firstByte + 2];
const inCluster = (node: number, address: string): string => {
  const [, , third = "", fourth = ""] = address.split(".");
  return `127.${String(node)}.${String(Number(third) & 127)}.${fourth}`;
};
const nodePortAddress = (node: number): string => `127.${String(node)}.255.1`;
const argsOf = (name: string, node: number): string[] => [
  ...["--node", name, "--server", `http://127.0.0.1:${String(serverPort)}`],
  ...["--listen-prefix", `127.${String(node)}.0.0/17`, "--node-port-address", nodePortAddress(node)],
  ...["--dial-prefix", `127.${String(pods)}.0.0/16`, "--healthz-bind-address", "127.0.0.1:0", "--metrics-bind-address", "127.0.0.1:0"],
];

async function send(method: string, path: string, body?: object): Promise<KubeObject & { code?: number; message?: string }> {
  const headers = { "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
  const answer = await fetch(server.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
  return (await answer.json()) as KubeObject;
}

type ServiceSpec = { clusterIP: string; healthCheckNodePort?: number; ports: { nodePort?: number }[] };

/** The spec that the server gave it. */
async function createService(name: string, spec: object = {}): Promise<ServiceSpec> {
  const ports = [{ name: "http", port, protocol: "TCP" }];
  const created = await send("POST", `${NAMESPACE}/services`, { metadata: { name }, spec: { ports, ...spec } });
  return (created as { spec?: ServiceSpec }).spec ?? { clusterIP: "", ports: [] };
}

const sliceOf = (service: string, endpoints: SliceEndpoint[], protocol = "TCP") =>
  aSlice(`${service}-a`, service, endpoints, { ports: [{ name: "http", protocol, port }] });
const putSlice = (...of: Parameters<typeof sliceOf>) => send("PUT", `${SLICES}/${of[0]}-a`, sliceOf(...of));
const createSlice = (...of: Parameters<typeof sliceOf>) => send("POST", SLICES, sliceOf(...of));

/** The address of a pod in its slice, and where it really is. */
const podIP = (number: number): string => `10.1.1.${String(number)}`;
const podAddress = (number: number): string => `127.${String(pods)}.1.${String(number)}`;
let podCount = 0;
const backends: Backend[] = [];

interface Pod extends Backend {
  ip: string;
}

async function pod(name: string, protocol: "TCP" | "UDP" = "TCP"): Promise<Pod> {
  const number = ++podCount;
  const backend = await (protocol === "TCP" ? tcpBackend : udpBackend)(name, podAddress(number), port);
  backends.push(backend);
  return { ...backend, ip: podIP(number) };
}

/** The proxy of node-1 is the program, that of node-2 runs here. */
let program: RunningProgram;
const READY = /healthz (http:\S+), metrics (http:\S+),/;
const healthzUrl = (): string => program.found[1] ?? "";
const metricsUrl = (): string => program.found[2] ?? "";
let second: RunningProxy;
const told: string[] = [];

beforeAll(async () => {
  for (const name of ["node-1", "node-2"]) await send("POST", "/api/v1/nodes", { metadata: { name } });
  const options = await parseOptions(argsOf("node-2", two));
  if (options === "help") throw new Error("no help was asked for");
  [program, second] = await Promise.all([
    startProgram("proxy", argsOf("node-1", one), READY),
    startProxy(options, (line) => told.push(line)),
  ]);
  await second.first;
});
afterAll(async () => {
  second.stop();
  expect(await program.stop()).toBe(0);
  for (const backend of backends) backend.destroy();
});

const becomes = (ask: () => Promise<string>, expected: string) => expect.poll(ask, poll).toBe(expected);

describe("connections", () => {
  it("endpoints come, break, drain and go: no new connection fails that had a ready endpoint, and open ones stay", async () => {
    const [first, other] = [await pod("first"), await pod("other")];
    const { clusterIP } = await createService("web");
    const [host, second] = [inCluster(one, clusterIP), inCluster(two, clusterIP)];
    expect(await whoAnswers(host, port)).toBe("ECONNREFUSED");
    await createSlice("web", [anEndpoint(first.ip)]);
    for (const at of [host, second]) await becomes(() => whoAnswers(at, port), "first");

    const answers = new Map<string, number>();
    let isOver = false;
    const clients = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        const who = await whoAnswers(host, port);
        answers.set(who, (answers.get(who) ?? 0) + 1);
      }
    });
    const seen = async (who: string, more = 20): Promise<void> => {
      const before = answers.get(who) ?? 0;
      await expect.poll(() => (answers.get(who) ?? 0) - before, poll).toBeGreaterThanOrEqual(more);
    };
    await seen("first");
    const kept = await connected(host, port);
    expect(await exchange(kept, "a")).toBe("first:a");

    // Nothing listens at the address of the third one.
    const broken = anEndpoint(podIP(252));
    await putSlice("web", [anEndpoint(first.ip), anEndpoint(other.ip), broken]);
    await seen("other");
    await seen("first");
    await putSlice("web", [anEndpoint(first.ip, "servingLast"), anEndpoint(other.ip), broken]);
    await seen("other");
    expect(await exchange(kept, "b")).toBe("first:b");
    await putSlice("web", [anEndpoint(other.ip)]);
    await seen("other");
    expect(await exchange(kept, "c")).toBe("first:c");
    // All that is left drains: it is used until it is gone.
    await putSlice("web", [anEndpoint(other.ip, "servingLast")]);
    await becomes(() => whoAnswers(second, port), "other");
    await seen("other");
    isOver = true;
    await Promise.all(clients);
    expect([...answers.keys()].sort()).toEqual(["first", "other"]);

    await putSlice("web", []);
    for (const at of [host, second]) await becomes(() => whoAnswers(at, port), "ECONNREFUSED");
    expect(await exchange(kept, "d")).toBe("first:d");
    kept.destroy();
  });

  it("Pods come, drain and go, and the server makes the slices: no new connection fails that had a ready endpoint", async () => {
    const selector = { app: "rolled" };
    const { clusterIP } = await createService("rolled", { selector });
    const host = inCluster(one, clusterIP);
    const ready = async (name: string): Promise<Pod> => {
      const backend = await pod(name);
      const spec = { nodeName: "node-1", containers: [{ name: "c", image: "i" }] };
      await send("POST", `${NAMESPACE}/pods`, { metadata: { name, labels: selector }, spec });
      const status = { phase: "Running", podIPs: [{ ip: backend.ip }], conditions: [{ type: "Ready", status: "True" }] };
      await send("PATCH", `${NAMESPACE}/pods/${name}/status`, { status });
      return backend;
    };
    let last = await ready("rolled0");
    await becomes(() => whoAnswers(host, port), "rolled0");

    const answers = new Map<string, number>();
    let isOver = false;
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const who = await whoAnswers(host, port);
        answers.set(who, (answers.get(who) ?? 0) + 1);
      }
    });
    const seen = async (who: string): Promise<void> => {
      const before = answers.get(who) ?? 0;
      await expect.poll(() => (answers.get(who) ?? 0) - before, poll).toBeGreaterThanOrEqual(10);
    };
    for (let i = 1; i <= 4; i++) {
      const [old, name] = [`rolled${String(i - 1)}`, `rolled${String(i)}`];
      const next = await ready(name);
      await seen(name);
      // It drains, and closes when no new client comes any more.
      await send("DELETE", `${NAMESPACE}/pods/${old}`);
      const newClients = async (): Promise<number> => {
        const before = answers.get(old) ?? 0;
        await seen(name);
        return (answers.get(old) ?? 0) - before;
      };
      await expect.poll(newClients, poll).toBe(0);
      last.close();
      await send("DELETE", `${NAMESPACE}/pods/${old}?gracePeriodSeconds=0`);
      last = next;
    }
    // All that is left drains: it is used until it is gone.
    await send("DELETE", `${NAMESPACE}/pods/rolled4`);
    const conditions = async (): Promise<unknown> => {
      const { items } = (await send("GET", `${SLICES}?labelSelector=kubernetes.io/service-name=rolled`)) as { items?: EndpointSlice[] };
      return items?.flatMap(({ endpoints }) => endpoints.map((endpoint) => endpoint.conditions));
    };
    await expect.poll(conditions, poll).toEqual([{ ready: false, serving: true, terminating: true }]);
    await seen("rolled4");
    isOver = true;
    await Promise.all(clients);
    expect([...answers.keys()].sort()).toEqual([0, 1, 2, 3, 4].map((i) => `rolled${String(i)}`));
    await send("DELETE", `${NAMESPACE}/pods/rolled4?gracePeriodSeconds=0`);
    await becomes(() => whoAnswers(host, port), "ECONNREFUSED");
  });

  it("a client that sends much, ends, and reads slowly: gets the whole answer", async () => {
    const echo = await pod("echo");
    const { clusterIP } = await createService("bulk");
    await createSlice("bulk", [anEndpoint(echo.ip)]);
    const host = inCluster(two, clusterIP);
    await becomes(() => whoAnswers(host, port), "echo");
    const client = await connected(host, port);
    client.pause();
    const sent = "x".repeat(8 * 2 ** 20);
    client.end(sent);
    let got = 0;
    let last = "";
    for await (const piece of client) {
      const text = (piece as Buffer).toString();
      got += text.replaceAll("echo:", "").length;
      last = text.slice(-5);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(last).toBe("echo.");
    // A name may stand across two pieces.
    expect(got).toBeGreaterThanOrEqual(sent.length);
  });

  it("all endpoints refuse: the connection is reset", async () => {
    const { clusterIP } = await createService("broken");
    await createSlice("broken", [anEndpoint(podIP(250)), anEndpoint(podIP(251))]);
    await becomes(() => whoAnswers(inCluster(two, clusterIP), port), "ECONNRESET");
    await expect(answerOf(inCluster(two, clusterIP), port)).rejects.toThrow("ECONNRESET");
  });

  it("session affinity: a client keeps its endpoint while it is usable", async () => {
    const names = ["east", "west"];
    const [east, west] = [await pod("east"), await pod("west")];
    const { clusterIP } = await createService("sticky", { sessionAffinity: "ClientIP" });
    await createSlice("sticky", [anEndpoint(east.ip), anEndpoint(west.ip)]);
    const host = inCluster(two, clusterIP);
    const client = (number: number) => `127.0.0.${String(number)}`;
    await expect.poll(() => whoAnswers(host, port, client(2)), poll).toMatch(/^(east|west)$/);
    const has = new Map<string, string>();
    // The choice is random: sixteen clients have one endpoint once in 32,768 runs. More of them come until both endpoints are chosen.
    for (let number = 2; number < 18 || (number < 255 && new Set(has.values()).size < 2); number++) {
      has.set(client(number), await whoAnswers(host, port, client(number)));
    }
    expect([...new Set(has.values())].sort()).toEqual(names);
    for (let again = 0; again < 3; again++) for (const [from, who] of has) expect(await whoAnswers(host, port, from)).toBe(who);
    await putSlice("sticky", [anEndpoint(east.ip)]);
    for (const from of has.keys()) await becomes(() => whoAnswers(host, port, from), "east");
    await putSlice("sticky", [anEndpoint(east.ip), anEndpoint(west.ip)]);
    for (const from of has.keys()) expect(await whoAnswers(host, port, from)).toBe("east");
  });
});

describe("two nodes", () => {
  it("internalTrafficPolicy Local: served on the endpoint's node, refused on the other", async () => {
    const near = await pod("near");
    const { clusterIP } = await createService("inner", { internalTrafficPolicy: "Local" });
    await createSlice("inner", [anEndpoint(near.ip, "ready", { nodeName: "node-1" })]);
    await becomes(() => whoAnswers(inCluster(one, clusterIP), port), "near");
    expect(await whoAnswers(inCluster(two, clusterIP), port)).toBe("ECONNREFUSED");
    await putSlice("inner", [anEndpoint(near.ip, "ready", { nodeName: "node-2" })]);
    await becomes(() => whoAnswers(inCluster(two, clusterIP), port), "near");
    await becomes(() => whoAnswers(inCluster(one, clusterIP), port), "ECONNREFUSED");
    await expect.poll(() => noLocal("internal"), poll).toBe(1);
  });

  it("externalTrafficPolicy Local: node ports of nodes with an endpoint, and health checks that say which", async () => {
    const near = await pod("near");
    const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local" };
    const { clusterIP, healthCheckNodePort = 0, ports } = await createService("outer", spec);
    const nodePort = ports[0]?.nodePort ?? 0;
    const check = async (node: number): Promise<string> => {
      const answer = await fetch(`http://${nodePortAddress(node)}:${String(healthCheckNodePort)}/`).catch(() => undefined);
      return `${String(answer?.status)} ${answer?.headers.get("x-load-balancing-endpoint-weight") ?? ""} ${(await answer?.text()) ?? ""}`;
    };
    const body = (count: number) =>
      `{\n\t"service": {\n\t\t"namespace": "default",\n\t\t"name": "outer"\n\t},\n\t"localEndpoints": ${String(count)},\n\t"serviceProxyHealthy": true\n}`;
    await createSlice("outer", [anEndpoint(near.ip, "ready", { nodeName: "node-1" })]);
    await becomes(() => check(one), `200 1 ${body(1)}`);
    // The answer of a node without an endpoint was the same before it heard of the slice.
    for (const node of [one, two]) await becomes(() => whoAnswers(inCluster(node, clusterIP), port), "near");
    expect(await check(two)).toBe(`503 0 ${body(0)}`);
    expect(await whoAnswers(nodePortAddress(one), nodePort)).toBe("near");
    expect(await whoAnswers(nodePortAddress(two), nodePort)).toBe("ECONNREFUSED");

    await send("PATCH", `${NAMESPACE}/services/outer`, { spec: { externalTrafficPolicy: "Cluster" } });
    await becomes(() => whoAnswers(nodePortAddress(two), nodePort), "near");
    await becomes(() => check(one), "undefined  ");
  });

  it("two ClusterIPs with one place: the first is served, a line says so, and the other follows", async () => {
    const [low, high] = [await pod("low"), await pod("high")];
    await createService("low", { clusterIP: "10.96.3.77" });
    await createSlice("low", [anEndpoint(low.ip)]);
    const host = inCluster(two, "10.96.3.77");
    await becomes(() => whoAnswers(host, port), "low");
    await createService("high", { clusterIP: "10.96.131.77" });
    await createSlice("high", [anEndpoint(high.ip)]);
    const line = `default/high: 10.96.131.77:${String(port)}/TCP is not served: default/low is served at ${host}:${String(port)}/TCP`;
    await expect.poll(() => told, poll).toContain(line);
    expect(await whoAnswers(host, port)).toBe("low");
    await send("DELETE", `${NAMESPACE}/services/low`);
    await becomes(() => whoAnswers(host, port), "high");
    expect(told.filter((one) => one === line)).toHaveLength(1);
  });
});

it("UDP: a client keeps its endpoint until that is gone, and then has another", async () => {
  const [first, other] = [await pod("first", "UDP"), await pod("other", "UDP")];
  const { clusterIP } = await createService("dns", { ports: [{ name: "http", port, protocol: "UDP" }] });
  await createSlice("dns", [anEndpoint(first.ip)], "UDP");
  const client = new UdpClient(inCluster(two, clusterIP), port);
  await becomes(() => client.ask(), "first");
  await putSlice("dns", [anEndpoint(first.ip), anEndpoint(other.ip)], "UDP");
  await becomes(() => freshAnswer(clusterIP), "other");
  for (let again = 0; again < 5; again++) expect(await client.ask(5)).toBe("first");
  await putSlice("dns", [anEndpoint(first.ip, "servingLast"), anEndpoint(other.ip)], "UDP");
  const three = async () => (await Promise.all([1, 2, 3].map(() => freshAnswer(clusterIP)))).join(" ");
  await becomes(three, "other other other");
  expect(await client.ask(5)).toBe("first");
  // Its port is closed, so the next datagram finds another one.
  first.close();
  expect(await client.ask(5)).toBe("other");
  await putSlice("dns", [], "UDP");
  await becomes(() => client.ask(), "");
  await putSlice("dns", [anEndpoint(other.ip)], "UDP");
  await becomes(() => client.ask(), "other");
  client.close();
});

it("UDP: one endpoint, none that serves, another one: the flow goes to that, though the first process lives", async () => {
  const [before, after] = [await pod("before", "UDP"), await pod("after", "UDP")];
  const { clusterIP } = await createService("turns", { ports: [{ name: "http", port, protocol: "UDP" }] });
  await createSlice("turns", [anEndpoint(before.ip)], "UDP");
  const client = new UdpClient(inCluster(two, clusterIP), port);
  await becomes(() => client.ask(), "before");
  await putSlice("turns", [anEndpoint(before.ip, "notReady")], "UDP");
  await becomes(() => client.ask(), "");
  await putSlice("turns", [anEndpoint(after.ip)], "UDP");
  await becomes(() => client.ask(), "after");
  for (let again = 0; again < 3; again++) expect(await client.ask(5)).toBe("after");
  client.close();
});

async function freshAnswer(clusterIP: string): Promise<string> {
  const client = new UdpClient(inCluster(two, clusterIP), port);
  const who = await client.ask(5);
  client.close();
  return who;
}

async function noLocal(policy: string): Promise<number | undefined> {
  const families = parsePrometheus(await (await fetch(`${metricsUrl()}/metrics`)).text());
  const { samples = [] } = families.get("kubeproxy_sync_proxy_rules_no_local_endpoints_total") ?? {};
  return samples.find(({ labels }) => labels.ip_family === "IPv4" && labels.traffic_policy === policy)?.value;
}

describe("health and figures", () => {
  const health = async (path: string): Promise<unknown> => {
    const answer = await fetch(healthzUrl() + path);
    const { nodeEligible, healthy } = (await answer.json()) as { nodeEligible?: boolean; healthy: boolean };
    return [answer.status, healthy, nodeEligible];
  };

  it("a node that the autoscaler takes away: /healthz is 503, /livez stays 200, and both are as before without the taint", async () => {
    await expect.poll(() => health("/healthz"), poll).toEqual([200, true, true]);
    expect(await health("/livez")).toEqual([200, true, undefined]);
    const taints = [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }];
    await send("PATCH", "/api/v1/nodes/node-1", { spec: { taints } });
    await expect.poll(() => health("/healthz"), poll).toEqual([503, true, false]);
    expect(await health("/livez")).toEqual([200, true, undefined]);
    await send("PATCH", "/api/v1/nodes/node-1", { spec: { taints: null } });
    await expect.poll(() => health("/healthz"), poll).toEqual([200, true, true]);
    expect((await fetch(`${healthzUrl()}/other`)).status).toBe(404);
  });

  it("reports of the proxies: the server answers for their nodes, with the families that they serve", async () => {
    for (const name of ["node-1", "node-2"]) {
      const told = async (): Promise<unknown> => (await fetch(`${server.url}/nodes/${name}/healthz`)).json();
      const applied = { healthy: true };
      await expect.poll(told, poll).toMatchObject({ healthy: true, nodeEligible: true, status: { IPv4: applied, IPv6: applied } });
    }
  });

  it("/metrics: kube-proxy's names, with what has happened so far", async () => {
    const families = parsePrometheus(await (await fetch(`${metricsUrl()}/metrics`)).text());
    const values = (name: string) => families.get(`kubeproxy_${name}`)?.samples ?? [];
    expect(values("proxy_healthz_total").map(({ labels }) => labels.code)).toEqual(expect.arrayContaining(["200", "503"]));
    expect(values("sync_proxy_rules_service_changes_total")[0]?.value).toBeGreaterThan(0);
    expect(values("sync_proxy_rules_endpoint_changes_total")[0]?.value).toBeGreaterThan(0);
    expect(values("sync_proxy_rules_last_timestamp_seconds")).toHaveLength(2);
    expect([...families.keys()]).toContain("kubeproxy_network_programming_duration_seconds");
    expect(await (await fetch(`${metricsUrl()}/proxyMode`)).text()).toBe("userspace");
  });
});

it("low ports that need rights: served at another port, one line says so", async () => {
  const opened: number[] = [];
  const lines: string[] = [];
  const nothing = () => undefined;
  const listeners = new Listeners({
    open: async (_, { port: asked }) => {
      if (asked < 1_024) throw Object.assign(new Error("denied"), { code: "EACCES" });
      opened.push(asked);
      return { hasEnded: false, close: nothing, review: nothing, destroy: nothing, resume: () => false };
    },
    lowPortOffset: 10_000,
    log: (line) => lines.push(line),
  });
  const listener = (asked: number) => ({
    key: `127.96.0.5:${String(asked)}/TCP`,
    protocol: "TCP" as const,
    address: "127.96.0.5",
    port: asked,
  });
  await listeners.apply({ opened: [listener(80), listener(443), listener(8_080)], closed: [], changed: [] });
  expect(opened).toEqual([8_080, 10_080, 10_443]);
  expect(lines).toEqual(["low ports need rights here: 127.96.0.5:80/TCP is served at port 10080, others in the same way"]);
  listeners.stop();
});

/** The pauses of the followers grow with the time that the server takes to come back. */
const BACK_MS_MAX = 120_000;

it("the server is killed and comes back: what is known stays served, and changes come again", { timeout: 2 * BACK_MS_MAX }, async () => {
  const [before, after] = [await pod("before"), await pod("after")];
  const { clusterIP } = await createService("lasting");
  await createSlice("lasting", [anEndpoint(before.ip)]);
  const host = inCluster(one, clusterIP);
  await becomes(() => whoAnswers(host, port), "before");
  await server.kill();
  for (let again = 0; again < 20; again++) expect(await whoAnswers(host, port)).toBe("before");
  expect((await fetch(`${healthzUrl()}/healthz`)).status).toBe(200);
  await server.start();
  await putSlice("lasting", [anEndpoint(after.ip)]);
  await expect.poll(() => whoAnswers(host, port), { ...poll, timeout: BACK_MS_MAX }).toBe("after");
  expect(program.output()).toContain("what is known stays served");
});
