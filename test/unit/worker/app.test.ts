import { describe, expect, it, vi } from "vitest";
import { notFound } from "../../../src/api/meta/status";
import type { WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import { RELAY_FORM, RELAY_HEADER } from "../../../src/api/store/watch/relay-frames";
import { app } from "../../../src/worker/app";
import { inFlightFamilies, weightOfBody } from "../../../src/worker/http/in-flight";
import { DRAIN_SILENCE_MS } from "../../../src/worker/http/limits";
import { send } from "./client";
import { type Answers, fakeEnv, silentSocket } from "./fake-env";
import { PATIENCE } from "../../support/objects/patience";

let clusters = 0;

/** What the first request to a cluster brings with it. */
const isBootstrap = ({ method }: { method: string }): boolean => method === "ensureBootstrapped" || method === "pokeFrom";

/** One request into a cluster of its own; answers the response and what the objects were asked, the cluster's name cut off. */
async function ask(path: string, init: RequestInit = {}, answers: Answers = {}) {
  const cluster = `c${++clusters}`;
  const { env, calls } = fakeEnv(answers);
  const response = await send(`http://h/clusters/${cluster}${path}`, init, env);
  const asked = calls.filter((call) => !isBootstrap(call));
  return { response, calls: asked.map((call) => ({ ...call, object: call.object.replace(`${cluster}/`, "") })), all: calls, cluster };
}

const JSON_BODY = { "Content-Type": "application/json" };
const SERVICE = { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } };
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

function post(body: unknown, headers: Record<string, string> = JSON_BODY): RequestInit {
  return { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), headers };
}

describe("create", () => {
  it("an object: stored without kind and apiVersion, answered with them", async () => {
    const stored = '{"metadata":{"name":"a","uid":"u"},"spec":{"clusterIP":"10.96.0.7"}}';
    const { response, calls } = await ask(
      "/api/v1/namespaces/x/services?fieldManager=me&fieldValidation=Strict",
      post({ kind: "Service", apiVersion: "v1", ...SERVICE }),
      { write: () => ({ ok: true, code: 201, object: stored, warnings: ["careful"], gone: false }) },
    );
    expect(response.status).toBe(201);
    expect(await response.text()).toBe(`{"kind":"Service","apiVersion":"v1",${stored.slice(1)}`);
    expect(response.headers.get("Warning")).toBe('299 - "careful"');
    expect(calls).toEqual([
      {
        object: "SERVICES_STORE services",
        method: "write",
        argument: {
          verb: "create",
          namespace: "x",
          object: JSON.stringify(SERVICE),
          options: { dryRun: false, fieldManager: "me", fieldValidation: "Strict", force: false, group: "", version: "v1" },
        },
      },
    ]);
  });

  it("an unknown field: a warning by default", async () => {
    const { response } = await ask("/api/v1/namespaces/x/services", post({ metadata: { name: "a" }, spec: { foo: 1 } }));
    expect(response.status).toBe(201);
    expect(response.headers.get("Warning")).toBe('299 - "unknown field \\"spec.foo\\""');
  });

  it("a refusal of the store: the answer", async () => {
    const refusal = notFound({ group: "", resource: "namespaces", kind: "Namespace" }, "x");
    const { response } = await ask("/api/v1/namespaces/x/services", post(SERVICE), {
      write: () => ({ ok: false, status: refusal, warnings: [] }),
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual(refusal);
  });

  it("an error of the store: 500 without details; overload: 503 with Retry-After", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const broken = await ask("/api/v1/namespaces/x/services", post(SERVICE), { write: () => Promise.reject(new Error("at store.ts:5")) });
    expect(broken.response.status).toBe(500);
    expect(await broken.response.text()).not.toContain("store.ts");
    const busy = await ask("/api/v1/namespaces/x/services", post(SERVICE), {
      write: () => Promise.reject(Object.assign(new Error("busy"), { overloaded: true })),
    });
    expect(busy.response.status).toBe(503);
    expect(busy.response.headers.get("Retry-After")).toBe("1");
  });

  it.each([
    { name: "truncated", init: post('{"metadata":'), code: 400 },
    { name: "other type", init: post("{}", { "Content-Type": "text/plain" }), code: 415 },
    { name: "other kind", init: post({ kind: "Pod", apiVersion: "v1" }), code: 400 },
    { name: "other namespace", init: post({ metadata: { name: "a", namespace: "y" } }), code: 400 },
    { name: "unacceptable answer", init: post(SERVICE, { ...JSON_BODY, Accept: "text/html" }), code: 406 },
  ])("$name: $code, and no store is asked", async ({ init, code }) => {
    const { response, calls } = await ask("/api/v1/namespaces/x/services", init);
    expect(response.status).toBe(code);
    expect(await response.json()).toMatchObject({ kind: "Status", status: "Failure", code });
    expect(calls).toEqual([]);
  });

  it("an event of events.k8s.io: stored as a core event", async () => {
    const event = {
      metadata: { name: "e", namespace: "x" },
      note: "hello",
      reportingController: "c",
      regarding: { kind: "Pod", name: "p" },
    };
    const { response, calls } = await ask("/apis/events.k8s.io/v1/namespaces/x/events", post(event));
    expect(response.status).toBe(201);
    const [call] = calls;
    expect(call?.object).toBe("RESOURCE_STORE events");
    const { object } = call?.argument as Extract<WriteRequest, { verb: "create" }>;
    expect(JSON.parse(object)).toMatchObject({ message: "hello", reportingComponent: "c", involvedObject: { kind: "Pod", name: "p" } });
    expect(await response.json()).toMatchObject({ kind: "Event", apiVersion: "events.k8s.io/v1", note: "hello", regarding: { name: "p" } });
  });
});

describe("objects by resource", () => {
  it.each([
    ["/api/v1/nodes/a", "RESOURCE_STORE nodes"],
    ["/apis/coordination.k8s.io/v1/namespaces/x/leases/a", "RESOURCE_STORE leases.coordination.k8s.io"],
    ["/apis/discovery.k8s.io/v1/namespaces/x/endpointslices/a", "RESOURCE_STORE endpointslices.discovery.k8s.io"],
    ["/apis/networking.k8s.io/v1/servicecidrs/a", "COORDINATOR coordinator"],
    ["/apis/networking.k8s.io/v1/ipaddresses/10.96.0.1", "IP_ADDRESSES_STORE ipaddresses.networking.k8s.io"],
    ["/apis/events.k8s.io/v1/namespaces/x/events/a", "RESOURCE_STORE events"],
  ])("objects of %s: kept by %s", async (path, object) => {
    const { calls } = await ask(path);
    expect(calls.map((call) => call.object)).toEqual([object]);
  });

  it("a path without a cluster: the cluster default; each cluster is bootstrapped once, and no object that is there waits for it", async () => {
    const missing = { ok: false, status: notFound({ group: "", resource: "services", kind: "Service" }, "missing") } as const;
    const { env, calls } = fakeEnv({ get: ({ name }) => (name === "missing" ? missing : { ok: true, object: "{}" }) });
    const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
    const get = async (name: string): Promise<void> => {
      for (const path of ["/api", "/clusters/default/api"])
        await app.request(`http://h${path}/v1/namespaces/x/services/${name}`, {}, env, context);
    };
    await get("there");
    await get("missing");
    expect(calls.map(({ object, method }) => `${object} ${method}`)).toEqual([
      "SERVICES_STORE default/services get",
      "SERVICES_STORE default/services get",
      "SERVICES_STORE default/services get",
      "SERVICES_STORE default/services ensureBootstrapped",
      "CONTROLLER default/controllers/repair pokeFrom",
      "SERVICES_STORE default/services get",
      "SERVICES_STORE default/services get",
    ]);
  });

  it("a cluster without its first objects: refuses writes, serves reads", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const answers: Answers = { other: () => Promise.reject(Object.assign(new Error("busy"), { overloaded: true })) };
    const write = await ask("/api/v1/namespaces/x/services", post(SERVICE), answers);
    expect(write.response.status).toBe(503);
    expect(write.calls).toEqual([]);
    expect((await ask("/api/v1/namespaces/x/services/a", {}, answers)).response.status).toBe(200);
  });
});

