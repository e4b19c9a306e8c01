import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import type { Beside } from "../../../../src/core/turns/batched";
import { invalid, notFound } from "../../../../src/api/meta/status";
import { clustersDefinition } from "../../../../src/api/registry/clusters/definition";
import { CLUSTER_GONE, type ClusterState } from "../../../../src/tenancy/rpc";
import { PEER_TIMEOUT_MS } from "../../../../src/worker/http/limits";
import { activeIdOf, lookAt, openCluster, removeCluster, setControllers } from "../../../../src/worker/routing/known-clusters";
import { send as sendTo } from "../client";
import { type Answers, type FakeEnv, fakeEnv } from "../fake-env";

const OTHERS = [
  "node-lifecycle-controller",
  "pod-garbage-collector-controller",
  "resourcequota-controller",
  "service-cidr-controller",
  "taint-eviction-controller",
];
const ENDPOINTS = ["endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller"];

const SERVICE = JSON.stringify({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a";
const APPLIED = '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}';
const DELETING: ClusterState = { phase: "deleting", id: "x", createdAt: 1_000, deletedAt: 2_000, objects: 16, wiped: 3 };
const ABSENT: ClusterState = { phase: "absent" };

/** As on a deployment: only PUT makes a cluster. */
const OFF: Partial<Env> = { IMPLICIT_CLUSTERS: "false" };

let clusters = 0;

/** A cluster of a name that no test before has made this isolate know. */
function aCluster(state?: ClusterState, answers: Answers = {}, vars: Partial<Env> = {}) {
  const name = `cluster-${++clusters}`;
  const fake = fakeEnv(answers, vars);
  if (state) fake.records.states.set(name, state);
  const send = async (method: string, path: string, body?: string, type = "application/json") => {
    const headers = { "Content-Type": type };
    const init = body === undefined ? { method } : { method, body, headers };
    const response = await sendTo(`http://h/clusters/${name}${path}`, init, fake.env);
    const text = await response.text();
    return { code: response.status, text, body: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {} };
  };
  return { name, fake, send };
}

function objects({ calls }: FakeEnv): string[] {
  return [...new Set(calls.map(({ object }) => object))];
}

describe("a cluster that there is not", () => {
  it.each([
    ["GET", "/api/v1/namespaces/default/services"],
    ["GET", "/api/v1/namespaces/default/services?resourceVersion=0"],
    ["GET", "/api/v1/namespaces/default/services/web"],
    ["GET", "/api/v1/services?watch=1"],
    ["DELETE", "/api/v1/namespaces/default/services/web"],
    ["DELETE", "/api/v1/namespaces/default/services"],
    ["GET", "/apis/apps/v1/namespaces/default/deployments"],
    ["GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"],
    ["GET", "/metrics"],
    ["GET", "/ranges"],
    ["GET", "/readyz"],
    ["GET", "/admin/rangeallocations/serviceips"],
    ["GET", ""],
    ["DELETE", ""],
  ])("%s %s: 404, and nothing is made", async (method, path) => {
    const { name, fake, send } = aCluster(ABSENT);
    const { code, body } = await send(method, path);
    expect([code, body["message"]]).toEqual([404, `clusters "${name}" not found`]);
    expect(objects(fake)).toEqual([]);
    expect(fake.records.calls.filter((call) => call.startsWith("open"))).toEqual([]);
  });

  it.each([
    ["POST", "/api/v1/namespaces/default/services", SERVICE],
    ["PUT", LEASE, '{"metadata":{"name":"a"}}'],
    ["PATCH", "/api/v1/namespaces/default/services/web?fieldManager=me", APPLIED, "application/apply-patch+yaml"],
  ])("%s %s: may make an object, so it begins the cluster, once", async (method, path, text, type?: string) => {
    const { name, fake, send } = aCluster(ABSENT);
    expect((await send(method, path, text, type)).code).toBeLessThan(300);
    expect((await send(method, path, text, type)).code).toBeLessThan(300);
    expect(fake.records.calls).toEqual([`open ${name}`]);
  });

  it.each([
    ["PUT", "/api/v1/namespaces/default/pods/web", '{"metadata":{"name":"web"}}'],
    ["PUT", "/api/v1/namespaces/default/services/web/status", SERVICE],
    ["PATCH", "/api/v1/namespaces/default/services/web", "{}", "application/merge-patch+json"],
    ["PATCH", "/api/v1/namespaces/default/services/web", "{}", "application/strategic-merge-patch+json"],
    ["PATCH", "/api/v1/namespaces/default/services/web", "[]", "application/json-patch+json"],
    ["PATCH", "/api/v1/namespaces/default/services/web/status?fieldManager=me", APPLIED, "application/apply-patch+yaml"],
    ["PATCH", "/api/v1/namespaces/default/services/web", "{}", "text/plain"],
  ])("%s %s of what cannot be there: 404, and no cluster begins", async (method, path, text, type?: string) => {
    const { name, fake, send } = aCluster(ABSENT);
    const { code, body } = await send(method, path, text, type);
    expect([code, body["message"]]).toEqual([404, `clusters "${name}" not found`]);
    expect(objects(fake)).toEqual([]);
    expect(fake.records.calls.filter((call) => call.startsWith("open"))).toEqual([]);
  });

  it.each([
    ["POST", "/api/v1/namespaces/default/services", SERVICE],
    ["PUT", LEASE, '{"metadata":{"name":"a"}}'],
    ["PATCH", "/api/v1/namespaces/default/services/web?fieldManager=me", APPLIED, "application/apply-patch+yaml"],
  ])("%s %s, unless IMPLICIT_CLUSTERS: 404 that says how to make it, and nothing is made", async (method, path, text, type?: string) => {
    const { name, fake, send } = aCluster(ABSENT, {}, OFF);
    const { code, body } = await send(method, path, text, type);
    const how = `clusters "${name}" not found: no write makes a cluster; PUT /clusters/${name} does`;
    expect([code, body["message"], body["reason"]]).toEqual([404, how, "NotFound"]);
    expect([objects(fake), fake.records.calls.filter((call) => call.startsWith("open"))]).toEqual([[], []]);
    expect((await send("PUT", "")).code).toBe(201);
    expect((await send(method, path, text, type)).code).toBeLessThan(300);
  });

  it.each([{}, OFF])("one that is being deleted, with %j: its maker's writes are 409, other requests 404", async (vars) => {
    const { send } = aCluster(DELETING, {}, vars);
    const post = await send("POST", "/api/v1/namespaces/default/services", SERVICE);
    expect([post.code, post.body["message"]]).toEqual([409, expect.stringContaining("the cluster is being deleted")]);
    expect((await send("GET", "/api/v1/namespaces/default/services")).code).toBe(404);
  });

  it("a dry run: begins no cluster", async () => {
    const { fake, send } = aCluster(ABSENT);
    expect((await send("POST", "/api/v1/namespaces/default/services?dryRun=All", SERVICE)).code).toBe(404);
    expect(objects(fake)).toEqual([]);
  });

  it.each(["/api", "/apis", "/version", "/healthz", "/livez", "/openapi/v3", "/api/v1"])(
    "%s: a path of the server, answered without the cluster",
    async (path) => {
      const { fake, send } = aCluster(ABSENT);
      expect((await send("GET", path)).code).toBe(200);
      expect(fake.records.calls).toEqual([]);
    },
  );

  it("the cluster default: exists without a record", async () => {
    const fake = fakeEnv();
    expect((await sendTo("http://h/api/v1/services", {}, fake.env)).status).toBe(200);
    expect(fake.records.calls).toEqual([]);
    fake.records.states.set("default", ABSENT);
    expect((await sendTo("http://h/clusters/default", {}, fake.env)).status).toBe(200);
    expect(fake.records.calls).toEqual(["look default"]);
  });
});

describe("a cluster that is being deleted", () => {
  it("reads: 404; writes: 409", async () => {
    const { name, fake, send } = aCluster(DELETING);
    expect((await send("GET", "/api/v1/services")).code).toBe(404);
    const { code, body } = await send("POST", "/api/v1/namespaces/default/services", SERVICE);
    expect([code, body["reason"], body["message"]]).toEqual([
      409,
      "Conflict",
      `Operation cannot be fulfilled on clusters "${name}": the cluster is being deleted`,
    ]);
    expect(objects(fake)).toEqual([]);
  });

  it("PUT before the end of the deletion: 409, nothing is made", async () => {
    expect((await aCluster(DELETING).send("PUT", "")).code).toBe(409);
  });
});

describe("what this isolate remembers of a cluster", () => {
  it("a cluster whose objects refuse every call: looked up again, 404", async () => {
    let isGone = false;
    const answers: Answers = {
      get: () => {
        if (isGone) throw new Error(CLUSTER_GONE);
        return { ok: true, object: "{}" };
      },
    };
    const { name, fake, send } = aCluster(undefined, answers);
    const path = "/api/v1/namespaces/default/services/web";
    expect((await send("GET", path)).code).toBe(200);
    isGone = true;
    fake.records.states.set(name, ABSENT);
    const { code, body } = await send("GET", path);
    expect([code, body["message"]]).toEqual([404, `clusters "${name}" not found`]);
    expect(fake.records.calls).toEqual([`look ${name}`, `look ${name}`]);
  });

  it("a write to the former cluster of a name: 503, and the repetition reaches the new cluster", async () => {
    const answers: Answers = {
      write: (_request, object) => {
        if (!object.includes("~2")) throw new Error(CLUSTER_GONE);
        return { ok: true, code: 201, object: SERVICE, warnings: [], gone: false };
      },
    };
    const { name, fake, send } = aCluster(undefined, answers);
    await send("GET", "/api/v1/services");
    fake.records.states.set(name, { phase: "active", id: `${name}~2`, createdAt: 0, controllers: null });
    const post = () => send("POST", "/api/v1/namespaces/default/services", SERVICE);
    expect((await post()).code).toBe(503);
    expect((await post()).code).toBe(201);
  });

  it.each([
    { what: "is still being deleted", state: DELETING, path: "", code: 409, message: /the cluster is being deleted/ },
    { what: "was made anew", state: ABSENT, path: "", code: 503, message: /made anew, try again/ },
    { what: "was deleted, as a dry run", state: ABSENT, path: "?dryRun=All", code: 404, message: /not found/ },
  ])("a write to a cluster that $what: answered as by an isolate that never saw the cluster", async ({ state, path, code, message }) => {
    let isGone = false;
    const answers: Answers = {
      write: (_request, object) => {
        if (isGone && !object.includes("~2")) throw new Error(CLUSTER_GONE);
        return { ok: true, code: 201, object: SERVICE, warnings: [], gone: false };
      },
    };
    const { name, fake, send } = aCluster(undefined, answers);
    const post = () => send("POST", `/api/v1/namespaces/default/services${path}`, SERVICE);
    expect((await post()).code).toBe(201);
    isGone = true;
    fake.records.states.set(name, state);
    const refused = await post();
    expect([refused.code, refused.body["message"]]).toEqual([code, expect.stringMatching(message)]);
    if (code === 503) expect(fake.records.calls.at(-1)).toBe(`open ${name}`);
  });

  it("a report of settings to a deleted cluster: no error", async () => {
    const unheard = vi.fn();
    process.on("unhandledRejection", unheard);
    const { send } = aCluster(undefined, {
      other: (method) => (method === "pokeFrom" ? Promise.reject(new Error(CLUSTER_GONE)) : undefined),
    });
    expect((await send("PUT", "")).code).toBe(200);
    // Node reports an unhandled rejection after the microtasks of the turn.
    await new Promise(setImmediate);
    process.off("unhandledRejection", unheard);
    expect(unheard).not.toHaveBeenCalled();
  });
});

describe("a cluster that a request begins", () => {
  const PARIS = { colo: "CDG", continent: "EU", country: "FR", longitude: "2.35" };
  const from = (url: string, init: RequestInit, env: Env, cf?: object) =>
    sendTo(new Request(url, { ...init, ...(cf ? { cf } : {}) } as RequestInit), undefined, env);

  it.each([
    ["a PUT of the cluster", "PUT", "", undefined, PARIS, "weur"],
    ["a write", "POST", "/api/v1/namespaces/default/services", SERVICE, PARIS, "weur"],
    ["a write from nowhere, as on a server of one machine", "POST", "/api/v1/namespaces/default/services", SERVICE, undefined, undefined],
    ["a PUT from a place that nobody knows", "PUT", "", undefined, { continent: "XX" }, undefined],
    ["a PUT that names another place", "PUT", "", '{"location":"oc"}', PARIS, "oc"],
  ] as const)("%s: near its sender", async (_, method, path, body, cf, location) => {
    const { name, fake } = aCluster(ABSENT);
    const init = { method, ...(body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } }) };
    expect((await from(`http://h/clusters/${name}${path}`, init, fake.env, cf)).status).toBe(201);
    expect(fake.records.calls).toEqual([`open ${name}${location === undefined ? "" : ` ${location}`}`]);
    expect(objects(fake).every((object) => object.includes(location === undefined ? ` ${name}/` : ` ${name}~`))).toBe(true);
  });

  it("a write into one that is there, from anywhere: goes where it is", async () => {
    const { name, fake } = aCluster();
    const init = { method: "POST", body: SERVICE, headers: { "Content-Type": "application/json" } };
    expect((await from(`http://h/clusters/${name}/api/v1/namespaces/default/services`, init, fake.env, PARIS)).status).toBe(201);
    expect(objects(fake).every((object) => object.includes(` ${name}/`))).toBe(true);
  });

  it("default, taken as made, with controllers of its own: its record names no place", async () => {
    const { env, records } = fakeEnv();
    const init = { method: "PUT", body: '{"controllers":null}', headers: { "Content-Type": "application/json" } };
    expect((await from("http://h/clusters/default", init, env, PARIS)).status).toBe(200);
    expect(records.calls).toContain("open default");
  });
});

