/** The page of a node, as docs/proxies.md describes it, with the page's programs, against the started server. */
import { readFileSync } from "node:fs";
import { createServer, connect, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { dial, forward } from "../support/examples/forward";
import { keepServices, type Service } from "../support/examples/kept-services";
import { parsePrometheus } from "../support/values/prometheus";
import { aSlice, anEndpoint, type SliceEndpoint } from "../support/values/endpoint-objects";
import { serverForTests } from "../support/server/server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const PATIENCE = { timeout: 20_000 };
const server = serverForTests();
const listening: Server[] = [];
afterAll(() => listening.forEach((one) => one.close()));

const pageOf = (node: string) => `${server.url}/api/v1/nodes/${node}/proxy-config`;

async function send(method: string, path: string, body?: object): Promise<number> {
  const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
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
  const text = readFileSync(join(import.meta.dirname, "..", "..", "docs", "proxies.md"), "utf8");
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

it("stop of the server: a poll that waits is answered", async () => {
  const etag = (await fetch(pageOf("node-2"))).headers.get("ETag") ?? "";
  const poll = fetch(`${pageOf("node-2")}?timeoutSeconds=60`, { headers: { "If-None-Match": etag } });
  // A later request that has been answered shows that the poll is on its way.
  expect((await fetch(pageOf("node-2"), { headers: { "If-None-Match": etag } })).status).toBe(304);
  await server.interrupt();
  expect([304, 503]).toContain((await poll).status);
});