describe("get", () => {
  it("an object: in the version of the URL", async () => {
    const { response } = await ask("/apis/networking.k8s.io/v1beta1/ipaddresses/2001%3Adb8%3A%3A1?resourceVersion=5");
    expect(await response.json()).toEqual({
      kind: "IPAddress",
      apiVersion: "networking.k8s.io/v1beta1",
      metadata: { name: "a", resourceVersion: "7" },
    });
  });

  it("name and resourceVersion: decoded and passed to the store", async () => {
    const { calls } = await ask("/apis/networking.k8s.io/v1/ipaddresses/2001%3adb8%3a%3a1?resourceVersion=5");
    expect(calls[0]?.argument).toEqual({ namespace: "", name: "2001:db8::1", resourceVersion: "5" });
  });

  it("a Table: one row, every column, metadata in the row", async () => {
    const { response } = await ask(
      "/api/v1/namespaces/x",
      { headers: { Accept: TABLE } },
      {
        get: () => ({ ok: true, object: '{"metadata":{"name":"x","resourceVersion":"7"},"status":{"phase":"Active"}}' }),
      },
    );
    const table = (await response.json()) as { columnDefinitions: unknown[]; rows: { cells: unknown[]; object: object }[] };
    expect(table).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "7" } });
    expect(table.rows).toHaveLength(1);
    expect(table.rows[0]?.cells).toHaveLength(table.columnDefinitions.length);
    expect(table.rows[0]?.cells.slice(0, 2)).toEqual(["x", "Active"]);
    expect(table.rows[0]?.object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "x" } });
  });

  it("a Table of an ended Pod: its row says so", async () => {
    const { response } = await ask(
      "/api/v1/namespaces/x/pods/p",
      { headers: { Accept: TABLE } },
      { get: () => ({ ok: true, object: '{"metadata":{"name":"p"},"status":{"phase":"Succeeded"}}' }) },
    );
    const table = (await response.json()) as { rows: { conditions?: object[] }[] };
    expect(table.rows[0]?.conditions).toMatchObject([{ type: "Completed", status: "True", reason: "Succeeded" }]);
  });

  it("a Table with an unknown includeObject: 400", async () => {
    const { response } = await ask("/api/v1/namespaces/x?includeObject=All", { headers: { Accept: TABLE } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      message:
        "Unable to convert to Table as requested: includeObject: Invalid value: \"All\": must be 'Metadata', 'Object', 'None', or empty",
    });
  });

  it("PartialObjectMetadata: the metadata alone", async () => {
    const headers = { Accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
    const { response } = await ask("/api/v1/nodes/a", { headers });
    expect(await response.json()).toEqual({
      kind: "PartialObjectMetadata",
      apiVersion: "meta.k8s.io/v1",
      metadata: { name: "a", resourceVersion: "7" },
    });
  });

  it("a malformed resourceVersion: 400", async () => {
    const { response } = await ask("/api/v1/nodes/a?resourceVersion=x");
    expect(await response.json()).toMatchObject({
      code: 400,
      message: 'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    });
  });

  it("curl as the client: pretty-printed", async () => {
    const { response } = await ask("/api/v1/nodes/a", { headers: { "User-Agent": "curl/8.5.0" } });
    expect(await response.text()).toContain('\n  "kind": "Node",\n');
  });

  it("a missing object of a second representation: the 404 names the client's resource", async () => {
    const { response } = await ask(
      "/apis/events.k8s.io/v1/namespaces/x/events/a",
      {},
      {
        get: () => ({ ok: false, status: notFound({ group: "", resource: "events", kind: "Event" }, "a") }),
      },
    );
    expect(await response.json()).toMatchObject({
      message: 'events.events.k8s.io "a" not found',
      details: { name: "a", group: "events.k8s.io", kind: "events" },
    });
  });
});

describe("update and patch", () => {
  it("PUT: passes key, subresource and object to the store", async () => {
    const { calls } = await ask("/api/v1/namespaces/x/services/a/status", { ...post(SERVICE), method: "PUT" });
    expect(calls[0]?.argument).toMatchObject({ verb: "update", key: { namespace: "x", name: "a" }, subresource: "status" });
  });

  it("PUT with another name in the body: 400", async () => {
    const { response } = await ask("/api/v1/namespaces/x/services/b", { ...post(SERVICE), method: "PUT" });
    expect(await response.json()).toMatchObject({
      code: 400,
      message: "the name of the object (a) does not match the name on the URL (b)",
    });
  });

  it("PATCH: passes the text unchanged", async () => {
    const { calls } = await ask("/api/v1/namespaces/x/services/a", {
      method: "PATCH",
      body: '{"metadata": {"labels": null}}',
      headers: { "Content-Type": "application/merge-patch+json", "User-Agent": "kubectl/v1.32.5 (linux/amd64)" },
    });
    expect(calls[0]?.argument).toMatchObject({
      verb: "patch",
      patchType: "merge",
      patch: '{"metadata": {"labels": null}}',
      options: { fieldManager: "kubectl", fieldValidation: "Warn" },
    });
  });

  const applying = (body: string, query = "fieldManager=me", type = "application/apply-patch+yaml") =>
    ask(`/api/v1/namespaces/x/services/a?${query}`, { method: "PATCH", body, headers: { "Content-Type": type } });

  it("apply of YAML or JSON: passed as JSON, with manager and force", async () => {
    const { calls } = await applying("apiVersion: v1\nkind: Service\nspec: {type: ClusterIP}\n", "fieldManager=me&force=true");
    expect(calls[0]?.argument).toMatchObject({
      verb: "patch",
      patchType: "apply",
      patch: '{"apiVersion":"v1","kind":"Service","spec":{"type":"ClusterIP"}}',
      options: { fieldManager: "me", force: true, fieldValidation: "Warn" },
    });
    const json = await applying(' {"kind": "Service"}', "fieldManager=me&dryRun=All", "application/apply-patch+yaml; charset=utf-8");
    expect(json.calls[0]?.argument).toMatchObject({ patch: '{"kind":"Service"}', options: { force: false, dryRun: true } });
  });

  it.each([
    { body: "a: [", want: [400, /^error decoding YAML: /] },
    { body: "[]", want: [400, /^error decoding YAML: .*cannot unmarshal array into Go value of type map/] },
    { body: "a: 1\na: 2\n", query: "fieldManager=me&fieldValidation=Strict", want: [400, /^error strict decoding YAML: /] },
    { body: "{}", query: "", want: [422, /fieldManager: Required value: is required for apply patch$/] },
    { body: "{}", query: "fieldManager=a%07b", want: [422, /invalid character U\+0007 \(at position 1\)$/] },
    { body: "{}", type: "application/apply-patch+cbor", want: [415, /^415: Unsupported Media Type$/] },
  ] as const)("apply of $body: refused, and no store is asked", async ({ body, want, ...rest }) => {
    const { query, type } = { query: undefined, type: undefined, ...rest };
    const { calls, response } = await applying(body, query, type);
    expect(calls).toEqual([]);
    expect(await response.json()).toMatchObject({ code: want[0], message: expect.stringMatching(want[1]) as string });
  });

  it("apply with a repeated key: a warning beside the answer", async () => {
    const { response } = await applying("a: 1\na: 2\n");
    expect(response.headers.get("Warning")).toContain(String.raw`key \"a\" already set in map`);
  });

  it("PATCH of an unknown type: 415", async () => {
    const { response } = await ask("/api/v1/namespaces/x/services/a", { method: "PATCH", body: "{}", headers: JSON_BODY });
    expect(await response.json()).toMatchObject({
      code: 415,
      message: "415: Unsupported Media Type",
    });
  });
});

describe("delete", () => {
  const gone: Answers = {
    write: () => ({ ok: true, code: 200, object: '{"metadata":{"name":"a","uid":"u"}}', warnings: [], gone: true }),
  };

  it("an object: a Status with its uid", async () => {
    const { response } = await ask("/apis/coordination.k8s.io/v1/namespaces/x/leases/a", { method: "DELETE" }, gone);
    expect(await response.json()).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "a", group: "coordination.k8s.io", kind: "leases", uid: "u" },
    });
  });

  it("a kind that answers its object, and a deletion that waits: the object", async () => {
    const service = await ask("/api/v1/namespaces/x/services/a", { method: "DELETE" }, gone);
    expect(await service.response.json()).toMatchObject({ kind: "Service", metadata: { uid: "u" } });
    const waiting = await ask(
      "/api/v1/nodes/a",
      { method: "DELETE" },
      {
        write: () => ({ ok: true, code: 200, object: '{"metadata":{"name":"a"}}', warnings: [], gone: false }),
      },
    );
    expect(await waiting.response.json()).toMatchObject({ kind: "Node" });
  });

  it.each([
    ['{"orphanDependents":false}', false, 202],
    ['{"propagationPolicy":"Foreground"}', false, 202],
    ['{"propagationPolicy":"Background"}', false, 200],
    ["{}", false, 200],
    ['{"orphanDependents":false}', true, 200],
  ])("%s, the object has gone: %s: %i", async (body, isGone, code) => {
    const answer = { ok: true as const, code: 200 as const, object: '{"metadata":{"name":"a"}}', warnings: [], gone: isGone };
    const { response } = await ask("/api/v1/nodes/a", { method: "DELETE", body, headers: JSON_BODY }, { write: () => answer });
    expect(response.status).toBe(code);
  });

  it("options in the body: the query is ignored", async () => {
    const { calls } = await ask(
      "/api/v1/nodes/a?dryRun=All",
      { method: "DELETE", body: '{"propagationPolicy":"Background","preconditions":{"uid":"u"}}', headers: JSON_BODY },
      gone,
    );
    expect(calls[0]?.argument).toMatchObject({
      verb: "delete",
      options: { dryRun: false, propagationPolicy: "Background", preconditions: { uid: "u" } },
    });
  });

  it("protobuf DeleteOptions of kubectl drain: read", async () => {
    // Unknown{typeMeta{"v1","DeleteOptions"}, raw{gracePeriodSeconds 0, preconditions{uid "u"}}}
    const bytes = "6b3873000a130a027631120d44656c6574654f7074696f6e73120708001203" + "0a0175";
    const body = Uint8Array.from(bytes.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const headers = { "Content-Type": "application/vnd.kubernetes.protobuf" };
    const { response, calls } = await ask("/api/v1/nodes/a", { method: "DELETE", body, headers }, gone);
    expect(response.status).toBe(200);
    expect(calls[0]?.argument).toMatchObject({ options: { gracePeriodSeconds: 0, preconditions: { uid: "u" } } });
  });

  it("an empty body with a content type: the query counts", async () => {
    const { calls } = await ask("/api/v1/nodes/a?gracePeriodSeconds=0", { method: "DELETE", headers: JSON_BODY }, gone);
    expect(calls[0]?.argument).toMatchObject({ options: { gracePeriodSeconds: 0 } });
  });

  it("an unknown policy: 422", async () => {
    const { response } = await ask("/api/v1/nodes/a", { method: "DELETE", body: '{"propagationPolicy":"x"}', headers: JSON_BODY });
    expect(response.status).toBe(422);
  });

  it("a collection: the store gets selectors and options", async () => {
    const { response, calls } = await ask("/api/v1/namespaces/x/services?labelSelector=a%3Db", { method: "DELETE" });
    expect(response.status).toBe(200);
    expect(calls[0]?.argument).toMatchObject({
      verb: "deletecollection",
      namespace: "x",
      labelSelector: "a=b",
      deleteOptions: { dryRun: false, propagationPolicy: "" },
    });
  });
});