describe("/clusters/{name}", () => {
  it("PUT: makes a cluster and its first objects (201); a second PUT is 200", async () => {
    const { name, fake, send } = aCluster(ABSENT);
    const first = await send("PUT", "");
    expect([first.code, first.body]).toEqual([
      201,
      {
        kind: "Cluster",
        apiVersion: "servicenet.dev/v1alpha1",
        metadata: { name, creationTimestamp: "1970-01-01T00:00:00Z" },
        location: null,
        serviceCIDRs: null,
        controllers: null,
        running: [...ENDPOINTS, "garbage-collector-controller", "namespace-controller", ...OTHERS],
        status: { phase: "Active", url: `http://h/clusters/${name}` },
      },
    ]);
    expect(fake.calls).toContainEqual({ object: `SERVICES_STORE ${name}/services`, method: "ensureBootstrapped" });
    expect((await send("PUT", "")).code).toBe(200);
    expect((await send("GET", "")).body).toEqual(first.body);
  });

  it("PUT with controllers: those run there; the document of GET sent back changes nothing; null: those of the variable again", async () => {
    const { name, fake, send } = aCluster(ABSENT);
    const first = await send("PUT", "", JSON.stringify({ controllers: ["*", "-namespace"] }));
    const running = [...ENDPOINTS, "garbage-collector-controller", ...OTHERS];
    expect([first.code, first.body]).toMatchObject([201, { controllers: ["*", "-namespace-controller"], running }]);
    const set = fake.records.calls.indexOf(`setControllers ${name} *,-namespace-controller`);
    expect(set).toBeGreaterThan(fake.records.calls.indexOf(`open ${name}`));
    expect(fake.records.calls.filter((made) => made === `open ${name}`)).toHaveLength(1);
    expect((await send("GET", "")).body).toEqual(first.body);
    expect(await send("PUT", "", first.text)).toMatchObject({ code: 200, body: first.body });
    expect((await send("PUT", "")).body).toEqual(first.body);
    const text = await send("PUT", "", JSON.stringify({ controllers: "*,-garbagecollector" }));
    expect(text.body).toMatchObject({ controllers: ["*", "-garbage-collector-controller"] });
    const back = await send("PUT", "", JSON.stringify({ controllers: null }));
    expect(back.body).toMatchObject({ controllers: null, running: expect.arrayContaining(["namespace-controller"]) as unknown });
  });

  it.each([
    [{ controllers: ["*", "-nobody"] }, 422, /controllers: Invalid value: .*: "nobody" is not in the list of known controllers$/],
    [{ controllers: "*,-service-cidr-controller" }, 422, /service-cidr-controller has no switch/],
    [{ controllers: [] }, 422, /service-cidr-controller has no switch/],
    [{ controllers: [1] }, 400, /controllers must be a list of names/],
    [{ controllers: { all: true } }, 400, /controllers must be a list of names/],
    [{ controler: [] }, 400, /^strict decoding error: unknown field "controler"$/],
    [[], 400, /no JSON object/],
    [
      { location: "mars" },
      422,
      /: location: Unsupported value: "mars": supported values: "afr", "apac", "apac-ne", "apac-se", "eeur", "enam", "me", "oc", "sam", "weur", "wnam"$/,
    ],
    [{ location: "" }, 422, /: location: Unsupported value: "": supported values: "afr",/],
    [{ location: "WEUR", controllers: [] }, 422, /\[controllers: Invalid value: .* has no switch.*, location: Unsupported value: "WEUR": /],
    [{ location: 4 }, 400, /^location must be a text, as "weur", or null$/],
    [{ location: ["weur"] }, 400, /^location must be a text/],
  ])("PUT of %j: %i, and no cluster begins", async (body, code, message) => {
    const { fake, send } = aCluster(ABSENT);
    const refused = await send("PUT", "", JSON.stringify(body));
    expect([refused.code, refused.body["message"]]).toEqual([code, expect.stringMatching(message)]);
    expect(fake.records.calls).toEqual([]);
  });

  it("PUT with a location: the cluster is there, its record too; the same one again changes nothing, another one is refused", async () => {
    const { name, fake, send } = aCluster(ABSENT);
    const put = (location: unknown) => send("PUT", "", JSON.stringify({ location }));
    const first = await put("weur");
    const id = `${name}~4000000001`;
    expect([first.code, first.body]).toMatchObject([201, { metadata: { name }, location: "weur", status: { phase: "Active" } }]);
    expect(fake.records.calls).toEqual([`open ${name} weur`]);
    expect([...objects(fake)].filter((object) => !object.includes(` ${id}/`))).toEqual([]);
    expect((await send("GET", "")).body).toEqual(first.body);
    for (const again of ["weur", null, undefined]) expect(await put(again)).toMatchObject({ code: 200, body: first.body });
    expect(await send("PUT", "", first.text)).toMatchObject({ code: 200, body: first.body });
    const moved = await put("oc");
    expect([moved.code, moved.body]).toMatchObject([
      422,
      {
        reason: "Invalid",
        message: `Cluster "${name}" is invalid: location: Invalid value: "oc": field is immutable`,
        details: { causes: [{ reason: "FieldValueInvalid", field: "location" }] },
      },
    ]);
    expect((await send("GET", "")).body).toEqual(first.body);
  });

  it("PUT with a location of a cluster that is elsewhere, or begun without one: 422, and its controllers stay", async () => {
    for (const state of [undefined, { phase: "active", id: "x~7000000001", createdAt: 0, controllers: null } satisfies ClusterState]) {
      const { fake, send } = aCluster(state);
      const { code, body } = await send("PUT", "", JSON.stringify({ location: "weur", controllers: ["*", "-namespace"] }));
      expect([code, body["message"]]).toEqual([422, expect.stringMatching(/location: Invalid value: "weur": field is immutable$/)]);
      expect(fake.records.calls.filter((call) => call.startsWith("set"))).toEqual([]);
    }
  });

  it("PUT of default with a location: where nobody makes it, it has none", async () => {
    const { env, records } = fakeEnv();
    const headers = { "Content-Type": "application/json" };
    const put = (body: object) => sendTo("http://h/clusters/default", { method: "PUT", body: JSON.stringify(body), headers }, env);
    expect((await put({ location: "weur" })).status).toBe(422);
    expect((await put({ location: null })).status).toBe(200);
    expect(records.calls).not.toContainEqual(expect.stringContaining("open"));
  });

  describe("without an object", () => {
    /** The store of Clusters has no object until one is made; `made` tells of that. */
    function undeclared(state: ClusterState | undefined, made: (name: string, records: FakeEnv["records"]) => void = () => undefined) {
      const objects: { spec?: object }[] = [];
      const world = aCluster(state, {
        get({ name: asked }) {
          const [object] = objects;
          if (asked !== world.name || object) return { ok: true, object: JSON.stringify(object ?? {}) };
          return { ok: false, status: notFound(clustersDefinition, asked) };
        },
        write(request, object) {
          const text = "object" in request ? request.object : "{}";
          if (request.verb === "create" && object.includes("/clusters")) {
            objects.push(JSON.parse(text) as { spec?: object });
            made(world.name, world.fake.records);
          }
          return { ok: true, code: 201, object: text, warnings: [], gone: false };
        },
      });
      return { ...world, objects };
    }

    it.each([
      ["elsewhere", "x~7000000001", '{"location":"weur","controllers":["*"]}', 422, { location: "oc" }],
      ["where nobody chose, with a list", "x", '{"controllers":["*"]}', 200, {}],
      ["where its record is", "x~4000000001", "", 200, { location: "weur" }],
    ] as const)(
      "PUT of a cluster that is there, %s: the object says where that is, and leaves its list to it",
      async (_, id, body, code, spec) => {
        const { objects, send } = undeclared({ phase: "active", id, createdAt: 0, controllers: null });
        expect((await send("PUT", "", body)).code).toBe(code);
        expect(objects).toMatchObject([{ spec }]);
        expect(objects[0]?.spec).toEqual(spec);
      },
    );

    it("PUT of a cluster that is being deleted: 409, and no object begins another one", async () => {
      const { objects, send } = undeclared(DELETING);
      expect([(await send("PUT", "")).code, objects]).toEqual([409, []]);
    });

    it("PUT of a new cluster, which the controller begins first: 201", async () => {
      const { fake, name, send } = undeclared(ABSENT, (made, { states }) => states.delete(made));
      expect((await send("PUT", "")).code).toBe(201);
      expect(fake.records.calls).toEqual([`look ${name}`, `open ${name}`]);
    });

    it("PUT of a cluster that is there: 200, with its object made or not", async () => {
      const { objects, send } = undeclared(undefined);
      expect([(await send("PUT", "")).code, (await send("PUT", "")).code, objects.length]).toEqual([200, 200, 1]);
    });
  });

  it("PUT of a text that is no JSON: 400", async () => {
    expect((await aCluster().send("PUT", "", "{")).body).toMatchObject({ code: 400, message: "the body is no JSON" });
  });

  it("PUT with controllers of which not every object has heard: 503 with Retry-After, to be sent again", async () => {
    const { fake, send } = aCluster();
    fake.records.isTold = false;
    const refused = await send("PUT", "", JSON.stringify({ controllers: ["*"] }));
    expect([refused.code, refused.body["details"]]).toMatchObject([503, { retryAfterSeconds: 1 }]);
  });

  it("PUT with controllers that comes late: 409 where others have said something else, and 200 where they have said the same", async () => {
    const state: ClusterState = { phase: "active", id: "x", createdAt: 0, controllers: ["*", "-namespace-controller"] };
    const late = { look: () => Promise.resolve(state), open: () => Promise.resolve({ state, opened: false }) };
    const setControllers = () => Promise.resolve({ state, isTold: true, isLate: true });
    const { env } = fakeEnv(
      {},
      {
        CLUSTER_RECORD: {
          idFromName: (name: string) => name,
          get: () => ({ ...late, setControllers }),
        } as unknown as Env["CLUSTER_RECORD"],
      },
    );
    const name = `cluster-${++clusters}`;
    const headers = { "Content-Type": "application/json" };
    const put = (controllers: readonly string[]) =>
      sendTo(`http://h/clusters/${name}`, { method: "PUT", body: JSON.stringify({ controllers }), headers }, env);
    const refused = await put(["*"]);
    const message = `Operation cannot be fulfilled on clusters "${name}": the object has been modified; please apply your changes to the latest version and try again`;
    expect([refused.status, await refused.json()]).toMatchObject([409, { reason: "Conflict", message }]);
    expect((await put(["*", "-namespace-controller"])).status).toBe(200);
  });

  it("PUT with controllers of default: they run there, and it stays the cluster that was always there", async () => {
    const { env } = fakeEnv();
    const headers = { "Content-Type": "application/json" };
    const put = (body?: object) =>
      sendTo("http://h/clusters/default", { method: "PUT", ...(body ? { body: JSON.stringify(body), headers } : {}) }, env);
    const set = await put({ controllers: ["*", "-namespace-controller"] });
    const document = await set.json();
    expect([set.status, document]).toMatchObject([200, { metadata: { name: "default" }, controllers: ["*", "-namespace-controller"] }]);
    expect(document).not.toHaveProperty("metadata.creationTimestamp");
    expect(await (await put()).json()).toEqual(document);
    expect(await (await sendTo("http://h/clusters/default", {}, env)).json()).toEqual(document);
  });

  it("DELETE: begins the deletion, then shows its progress, then 404", async () => {
    const { name, fake, send } = aCluster();
    const begun = await send("DELETE", "");
    expect([begun.code, begun.body]).toEqual([
      202,
      {
        kind: "Cluster",
        apiVersion: "servicenet.dev/v1alpha1",
        metadata: { name, creationTimestamp: "1970-01-01T00:00:00Z", deletionTimestamp: "1970-01-01T00:00:01Z" },
        location: null,
        status: { phase: "Terminating", objects: 9, wiped: 0, url: `http://h/clusters/${name}` },
      },
    ]);
    fake.records.states.set(name, DELETING);
    expect((await send("GET", "")).body["status"]).toMatchObject({ phase: "Terminating", objects: 16, wiped: 3 });
    expect((await send("DELETE", "")).code).toBe(202);
    fake.records.states.set(name, ABSENT);
    expect((await send("GET", "")).code).toBe(404);
    expect((await send("DELETE", "")).code).toBe(404);
  });

  it("DELETE: a call to the record that comes again when the name has a later cluster leaves that one, and the answer is 404", async () => {
    const { name, fake, send } = aCluster();
    const later: ClusterState = { phase: "active", id: `${name}~2`, createdAt: 0, controllers: null };
    fake.records.removing = () => fake.records.states.set(name, later);
    expect((await send("DELETE", "")).code).toBe(404);
    expect(fake.records.states.get(name)).toEqual(later);
  });

  it("DELETE of an object whose cluster has not begun: the object goes, and the answer is 404", async () => {
    const { name, fake, send } = aCluster(ABSENT);
    expect((await send("DELETE", "")).code).toBe(404);
    const deletions = fake.declared.filter(({ argument }) => (argument as { verb?: string }).verb === "delete");
    expect(deletions).toMatchObject([{ argument: { key: { name } } }]);
  });

  describe("whose name has a later object", () => {
    /** An object of this uid and life per read of the store of Clusters, the last one for ever. The fake refuses what names another uid. */
    function replaced(lives: readonly (readonly [uid: string, life?: string])[]) {
      let read = 0;
      let now = lives[0]?.[0];
      const world = aCluster(undefined, {
        get({ name }) {
          const [uid, id] = lives[Math.min(read++, lives.length - 1)] ?? [];
          now = uid;
          return {
            ok: true,
            object: JSON.stringify({ metadata: { name, uid, generation: 1 }, ...(id !== undefined && { status: { id } }) }),
          };
        },
        write(request) {
          const said = request.verb === "patch" ? (JSON.parse(request.patch) as { metadata?: { uid?: string } }).metadata?.uid : now;
          if (said !== now) return { ok: false, status: invalid(clustersDefinition, "a", []), warnings: [] };
          return { ok: true, code: 200, object: JSON.stringify({ metadata: { uid: now, generation: 2 } }), warnings: [], gone: false };
        },
      });
      const writes = () => world.fake.declared.flatMap(({ argument }) => (argument as { verb?: string }).verb ?? []);
      return { ...world, writes };
    }

    it("PUT with controllers, another object and another life since the beginning: 503, and neither of them changes", async () => {
      const { name, fake, send } = replaced([["u2"]]);
      const { env } = fake;
      expect(await setControllers(env, name, { life: name, uid: "u1" }, ["*"])).toMatchObject({ ok: false, error: { code: 503 } });
      expect(fake.records.calls.filter((call) => call.startsWith("set"))).toEqual([]);
      expect((await send("PUT", "", '{"controllers":["*"]}')).code).toBe(200);
    });

    it("a list for a life whose object nobody knows, while the object stands for another one: 503, and no patch", async () => {
      const { name, fake, writes } = replaced([["u2", "later~2"]]);
      expect(await setControllers(fake.env, name, { life: name }, ["*"])).toMatchObject({ ok: false, error: { code: 503 } });
      expect([writes(), fake.records.calls]).toEqual([[], []]);
    });

    it("DELETE, which the next life overtakes behind its look: 404, and the object of that life stays", async () => {
      const { name, fake, send, writes } = replaced([["u2", `cluster-${clusters + 1}~2`]]);
      const later: ClusterState = { phase: "active", id: `${name}~2`, createdAt: 0, controllers: null };
      fake.records.lookedAt = () => fake.records.states.set(name, later);
      expect((await send("DELETE", "")).code).toBe(404);
      expect([writes(), fake.records.states.get(name)]).toEqual([[], later]);
    });

    it("DELETE, while the object has no status yet, or says an older life: both go", async () => {
      for (const life of [undefined, "older"]) {
        const { fake, name, send, writes } = replaced([["u1", life]]);
        expect((await send("DELETE", "")).code).toBe(202);
        expect([writes(), fake.records.calls]).toEqual([["delete"], [`look ${name}`, `look ${name}`, `remove ${name}`]]);
      }
    });

    it("DELETE of an object that says the life: one look is enough", async () => {
      const { fake, name, send, writes } = replaced([["u1", `cluster-${clusters + 1}`]]);
      expect((await send("DELETE", "")).code).toBe(202);
      expect([writes(), fake.records.calls]).toEqual([["delete"], [`look ${name}`, `remove ${name}`]]);
    });
  });

  it("DELETE of default: refused", async () => {
    const response = await sendTo("http://h/clusters/default", { method: "DELETE" }, fakeEnv().env);
    expect(await response.json()).toMatchObject({ code: 403, message: 'clusters "default" is forbidden: this cluster may not be deleted' });
  });

  it.each(["Blue", "a_b", "-a", "a%2Fb", "%zz", "a~2", "a.b", `${"a".repeat(64)}`, "%F0%9F%92%A3", "a%00"])(
    "name %s: refused",
    async (name) => {
      const { env, records } = fakeEnv();
      const codes: number[] = [];
      for (const method of ["PUT", "GET", "DELETE"]) codes.push((await sendTo(`http://h/clusters/${name}`, { method }, env)).status);
      expect(codes).toEqual([422, 404, 404]);
      expect((await sendTo(`http://h/clusters/${name}/api/v1/services`, {}, env)).status).toBe(404);
      expect(records.calls).toEqual([]);
    },
  );

  it("a path inside another cluster: 404, so that no cluster reaches another", async () => {
    const { fake, send } = aCluster();
    expect((await send("DELETE", "/clusters/other")).code).toBe(404);
    expect(fake.records.calls).toEqual([]);
  });

  it("other methods: 405", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    expect((await aCluster().send("POST", "", "{}")).code).toBe(405);
  });
});

