/** The page of a node, as docs/proxies.md describes it, with the page's programs, against the started server. */
import { readFileSync } from "node:fs";
import { createServer, connect, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { dial, forward } from "../../support/examples/forward";
import { keepServices, type Service } from "../../support/examples/kept-services";
import { parsePrometheus } from "../../support/values/prometheus";
import { aSlice, anEndpoint, type SliceEndpoint } from "../../support/values/endpoint-objects";
import { NODES_ARE_NAMES, serverForTests } from "../../support/server/server-for-tests";
import { root } from "../../../scripts/running/root.mjs";
import { PATIENCE } from "../../support/server/patience";

const SERVICES = "/api/v1/namespaces/default/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const server = serverForTests(NODES_ARE_NAMES);
const listening: Server[] = [];
afterAll(() => listening.forEach((one) => one.close()));

const pageOf = (node: string) => `${server.url}/api/v1/nodes/${node}/proxy-config`;

async function send(method: string, path: string, body?: object): Promise<number> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = { method, headers: { "Content-Type": type }, ...(body ? { body: JSON.stringify(body) } : {}) };
  return (await fetch(server.url + path, init)).status;
}

async function listens(one: Server): Promise<number> {
  listening.push(one.listen(0, "127.0.0.1"));
  await once(one, "listening");
  return (one.address() as AddressInfo).port;
}

/** A server that says `text` to each connection. */
const says = (text: string) => listens(createServer((socket) => socket.end(text)));

/** What a connection to the port is told; "" = it was closed. */
async function told(port: number): Promise<string> {
  let text = "";
  const socket = connect(port, "127.0.0.1");
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await once(
    socket.on("error", () => undefined),
    "close",
  );
  return text;
}

const on = (node: string, ip: string): SliceEndpoint => anEndpoint(ip, "ready", { nodeName: node });

it("answer in docs/proxies.md: is that of its Service and slice", async () => {
  const text = readFileSync(join(root, "docs", "proxies.md"), "utf8");
  const shown: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(text)?.[1] ?? "");
  for (const name of ["node-1", "node-2"]) expect(await send("POST", "/api/v1/nodes", { metadata: { name } })).toBe(201);
  const spec = {
    type: "NodePort",
    clusterIP: "10.96.0.50",
    externalTrafficPolicy: "Local",
    ports: [{ name: "http", port: 80, nodePort: 30080 }],
  };
  expect(await send("POST", SERVICES, { metadata: { name: "shown" }, spec })).toBe(201);
  expect(await send("POST", SLICES, aSlice("shown-a", "shown", [on("node-1", "10.1.0.1"), on("node-2", "10.1.0.2")]))).toBe(201);
  const answered = async (): Promise<unknown> => {
    const page = (await (await fetch(pageOf("node-1"))).json()) as { services: { name: string }[] };
    return { ...page, services: page.services.filter(({ name }) => name === "shown") };
  };
  await expect.poll(answered, PATIENCE).toEqual(shown);
});

it("slice of 1,000 endpoints on 20,000 ports: the page has the ports of its Service, and the server goes on", async () => {
  const spec = { clusterIP: "10.96.0.60", ports: [{ name: "p7", port: 80 }] };
  expect(await send("POST", SERVICES, { metadata: { name: "large" }, spec })).toBe(201);
  const endpoints = Array.from({ length: 1_000 }, (_, i) => on("node-1", `10.2.${String(Math.floor(i / 250))}.${String((i % 250) + 1)}`));
  const ports = Array.from({ length: 20_000 }, (_, i) => ({ name: `p${String(i)}`, port: i + 1 }));
  expect(await send("POST", SLICES, aSlice("large-a", "large", endpoints, { ports }))).toBe(201);
  const cluster = async (): Promise<string[][]> => {
    const page = (await (await fetch(pageOf("node-1"))).json()) as { services: { name: string; ports: { cluster: string[] }[] }[] };
    return page.services.flatMap((service) => (service.name === "large" ? service.ports.map((one) => one.cluster) : []));
  };
  await expect.poll(async () => (await cluster()).map((one) => [one.length, one[0]]), PATIENCE).toEqual([[1_000, "10.2.0.100:8"]]);
  expect(await send("DELETE", `${SLICES}/large-a`)).toBe(200);
});

it("proxy of docs/proxies.md: its connections go where the endpoints are", async () => {
  const ports = new Map([
    ["10.1.0.1:8080", await says("one")],
    ["10.1.0.2:8080", await says("two")],
  ]);
  const services = new Map<string, Service>();
  const stopped = new AbortController();
  const kept = keepServices(pageOf("node-1"), services, stopped.signal);
  const port = await listens(forward(services, "default/web/IPv4", 80, (endpoint) => dial(`127.0.0.1:${String(ports.get(endpoint))}`)));
  expect(await told(port)).toBe("");

  expect(await send("POST", SERVICES, { metadata: { name: "web" }, spec: { ports: [{ name: "http", port: 80 }] } })).toBe(201);
  expect(await send("POST", SLICES, aSlice("web-a", "web", [anEndpoint("10.1.0.1")]))).toBe(201);
  await expect.poll(() => told(port), PATIENCE).toBe("one");
  const drained = aSlice("web-a", "web", [anEndpoint("10.1.0.1", "servingLast"), anEndpoint("10.1.0.2")]);
  expect(await send("PUT", `${SLICES}/web-a`, drained)).toBe(200);
  await expect.poll(() => told(port), PATIENCE).toBe("two");
  expect(await send("DELETE", `${SERVICES}/web`)).toBe(200);
  await expect.poll(() => told(port), PATIENCE).toBe("");
  expect(services.size).toBeGreaterThan(0);
  stopped.abort();
  await kept;
});