describe("list and watch", () => {
  it("list: the store's answer", async () => {
    const answer = new Response('{"kind":"ServiceList"}', { headers: { "Content-Type": "application/json" } });
    const { response, calls } = await ask("/api/v1/services?limit=500", { headers: { Accept: TABLE } }, { fetch: () => answer });
    expect(response).toBe(answer);
    expect(calls[0]?.argument).toMatchObject({
      verb: "list",
      namespace: "",
      group: "",
      version: "v1",
      resource: "services",
      limit: 500,
      representation: { as: "table", includeObject: "Metadata", version: "v1" },
    });
  });

  it.each(["GET", "DELETE"])(
    "%s: a store that goes away in the middle of its list, while it is put into another form, is 503",
    async (method) => {
      const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
      const body = () =>
        new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new TextEncoder().encode('{"items":[')),
          pull: () => Promise.reject(new Error("Network connection lost.")),
        });
      const answers: Answers = { fetch: () => new Response(body(), { headers: { "Content-Type": "application/json" } }) };
      const { response } = await ask("/api/v1/namespaces/x/services?pretty=true", { method }, answers);
      expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
      expect(await response.json()).toMatchObject({ kind: "Status", code: 503, reason: "ServiceUnavailable" });
      warned.mockRestore();
    },
  );

  it("a second representation: asked of the store that keeps the first", async () => {
    const { calls } = await ask("/apis/events.k8s.io/v1/events");
    expect(calls[0]).toMatchObject({ object: "RESOURCE_STORE events", argument: { group: "events.k8s.io", resource: "events" } });
  });

  it("watch: asked of the store over a socket; its refusal is the answer", async () => {
    let headers: Headers | undefined;
    const { response, calls } = await ask(
      "/api/v1/services?watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=30&timeout=broken",
      { headers: { "User-Agent": "curl/8" } },
      {
        fetch: (_, request) => {
          headers = request.headers;
          return Response.json({ kind: "Status", apiVersion: "v1", status: "Failure", code: 504, reason: "Timeout" }, { status: 504 });
        },
      },
    );
    expect(calls[0]?.argument).toMatchObject({ verb: "watch", resourceVersion: "5", allowWatchBookmarks: true, timeoutSeconds: 30 });
    expect([headers?.get("Upgrade"), headers?.get(RELAY_HEADER)]).toEqual(["websocket", RELAY_FORM]);
    expect([response.status, await response.json()]).toMatchObject([504, { code: 504, reason: "Timeout" }]);
  });

  it("watch: the stream of a store of the release before, which knows no such sockets, is the answer", async () => {
    const answer = new Response("", { headers: { "Content-Type": "application/json", "Content-Encoding": "identity" } });
    const client = new AbortController();
    let signal: AbortSignal | undefined;
    const fetch: Answers["fetch"] = (_, request) => {
      if (request.headers.has("Upgrade")) return silentSocket({});
      signal = request.signal;
      return answer;
    };
    const { response, calls } = await ask("/api/v1/services?watch=true&resourceVersion=5", { signal: client.signal }, { fetch });
    expect(response).toBe(answer);
    expect(calls.map(({ argument }) => argument)).toMatchObject([{ resourceVersion: "5" }, { resourceVersion: "5" }]);
    client.abort();
    expect(signal?.aborted).toBe(true);
  });

  it("watch: 422 for a malformed resourceVersion; initial events may be Tables", async () => {
    const malformed = await ask("/api/v1/services?watch=true&resourceVersion=x");
    expect(await malformed.response.json()).toMatchObject({
      code: 422,
      message: expect.stringMatching(/^services "" is invalid: resourceVersion: /),
    });
    const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    const table = await ask(`/api/v1/services?${query}`, { headers: { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } });
    expect(table.response.status).toBe(200);
    expect(table.calls[0]?.argument).toMatchObject({ sendInitialEvents: true, representation: { as: "table" } });
  });

  it("the deprecated path: a watch of one object", async () => {
    const { calls } = await ask("/api/v1/watch/namespaces/x/services/a");
    expect(calls[0]?.argument).toMatchObject({ verb: "watch", namespace: "x", fieldSelector: "metadata.name=a" });
  });
});