describe("a cluster whose life the list of clusters tells", () => {
  const told = (id: string, answers: Answers = {}) => {
    const name = `cluster-${++clusters}`;
    const areMade = (names: string[], tellsLives: boolean) => Promise.resolve(names.map(() => (tellsLives ? `${name}${id}` : true)));
    const names = { idFromName: (of: string) => of, get: () => ({ areMade }) } as unknown as Env["CLUSTER_NAMES"];
    const fake = fakeEnv(answers, { CLUSTER_NAMES: names });
    const get = () => sendTo(`http://h/clusters/${name}/api/v1/namespaces/default/services/a`, {}, fake.env);
    return { name, fake, get };
  };

  it("a read: asks its objects, and not its record", async () => {
    const { name, fake, get } = told("~3");
    expect((await get()).status).toBe(200);
    expect([objects(fake), fake.records.calls]).toEqual([[`SERVICES_STORE ${name}~3/services`], []]);
    expect(await activeIdOf(told("~4").fake.env, `cluster-${clusters}`, () => undefined)).toMatchObject({ ok: true });
  });

  it("a life that has ended: its objects refuse, the record is asked, and the list is not believed again", async () => {
    const gone = (key: { name: string }): never => {
      throw new Error(`${CLUSTER_GONE} ${key.name}`);
    };
    const { name, fake, get } = told("~3", { get: gone });
    fake.records.states.set(name, ABSENT);
    expect((await get()).status).toBe(404);
    expect(fake.records.calls).toEqual([`look ${name}`]);
    expect((await get()).status).toBe(404);
    expect(fake.calls).toHaveLength(1);
    fake.records.states.set(name, { phase: "active", id: `${name}~4`, createdAt: 0, controllers: null });
    expect(await activeIdOf(fake.env, name, () => undefined)).toEqual({ ok: true, value: `${name}~4` });
  });

  it("what asks for the state of the cluster: asks its record", async () => {
    const { name, fake } = told("~3");
    await lookAt(fake.env, name);
    expect(fake.records.calls).toEqual([`look ${name}`]);
  });
});

