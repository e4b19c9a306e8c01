/** The page of a node for its data plane, through the whole Worker and real objects. */
import { createExecutionContext, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { proxyView, servicesStore } from "../../../durable-objects/peers/peers";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { CLUSTER_GONE } from "../../../src/tenancy/rpc";
import { app } from "../../../src/worker/app";
import { pollRelay } from "../../../src/worker/routing/poll-relay";
import { freshCluster, storeStubOf } from "../../support/objects/store-stubs";
import { aSlice, anEndpoint, type EndpointState } from "../../support/values/endpoint-objects";
import { PATIENCE } from "../../support/objects/patience";

const bindings = env as unknown as Env;
const SERVICES = "/api/v1/namespaces/default/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const NODES = "/api/v1/nodes";
const ZONE = "topology.kubernetes.io/zone";

interface ShownPage {
  isFull: boolean;
  services: { name: string; ports: { cluster?: string[] }[] }[];
  removed: { name: string }[];
}

interface Answer {
  code: number;
  etag: string;
  headers: Headers;
  /** `whole` or `changes`, then each Service with its endpoints; `-name` = gone */
  page: string;
  message: string | undefined;
}

/** The cluster of one test, with two Services of one slice each and two nodes of one zone. */
class Cluster {
  readonly name = freshCluster();

  static async ready(): Promise<Cluster> {
    const cluster = new Cluster();
    await cluster.service("web");
    await Promise.all([
      ...Object.entries({ n1: "z1", n2: "z1", n3: "z2" }).map(async ([name, zone]) => {
        expect(await cluster.send("POST", NODES, { metadata: { name, labels: { [ZONE]: zone } } })).toBe(201);
      }),
      cluster.service("api"),
      cluster.change("web", "POST", "ready", "ready"),
      cluster.change("api", "POST", "ready"),
    ]);
    return cluster;
  }

  get view() {
    return proxyView(bindings, this.name);
  }

  /** by which polls wait: two for each */
  get watches(): number {
    return pollRelay.size;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return Promise.resolve(app.request(`http://h/clusters/${this.name}${path}`, init, bindings, createExecutionContext()));
  }

  async send(method: string, path: string, body?: KubeObject): Promise<number> {
    const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
    const response = await this.fetch(path, init);
    await response.text();
    return response.status;
  }

  async service(name: string): Promise<void> {
    const service: KubeObject = Object.assign({ metadata: { name } }, { spec: { ports: [{ name: "http", port: 80 }] } });
    expect(await this.send("POST", SERVICES, service)).toBe(201);
  }

  /** Writes the slice of a Service, with endpoints in these states. */
  async change(service: string, method: "POST" | "PUT", ...states: EndpointState[]): Promise<void> {
    const endpoints = states.map((state, i) => anEndpoint(`10.1.0.${i + 1}`, state));
    const path = method === "POST" ? SLICES : `${SLICES}/${service}-a`;
    expect(await this.send(method, path, aSlice(`${service}-a`, service, endpoints))).toBe(method === "POST" ? 201 : 200);
  }

  async poll(node: string, etag?: string, query = "", signal?: AbortSignal): Promise<Answer> {
    const headers: Record<string, string> = etag === undefined ? {} : { "If-None-Match": etag };
    const response = await this.fetch(`${NODES}/${node}/proxy-config${query}`, { headers, ...(signal ? { signal } : {}) });
    const text = await response.text();
    const body = (text === "" ? {} : JSON.parse(text)) as Partial<ShownPage> & { message?: string };
    const services = (body.services ?? [])
      .filter(({ name }) => name !== "kubernetes")
      .map(({ name, ports: [port] }) => [name, ...(port?.cluster ?? [])].join(" "))
      .sort();
    const page = body.services
      ? [body.isFull ? "whole" : "changes", ...services, ...(body.removed ?? []).map(({ name }) => `-${name}`)]
      : [];
    return {
      code: response.status,
      etag: response.headers.get("ETag") ?? "",
      headers: response.headers,
      page: page.join(", "),
      message: body.message,
    };
  }

  /** Begins a poll that waits for a change after this page, and answers when it waits. */
  async waiting(node: string, etag: string, signal?: AbortSignal): Promise<{ answer: Promise<Answer> }> {
    const before = this.watches;
    const answer = this.poll(node, etag, "?timeoutSeconds=60", signal);
    await vi.waitUntil(() => this.watches === before + 2, PATIENCE);
    return { answer };
  }
}

const WHOLE = "whole, api 10.1.0.1:8080, web 10.1.0.1:8080 10.1.0.2:8080";

describe("page of a node for its data plane", () => {
  it("asked without an ETag: every Service, for no cache to keep; with the page's ETag: 304 at once", async () => {
    const cluster = await Cluster.ready();
    const first = await cluster.poll("n1");
    expect([first.code, first.page]).toEqual([200, WHOLE]);
    expect(first.headers.get("Content-Type")).toBe("application/json");
    expect(first.headers.get("Cache-Control")).toBe("no-store");
    for (const etag of [first.etag, `W/${first.etag}`]) expect(await cluster.poll("n1", etag)).toMatchObject({ code: 304, page: "" });
  });

  it("an endpoint is not ready any more: a poll that waits hears of its Service alone", async () => {
    const cluster = await Cluster.ready();
    const { etag } = await cluster.poll("n1");
    const { answer } = await cluster.waiting("n1", etag);
    await cluster.change("web", "PUT", "ready", "notReady");
    const woken = await answer;
    expect([woken.code, woken.page]).toEqual([200, "changes, web 10.1.0.1:8080"]);
    expect((await cluster.poll("n1", woken.etag)).code).toBe(304);
    const { answer: next } = await cluster.waiting("n1", woken.etag);
    expect(await cluster.send("DELETE", `${SERVICES}/api`)).toBe(200);
    expect((await next).page).toBe("changes, -api");
    // A page that misses both changes.
    expect((await cluster.poll("n1", etag)).page).toBe("changes, web 10.1.0.1:8080, -api");
  });

  it("nothing changes for as long as the poll may wait: 304", async () => {
    const cluster = await Cluster.ready();
    const { etag } = await cluster.poll("n1");
    const begunMs = Date.now();
    const answer = await cluster.poll("n1", etag, "?timeoutSeconds=1");
    expect([answer.code, answer.etag]).toEqual([304, etag]);
    expect(Date.now() - begunMs).toBeGreaterThan(900);
  });

  it("an ETag of another object, another zone or nobody: the whole page at once", async () => {
    const cluster = await Cluster.ready();
    const { etag } = await cluster.poll("n1");
    for (const strange of [etag.replace(/"\w+/, '"other'), '"x"', "*", `${etag}, "x"`]) {
      expect((await cluster.poll("n1", strange, "?timeoutSeconds=60")).page).toBe(WHOLE);
    }
    expect((await cluster.poll("n3", etag, "?timeoutSeconds=60")).page).toBe(WHOLE);
  });

  it("nodes that a Service does not tell apart: its bytes are made once", async () => {
    const cluster = await Cluster.ready();
    const made = async (node: string, etag?: string): Promise<number> => {
      const before = (await cluster.view.counters()).made;
      expect((await cluster.poll(node, etag)).code).toBe(200);
      return (await cluster.view.counters()).made - before;
    };
    const [{ etag }] = [await cluster.poll("n1")];
    expect(await made("n2")).toBe(0);
    // No Service has hints, so that zones do not differ either.
    expect(await made("n3")).toBe(0);
    const { answer } = await cluster.waiting("n1", etag);
    const hints = (zone: string) => ({ hints: { forZones: [{ name: zone }] } });
    const endpoints = [anEndpoint("10.1.0.1", "ready", hints("z1")), anEndpoint("10.1.0.2", "ready", hints("z2"))];
    expect(await cluster.send("PUT", `${SLICES}/web-a`, aSlice("web-a", "web", endpoints))).toBe(200);
    expect((await answer).page).toBe("changes, web 10.1.0.1:8080");
    expect(await made("n2", etag), "the zone of n1").toBe(0);
    expect(await made("n3"), "another zone").toBe(1);
  });

  it("requests in other forms: refused or answered as reads of nodes are; discovery and OpenAPI do not have the page", async () => {
    const cluster = await Cluster.ready();
    expect(await cluster.poll("nobody")).toMatchObject({ code: 404, message: 'nodes "nobody" not found' });
    expect(await cluster.poll("n1", undefined, "?timeoutSeconds=soon")).toMatchObject({
      code: 400,
      message: 'strconv.ParseInt: parsing "soon": invalid syntax',
    });
    const path = `${NODES}/n1/proxy-config`;
    expect((await cluster.fetch(path, { headers: { Accept: "application/vnd.kubernetes.protobuf" } })).status).toBe(406);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) expect(await cluster.send(method, path, {})).toBe(405);
    expect(await cluster.send("GET", `${SERVICES}/web/proxy-config`)).toBe(404);
    expect((await cluster.fetch(path, { method: "HEAD" })).status).toBe(200);
    for (const document of ["/api/v1", "/openapi/v3/api/v1"])
      expect(await (await cluster.fetch(document)).text()).not.toContain("proxy-config");
    expect((await cluster.fetch(path, { headers: { Accept: "application/yaml" } })).headers.get("Content-Type")).toBe("application/yaml");
  });
});

describe("polls of proxies that wait", () => {
  const STORES = (cluster: Cluster) => [
    storeStubOf(cluster.name, "endpointslices.discovery.k8s.io"),
    servicesStore(bindings, cluster.name),
  ];
  const sockets = async (cluster: Cluster): Promise<(number | undefined)[]> =>
    Promise.all(STORES(cluster).map(async (store) => (await store.counters()).sockets));

  const dies = (stub: object): Promise<void> =>
    runInDurableObject(stub as DurableObjectStub, (_, state) => state.abort("dies")).catch(() => undefined);

  it("one socket at each store, however many wait; none before the first one and after the last one", async () => {
    const cluster = await Cluster.ready();
    const { etag } = await cluster.poll("n1");
    expect(await sockets(cluster)).toEqual([0, 0]);
    const clients = [new AbortController(), new AbortController()] as const;
    const waiting = [await cluster.waiting("n1", etag, clients[0].signal), await cluster.waiting("n2", etag, clients[1].signal)];
    expect(await sockets(cluster)).toEqual([1, 1]);
    // The one that has opened the sockets leaves.
    clients[0].abort();
    await waiting[0]?.answer.catch(() => undefined);
    await vi.waitUntil(() => cluster.watches === 2, PATIENCE);
    await cluster.change("web", "PUT", "ready");
    expect((await waiting[1]?.answer)?.page).toBe("changes, web 10.1.0.1:8080");
    await vi.waitUntil(async () => (await sockets(cluster)).join() === "0,0", PATIENCE);
    expect(cluster.watches).toBe(0);
  });

  it("a page that nothing has changed: is answered without the view", async () => {
    const cluster = await Cluster.ready();
    const { etag } = await cluster.poll("n1");
    const { passes } = await cluster.view.counters();
    for (let i = 0; i < 2; i++) expect(await cluster.poll("n1", etag, "?timeoutSeconds=1")).toMatchObject({ code: 304, etag });
    expect((await cluster.view.counters()).passes).toBe(passes);
  });

  it("a change for another node: the view is asked once, and the poll waits on from there", async () => {
    const cluster = await Cluster.ready();
    const local = Object.assign(
      { metadata: { name: "own" } },
      { spec: { internalTrafficPolicy: "Local", ports: [{ name: "http", port: 80 }] } },
    );
    expect(await cluster.send("POST", SERVICES, local)).toBe(201);
    const slice = (ip: string) => aSlice("own-a", "own", [anEndpoint(ip, "ready", { nodeName: "n2" })]);
    expect(await cluster.send("POST", SLICES, slice("10.1.0.1"))).toBe(201);
    const { etag } = await cluster.poll("n1");
    const answer = cluster.poll("n1", etag, "?timeoutSeconds=3");
    await vi.waitUntil(() => cluster.watches === 2, PATIENCE);
    const { passes } = await cluster.view.counters();
    expect(await cluster.send("PUT", `${SLICES}/own-a`, slice("10.1.0.2"))).toBe(200);
    const { code, etag: next } = await answer;
    expect([code, next === etag]).toEqual([304, false]);
    expect((await cluster.view.counters()).passes).toBe(passes + 1);
    // With the newer ETag nothing is asked again.
    expect((await cluster.poll("n1", next, "?timeoutSeconds=1")).code).toBe(304);
    expect((await cluster.view.counters()).passes).toBe(passes + 1);
  });

  it("a view that has died: tells what changed since the ETag, as if it had been there", async () => {
    const cluster = await Cluster.ready();
    const { etag } = await cluster.poll("n1");
    await cluster.change("web", "PUT", "ready");
    await dies(cluster.view);
    expect(await cluster.poll("n1", etag)).toMatchObject({ code: 200, page: "changes, web 10.1.0.1:8080" });
    const { etag: known } = await cluster.poll("n2");
    const { answer } = await cluster.waiting("n2", known);
    await dies(cluster.view);
    await cluster.change("api", "PUT", "notReady");
    expect((await answer).page).toBe("changes, api");
  });

  it("stores that die while polls wait: the change is told", async () => {
    const cluster = await Cluster.ready();
    const { etag } = await cluster.poll("n1");
    const { answer } = await cluster.waiting("n1", etag);
    await vi.waitUntil(async () => (await sockets(cluster)).join() === "1,1", PATIENCE);
    for (const store of STORES(cluster)) await dies(store);
    await cluster.change("web", "PUT", "ready");
    expect((await answer).page).toBe("changes, web 10.1.0.1:8080");
  });

  it("end of the cluster: the poll that waits is 404, and the view refuses every call", async () => {
    const cluster = await Cluster.ready();
    const { etag } = await cluster.poll("n1");
    const { answer } = await cluster.waiting("n1", etag);
    expect(await cluster.send("DELETE", "")).toBe(202);
    expect(await answer).toMatchObject({ code: 404, message: `clusters "${cluster.name}" not found` });
    await vi.waitUntil(async () => (await cluster.send("GET", "")) === 404, PATIENCE);
    await expect(cluster.view.counters()).rejects.toThrow(CLUSTER_GONE);
    // Of the next cluster of the name.
    expect(await cluster.send("POST", NODES, { metadata: { name: "n1" } })).toBe(201);
    expect((await cluster.poll("n1", etag)).page).toBe("whole");
  });
});