it("GET /: the paths that are served, once each and in order", async () => {
  const { response } = await ask("/");
  expect(response.headers.get("Content-Type")).toBe("application/json");
  const { paths } = await response.json<{ paths: string[] }>();
  expect(paths).toEqual([...new Set(paths)].sort());
  for (const path of [
    "/api",
    "/api/v1",
    "/apis/networking.k8s.io/v1beta1",
    "/healthz",
    "/openapi/v3/apis/coordination.k8s.io/v1",
    "/version",
  ]) {
    expect(paths).toContain(path);
    expect((await ask(path)).response.status, path).toBe(200);
  }
  expect((await ask("/", { method: "DELETE" })).response.status).toBe(405);
});

it("a watch with negative timeoutSeconds: ends at once, and no object is asked", async () => {
  const { response, calls } = await ask("/api/v1/services?watch=true&timeoutSeconds=-1");
  expect([response.status, await response.text(), calls]).toEqual([200, "", []]);
});

describe("deprecations", () => {
  const ENDPOINTS = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"';
  const BETA = (kind: string) => `299 - "networking.k8s.io/v1beta1 ${kind} is deprecated in v1.34+, unavailable in v1.37+"`;
  const object = { metadata: { name: "a" } };
  it.each<[string, RequestInit, string]>([
    ["/api/v1/endpoints", {}, ENDPOINTS],
    ["/api/v1/endpoints?watch=true", {}, ENDPOINTS],
    ["/api/v1/namespaces/x/endpoints/a", {}, ENDPOINTS],
    ["/api/v1/namespaces/x/endpoints", post(object), ENDPOINTS],
    ["/api/v1/namespaces/x/endpoints/a", { ...post(object), method: "PUT" }, ENDPOINTS],
    [
      "/api/v1/namespaces/x/endpoints/a",
      { method: "PATCH", body: "{}", headers: { "Content-Type": "application/merge-patch+json" } },
      ENDPOINTS,
    ],
    ["/api/v1/namespaces/x/endpoints/a", { method: "DELETE" }, ENDPOINTS],
    ["/api/v1/namespaces/x/endpoints", { method: "DELETE" }, ENDPOINTS],
    ["/apis/networking.k8s.io/v1beta1/servicecidrs", {}, BETA("ServiceCIDR")],
    ["/apis/networking.k8s.io/v1beta1/servicecidrs/a/status", {}, BETA("ServiceCIDR")],
    ["/apis/networking.k8s.io/v1beta1/ipaddresses/10.96.0.1", {}, BETA("IPAddress")],
  ])("%s with %o: a warning", async (path, init, want) => {
    expect((await ask(path, init)).response.headers.get("Warning")).toBe(want);
  });

  it("the newer version, and a path that is not served: no warning", async () => {
    for (const path of ["/apis/networking.k8s.io/v1/servicecidrs", "/apis/networking.k8s.io/v1beta1", "/api/v1/endpoints/a/b/c"]) {
      expect((await ask(path)).response.headers.get("Warning"), path).toBeNull();
    }
  });

  it("a warning of the object itself: comes after that of its version", async () => {
    const { response } = await ask("/api/v1/namespaces/x/endpoints", post({ ...object, foo: 1 }));
    expect(response.headers.get("Warning")).toBe(`${ENDPOINTS}, 299 - "unknown field \\"foo\\""`);
  });
});