describe("a cluster that nobody can be asked about", () => {
  const LOST = new Error("Network connection lost.");
  const UNSURE = { ok: false, error: { code: 503, reason: "ServiceUnavailable" } };
  const none: Beside = () => undefined;
  const named = (areMade: (names: string[]) => Promise<(boolean | null)[]>) =>
    fakeEnv({}, { CLUSTER_NAMES: { idFromName: (name: string) => name, get: () => ({ areMade }) } as unknown as Env["CLUSTER_NAMES"] }).env;
  const recorded = (record: object) =>
    fakeEnv({}, { CLUSTER_RECORD: { idFromName: (name: string) => name, get: () => record } as unknown as Env["CLUSTER_RECORD"] }).env;
  const lost = () => Promise.reject(LOST);

  beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
  afterEach(() => vi.useRealTimers());

  it.each([
    ["the object of the names does not answer", lost],
    ["the directory does not answer that object", (names: string[]) => Promise.resolve(names.map(() => null))],
  ])("%s: 503, and no record is asked", async (_, areMade) => {
    const env = named(areMade);
    const name = `cluster-${++clusters}`;
    expect(await lookAt(env, name)).toMatchObject(UNSURE);
    expect(await activeIdOf(env, name, none)).toMatchObject(UNSURE);
    expect(await removeCluster(env, name)).toMatchObject(UNSURE);
    expect((await sendTo(`http://h/clusters/${name}/api/v1/services`, {}, env)).status).toBe(503);
  });

  it("the record does not answer: 503", async () => {
    const env = recorded({ look: lost, open: lost, remove: lost, setControllers: lost });
    const name = `cluster-${++clusters}`;
    for (const answer of [
      lookAt(env, name),
      activeIdOf(env, name, none),
      openCluster(env, name, { location: undefined }),
      setControllers(env, name, { life: name }, null),
    ])
      expect(await answer).toMatchObject(UNSURE);
    expect((await sendTo(`http://h/clusters/${name}`, { method: "PUT" }, env)).status).toBe(503);
  });

  it("the record stops to answer before a deletion: 503", async () => {
    const look = (): Promise<ClusterState> => Promise.resolve({ phase: "active", id: "x", createdAt: 0, controllers: null });
    expect(await removeCluster(recorded({ look, remove: lost }), `cluster-${++clusters}`)).toMatchObject(UNSURE);
  });

  it.each([
    ["object of the names", named(() => new Promise(() => undefined))],
    ["record", recorded({ look: () => new Promise(() => undefined) })],
  ])("the %s takes as long as a call may: 504 for who asked with it, and for who waits behind it", async (_, env) => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    const name = `cluster-${++clusters}`;
    const asked = [activeIdOf(env, name, none)];
    await vi.advanceTimersByTimeAsync(1);
    asked.push(activeIdOf(env, name, none));
    await vi.advanceTimersByTimeAsync(2 * PEER_TIMEOUT_MS);
    for (const answer of asked) expect(await answer).toMatchObject({ ok: false, error: { code: 504, reason: "Timeout" } });
  });

  it("controllers of a cluster that is being deleted: 409", async () => {
    const env = recorded({ setControllers: () => Promise.resolve({ state: DELETING, isTold: true }) });
    expect(await setControllers(env, "a", { life: "a" }, null)).toMatchObject({ ok: false, error: { code: 409, reason: "Conflict" } });
  });

  it("controllers of a cluster that was made anew meanwhile: the record is told which life is meant, and the answer is 503", async () => {
    const meant: unknown[] = [];
    const state: ClusterState = { phase: "active", id: "a~2", createdAt: 0, controllers: null };
    const env = recorded({ setControllers: (...asked: unknown[]) => (meant.push(asked), Promise.resolve({ state, isTold: true })) });
    expect(await setControllers(env, "a", { life: "a" }, ["*"])).toMatchObject({ ok: false, error: { code: 503 } });
    expect(meant).toEqual([expect.objectContaining({ 0: ["*"], 1: { life: "a" } })]);
  });

  it("an object whose record has heard that it has ended: 409, and no cluster", async () => {
    const env = recorded({ open: () => Promise.resolve({ state: { phase: "absent" }, opened: false }) });
    expect(await openCluster(env, "a", { location: undefined })).toMatchObject({ ok: false, error: { code: 409 } });
  });

  it("the id of a cluster: that of its record, and none of one that is being deleted or was never made", async () => {
    const { name, fake } = aCluster();
    expect(await activeIdOf(fake.env, name, none)).toEqual({ ok: true, value: name });
    const deleted = aCluster(DELETING);
    expect(await activeIdOf(deleted.fake.env, deleted.name, none)).toEqual({ ok: true, value: undefined });
    expect(
      await activeIdOf(
        named((names) => Promise.resolve(names.map(() => false))),
        "b",
        none,
      ),
    ).toEqual({ ok: true, value: undefined });
  });
});