/** Polls the page until it has these endpoints of the Service; answers its ETag. Each poll waits for a change. */
async function pollUntil(node: string, name: string, want: readonly string[], etag = ""): Promise<string> {
  for (let last = etag; ;) {
    const response = await fetch(`${pageOf(node)}?timeoutSeconds=30`, { headers: { "If-None-Match": last } });
    expect(response.status, `${name} with ${want.join()}`).toBe(200);
    last = response.headers.get("ETag") ?? "";
    const { services } = (await response.json()) as { services: (Service & { name: string })[] };
    const found = services.find((one) => one.name === name)?.ports[0]?.cluster ?? [];
    if (found.join() === want.join()) return last;
  }
}

it("a Pod, from its creation to its drain: polls of its node are answered with its endpoint, and without it", async () => {
  const pods = "/api/v1/namespaces/default/pods";
  const ready = (name: string, ip: string): Promise<number> => {
    const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] };
    return send("PATCH", `${pods}/${name}/status`, { status });
  };
  const create = async (name: string): Promise<void> => {
    const spec = { nodeName: "node-3", containers: [{ name: "c", image: "i" }] };
    expect(await send("POST", pods, { metadata: { name, labels: { app: "drained" } }, spec })).toBe(201);
  };
  expect(await send("POST", "/api/v1/nodes", { metadata: { name: "node-3" } })).toBe(201);
  const spec = { selector: { app: "drained" }, ports: [{ port: 80, targetPort: 8080 }] };
  expect(await send("POST", SERVICES, { metadata: { name: "drained" }, spec })).toBe(201);
  await create("drained-0");
  let etag = (await fetch(pageOf("node-3"))).headers.get("ETag") ?? "";

  /** The poll waits when the change comes. */
  const polls = async (want: readonly string[], change: () => Promise<number>): Promise<void> => {
    const polled = pollUntil("node-3", "drained", want, etag);
    expect(await change()).toBe(200);
    etag = await polled;
  };
  await polls(["10.3.0.1:8080"], () => ready("drained-0", "10.3.0.1"));
  await create("drained-1");
  await polls(["10.3.0.1:8080", "10.3.0.2:8080"], () => ready("drained-1", "10.3.0.2"));
  // A Pod that ends gracefully serves on, but gets no new connection while another is ready.
  await polls(["10.3.0.2:8080"], () => send("DELETE", `${pods}/drained-0?gracePeriodSeconds=30`));
  expect(await send("GET", `${pods}/drained-0`)).toBe(200);
  await polls([], () =>
    send("DELETE", `${pods}/drained-1?gracePeriodSeconds=0`).then(() => send("DELETE", `${pods}/drained-0?gracePeriodSeconds=0`)),
  );
}, 60_000);

it("polls: counted as reads of the page; one that waits takes no place among the requests under way", async () => {
  const etag = (await fetch(pageOf("node-2"))).headers.get("ETag") ?? "";
  const poll = fetch(`${pageOf("node-2")}?timeoutSeconds=2`, { headers: { "If-None-Match": etag } });
  const metrics = async () => parsePrometheus(await (await fetch(`${server.url}/metrics`)).text());
  const samples = (await metrics()).get("apiserver_request_total")?.samples ?? [];
  expect(samples.find(({ labels }) => labels.subresource === "proxy-config")?.labels).toMatchObject({ verb: "GET", resource: "nodes" });
  const places = (await metrics()).get("apiserver_current_inflight_requests")?.samples ?? [];
  expect(places.find(({ labels }) => labels.request_kind === "readOnly")?.value).toBe(0);
  expect((await poll).status).toBe(304);
});

it("stop of the server: a poll that waits is answered; after the next start its ETag counts, and brings what has changed since", async () => {
  const etag = (await fetch(pageOf("node-2"))).headers.get("ETag") ?? "";
  const poll = fetch(`${pageOf("node-2")}?timeoutSeconds=60`, { headers: { "If-None-Match": etag } });
  // A later request that has been answered shows that the poll is on its way.
  expect((await fetch(pageOf("node-2"), { headers: { "If-None-Match": etag } })).status).toBe(304);
  await server.interrupt();
  expect([304, 503]).toContain((await poll).status);
  await server.start();
  expect(await send("PUT", `${SLICES}/shown-a`, aSlice("shown-a", "shown", [on("node-2", "10.1.0.9")]))).toBe(200);
  const page = (await (await fetch(pageOf("node-2"), { headers: { "If-None-Match": etag } })).json()) as {
    isFull: boolean;
    services: { name: string }[];
  };
  expect([page.isFull, page.services.map(({ name }) => name)]).toEqual([false, ["shown"]]);
}, 60_000);