describe("eviction", () => {
  const PATH = "/api/v1/namespaces/x/pods/a/eviction";
  const pod = '{"metadata":{"name":"a","uid":"u","resourceVersion":"8"}}';
  const written: Answers = { write: () => ({ ok: true, code: 200, object: pod, warnings: [], gone: false }) };
  const writes = async (path: string, document: unknown) => {
    const { calls, response } = await ask(path, post(document), written);
    expect(response.status).toBe(201);
    return calls.map(({ argument }) => argument as WriteRequest);
  };

  it("a Pod: is marked, then deleted, under the revision that the mark has made", async () => {
    const [mark, remove] = await writes(PATH, { metadata: { name: "a" }, deleteOptions: { preconditions: { resourceVersion: "7" } } });
    expect(mark).toMatchObject({ verb: "act", action: "eviction", key: { namespace: "x", name: "a" }, options: { dryRun: false } });
    expect(remove).toMatchObject({ verb: "delete", options: { preconditions: { resourceVersion: "8" } } });
    const unconditional = await writes(PATH, { metadata: { name: "a" } });
    expect(unconditional[1]).toMatchObject({ verb: "delete", options: { preconditions: {} } });
  });

  it("a dry run: does not mark", async () => {
    for (const path of [`${PATH}?dryRun=All`, PATH]) {
      const deleteOptions = path === PATH ? { dryRun: ["All"] } : {};
      expect((await writes(path, { metadata: { name: "a" }, deleteOptions })).map(({ verb }) => verb)).toEqual(["delete"]);
    }
  });

  it("a Pod that cannot be marked: is not deleted", async () => {
    const missing: Answers = {
      write: () => ({ ok: false, status: notFound({ group: "", resource: "pods", kind: "Pod" }, "a"), warnings: [] }),
    };
    const { response, calls } = await ask(PATH, post({ metadata: { name: "a" } }), missing);
    expect([response.status, calls.length]).toEqual([404, 1]);
  });
});

describe("Audit-ID", () => {
  it.each([
    "/api",
    "/version",
    "/livez",
    "/api/v1/namespaces/x/services",
    "/api/v1/namespaces/x/services?watch=true",
    "/nowhere",
    "/api/v1/nothing",
  ])("the answer to %s: has an id of its own, or the client's", async (path) => {
    const own = await Promise.all([ask(path), ask(path)]);
    const ids = own.map(({ response }) => response.headers.get("Audit-ID"));
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(ids[1]).not.toBe(ids[0]);
    const { response } = await ask(path, { headers: { "Audit-ID": "mine" } });
    expect(response.headers.get("Audit-ID")).toBe("mine");
  });
});

describe("paths", () => {
  it.each([
    ["/apis/unknown.group", 404],
    ["/apis/unknown.group/v1", 404],
    ["/apis/unknown.group/v1/things", 404],
    ["/apix/v1/pods", 404],
  ])("%s: %i in plain text", async (path, code) => {
    const { response } = await ask(path);
    expect(response.status).toBe(code);
    expect(response.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(await response.text()).toBe("404 page not found\n");
  });

  it.each(["/apis/networking.k8s.io/v9", "/apis/networking.k8s.io/v9/ipaddresses", "/api/v2", "/api/v2/pods"])(
    "%s, a version that a served group does not have: a Status",
    async (path) => {
      const { response } = await ask(path);
      expect(response.status).toBe(404);
      const message = "the server could not find the requested resource";
      expect(await response.json()).toMatchObject({ kind: "Status", reason: "NotFound", details: {}, code: 404, message });
    },
  );

  it.each(["/clusters/Bad/api", "/clusters/a%2Fb/api/v1/pods", "/clusters/", "/clusters/blue/clusters"])(
    "%s: 404, no cluster",
    async (path) => {
      const response = await send(`http://h${path}`, {}, fakeEnv().env);
      expect(response.status).toBe(404);
    },
  );

  it.each([
    ["GET", "/api/v1/namespaces/x/services/a%2Fstatus", 400],
    ["PUT", "/api/v1/namespaces/x%2Fservices/services/a", 400],
    ["GET", "/api/v1/namespaces%2Fx%2Fservices", 404],
    ["GET", "/api%2Fv1/pods", 404],
    ["GET", "/api/v1%2Fpods", 404],
    ["GET", "/api/v1/namespaces/x/secrets", 404],
    ["GET", "/api/v1/namespaces/x/services/%zz", 400],
    ["POST", "/api/v1/namespaces/x/services/a", 405],
    ["POST", "/version", 405],
    ["DELETE", "/api/v1", 405],
  ])("%s %s: %i, and no object is asked", async (method, path, code) => {
    const { response, all } = await ask(path, { method });
    expect(response.status).toBe(code);
    expect(all).toEqual([]);
  });

  it.each(["/api/v1/namespaces/x/services", "/apis/authentication.k8s.io/v1/selfsubjectreviews"])(
    "POST %s: a body that stops coming is a 504 after the request's own timeout",
    async (path) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      try {
        let code = 0;
        const init = { method: "POST", headers: JSON_BODY, body: new ReadableStream(), duplex: "half" } as RequestInit;
        void ask(`${path}?timeout=5s`, init).then(({ response }) => (code = response.status));
        await vi.advanceTimersByTimeAsync(4_999);
        expect(code).toBe(0);
        // What still comes of the body is dropped before the answer.
        await vi.advanceTimersByTimeAsync(2 + DRAIN_SILENCE_MS);
        expect(code).toBe(504);
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it("a bootstrap longer than the request's timeout: 504", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const answers: Answers = { other: (method) => (method === "ensureBootstrapped" ? new Promise(() => undefined) : undefined) };
      let code = 0;
      void ask("/api/v1/namespaces/x/services?timeout=5s", post(SERVICE), answers).then(({ response }) => (code = response.status));
      await vi.advanceTimersByTimeAsync(4_999);
      expect(code).toBe(0);
      await vi.advanceTimersByTimeAsync(2);
      expect(code).toBe(504);
    } finally {
      vi.useRealTimers();
      warned.mockRestore();
    }
  });

  it("a body that breaks off: 400, no error in the log", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    logged.mockClear();
    for (const headers of [JSON_BODY, { ...JSON_BODY, "Content-Length": "100" }]) {
      const body = new ReadableStream({ pull: () => Promise.reject(new Error("Network connection lost.")) });
      const { response } = await ask("/api/v1/namespaces/x/services", { method: "POST", headers, body, duplex: "half" } as RequestInit);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ reason: "BadRequest", message: "the body of the request could not be read" });
    }
    expect(logged).not.toHaveBeenCalled();
  });

  it("an unreadable timeout: 400 on every path", async () => {
    for (const path of ["/version", "/api/v1/nodes", "/apis"]) {
      const { response } = await ask(`${path}?timeout=invalid`);
      expect(await response.json()).toMatchObject({
        code: 400,
        message: 'invalid timeout specified in the request URL - time: invalid duration "invalid"',
      });
    }
  });

  it("HEAD: the answer of GET without a body", async () => {
    const { response } = await ask("/api/v1/nodes/a", { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
  });
});

describe("configuration", () => {
  it("an invalid variable: 500 for every request, one log line", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    logged.mockClear();
    const { env, calls } = fakeEnv({}, { SERVICE_CLUSTER_IP_RANGE: "10.96.0.0/99" });
    for (const path of ["/api/v1/services", "/version", "/readyz", "/apis"]) {
      const response = await send(`http://h${path}`, {}, env);
      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({
        reason: "InternalError",
        message: expect.stringContaining("SERVICE_CLUSTER_IP_RANGE"),
      });
    }
    expect(logged).toHaveBeenCalledTimes(1);
    expect(String(logged.mock.calls[0]?.[0])).toContain("SERVICE_CLUSTER_IP_RANGE");
    expect(calls).toEqual([]);
  });
});

describe("overload", () => {
  const LIMITS = { MAX_REQUESTS_INFLIGHT: "2", MAX_MUTATING_REQUESTS_INFLIGHT: "2", REQUEST_QUEUE_SECONDS: "0" };

  /** An environment whose objects answer when they are let. */
  function holding() {
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const answered: WriteResult = { ok: true, code: 200, object: '{"metadata":{"name":"a"}}', warnings: [], gone: false };
    const list = (): Response => new Response('{"items":[]}', { headers: { "Content-Type": "application/json" } });
    const { env, calls } = fakeEnv(
      {
        write: () => held.then(() => answered),
        get: () => held.then(() => ({ ok: true, object: answered.object })),
        fetch: () => held.then(list),
      },
      LIMITS,
    );
    return { env, calls, letGo };
  }

  const kinds: [kind: string, begun: RequestInit, refused: [string, RequestInit][], taken: [string, RequestInit][]][] = [
    [
      "writes",
      post(SERVICE),
      [
        ["/api/v1/namespaces/x/services", post(SERVICE)],
        ["/api/v1/namespaces/x/services/a", { method: "DELETE" }],
        ["/api/v1/namespaces/x/pods", { method: "DELETE" }],
        ["/api/v1/namespaces/x/pods/a/eviction", post({ metadata: { name: "a" } })],
        ["/apis/authentication.k8s.io/v1/selfsubjectreviews", post({})],
      ],
      [["/api/v1/namespaces/x/services/a", {}]],
    ],
    [
      "reads",
      {},
      [
        ["/api/v1/namespaces/x/services/a", {}],
        ["/api/v1/services", {}],
        ["/api/v1/nodes", { method: "HEAD" }],
      ],
      [["/api/v1/namespaces/x/services", post(SERVICE)]],
    ],
  ];
  it("a body of unknown length that outgrows the limit: 429, and its place is free again", async () => {
    const { env, calls, letGo } = holding();
    const service = (init: RequestInit) => send("http://h/api/v1/namespaces/x/services", init, env);
    const underWay = service(post(SERVICE));
    await vi.waitFor(() => expect(calls.filter((call) => !isBootstrap(call))).toHaveLength(1), PATIENCE);
    for (let i = 0; i < 3; i++) {
      const body = new Blob([new Uint8Array(100_000)]).stream();
      const response = await service({ method: "POST", headers: JSON_BODY, body, duplex: "half" } as RequestInit);
      expect([response.status, response.headers.get("Retry-After")]).toEqual([429, "1"]);
    }
    letGo();
    expect((await Promise.all([underWay, service(post(SERVICE))])).map(({ status }) => status)).toEqual([200, 200]);
  });

  it.each(kinds)("%s beyond the limit: 429 as upstream, before any object is called", async (kind, begun, refused, taken) => {
    const { env, calls, letGo } = holding();
    const asked = (path: string, init: RequestInit) => send(`http://h${path}`, init, env);
    const underWay = [1, 2].map(() => asked("/api/v1/namespaces/x/services" + (kind === "reads" ? "/a" : ""), begun));
    await vi.waitFor(() => expect(calls.filter((call) => !isBootstrap(call))).toHaveLength(2), PATIENCE);
    const before = calls.length;
    for (const [path, init] of refused) {
      const response = await asked(path, init);
      expect([response.status, response.headers.get("Retry-After")]).toEqual([429, "1"]);
      if (init.method === "HEAD") continue;
      expect(await response.json()).toEqual({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Too many requests, please try again later.",
        reason: "TooManyRequests",
        details: { retryAfterSeconds: 1 },
        code: 429,
      });
    }
    expect(calls).toHaveLength(before);
    // What is exempt, or counted apart.
    const others = [...taken, ["/api/v1/pods?watch=true", {}] as const].map(([path, init]) => asked(path, init));
    for (const path of ["/healthz", "/livez", "/version", "/api/v1", "/openapi/v3"]) expect((await asked(path, {})).status).toBe(200);
    letGo();
    for (const response of await Promise.all([...underWay, ...others])) expect(response.status).toBeLessThan(300);
    for (const [path, init] of refused.slice(0, 1)) expect((await asked(path, init)).status).toBeLessThan(300);
  });

  const placesOfWrites = (): unknown =>
    inFlightFamilies()
      .find(({ name }) => name === "apiserver_current_inflight_requests")
      ?.samples.find(({ labels }) => labels["request_kind"] === "mutating")?.value;

  it("a large body: counts by its size", async () => {
    const { env, letGo } = holding();
    const large = { metadata: { name: "a", annotations: { a: "x".repeat(200_000) } }, spec: { ports: [{ port: 80 }] } };
    const init = post(large, { ...JSON_BODY, "Content-Length": String(JSON.stringify(large).length) });
    const underWay = send("http://h/api/v1/namespaces/x/services", init, env);
    // It takes its places as it is read.
    await expect.poll(placesOfWrites).toBe(weightOfBody(JSON.stringify(large).length));
    const response = await send("http://h/api/v1/namespaces/x/services/a", { method: "DELETE" }, env);
    expect(response.status).toBe(429);
    letGo();
    expect((await underWay).status).toBe(200);
  });

  it("a request that fails: its place is free again", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { env } = fakeEnv({ write: () => Promise.reject(new Error("broken")) }, LIMITS);
    for (let i = 0; i < 5; i++) expect((await send("http://h/api/v1/namespaces/x/services", post(SERVICE), env)).status).toBe(500);
  });
});
