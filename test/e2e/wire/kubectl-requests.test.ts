/**
 * The requests that kubectl 1.32 and 1.33 were recorded with, sent over plain HTTP with the least answer that they are content with.
 * kubectl 1.33 differs in what `describe servicecidr` and `describe ipaddress` read; both forms are here.
 */
import { describe, expect, it } from "vitest";
import { PROTOBUF, readAnswer } from "../../support/values/protobuf-answers";
import { eventsOf } from "../../support/clients/watch-events";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const TYPED = "application/vnd.kubernetes.protobuf,application/json";
const JSON_ONLY = "application/json";

const services = "/api/v1/namespaces/default/services";
const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

const cluster = clusterForTests();

interface Sent {
  accept?: string;
  type?: string;
  body?: object | string | Uint8Array;
}

interface KubeObject {
  kind: string;
  metadata: { name: string; uid: string; resourceVersion: string; continue?: string; annotations?: object; labels?: object };
  spec: Record<string, unknown>;
  status: Record<string, unknown>;
  items: KubeObject[];
  rows: { cells: unknown[]; object: KubeObject }[];
  columnDefinitions: { name: string }[] | null;
}

interface Answer {
  code: number;
  type: string | null;
  body: KubeObject;
}

const headers = {
  "User-Agent": "kubectl/v1.33.1 (linux/amd64) kubernetes/8adc0f0",
  "Kubectl-Command": "kubectl test",
  "Kubectl-Session": "7f7f7f7f-0000-4000-8000-000000000000",
};

async function send(method: string, path: string, { accept = JSON_ONLY, type = JSON_ONLY, body }: Sent = {}): Promise<Answer> {
  const sent = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  const response = await fetch(cluster.url + path, {
    method,
    headers: { ...headers, Accept: accept, ...(body === undefined ? {} : { "Content-Type": type }) },
    ...(body === undefined ? {} : { body: sent }),
  });
  const contentType = response.headers.get("Content-Type");
  const readable = contentType === PROTOBUF || (contentType?.startsWith("application/json") ?? false);
  const answer = readable ? await readAnswer(response) : { text: await response.text() };
  return { code: response.status, type: contentType, body: answer as KubeObject };
}

const get = (path: string, accept?: string) => send("GET", path, accept === undefined ? {} : { accept });

/** The expected code of a request, and the answer. */
async function expectCode(code: number, answer: Promise<Answer>): Promise<KubeObject> {
  const { code: found, body } = await answer;
  expect({ code: found, body }).toMatchObject({ code });
  return body;
}

interface WatchEvent {
  type: string;
  object: KubeObject;
}

/** Opens a watch; `next` waits for its next event. */
async function watch(path: string, accept = JSON_ONLY) {
  const ending = new AbortController();
  const response = await fetch(cluster.url + path, { headers: { ...headers, Accept: accept }, signal: ending.signal });
  const type = accept === TYPED ? `${PROTOBUF};stream=watch` : JSON_ONLY;
  expect({ code: response.status, type: response.headers.get("Content-Type") }).toEqual({ code: 200, type });
  const events = eventsOf<WatchEvent>(response);
  return {
    next: async (): Promise<WatchEvent> => {
      const { done, value } = await events.next();
      if (done) throw new Error("the watch has ended");
      return value as WatchEvent;
    },
    close: () => {
      ending.abort();
    },
  };
}

const service = (name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, creationTimestamp: null, labels: { app: name } },
  spec: { selector: { app: name }, ports: [{ name: "http", port: 80 }] },
  ...more,
});
const lease = (name: string, metadata: object = {}) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, ...metadata },
  spec: {},
});
const created = (path: string, body: object) =>
  expectCode(201, send("POST", `${path}?fieldManager=kubectl-create&fieldValidation=Strict`, { body }));

/** Length-delimited field of a protobuf message; small numbers and lengths only. */
const bytes = (field: number, content: string | Uint8Array) => {
  const value = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return Uint8Array.of((field << 3) | 2, value.length, ...value);
};
const varint = (field: number, value: number) => Uint8Array.of(field << 3, value);
const message = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));
const framed = (apiVersion: string, kind: string, raw: Uint8Array) =>
  message(
    Uint8Array.of(0x6b, 0x38, 0x73, 0x00),
    bytes(1, message(bytes(1, apiVersion), bytes(2, kind))),
    bytes(2, raw),
    bytes(3, ""),
    bytes(4, ""),
  );
const hex = (text: string) => Uint8Array.from(Buffer.from(text, "hex"));
const protobuf = { accept: TYPED, type: "application/vnd.kubernetes.protobuf" };

interface Operation {
  "x-kubernetes-action"?: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: object };
}

describe("before a command: discovery and OpenAPI", () => {
  it.each(["/api?timeout=32s", "/apis?timeout=32s"])("GET %s: the aggregated document", async (path) => {
    const { code, type, body } = await get(path, AGGREGATED);
    expect({ code, type }).toEqual({ code: 200, type: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" });
    const groups = body.items as unknown as { versions: { resources: { resource: string; responseKind: object; scope: string }[] }[] }[];
    const resources = groups.flatMap((group) => group.versions.flatMap((version) => version.resources));
    expect(resources.length).toBeGreaterThan(5);
    for (const resource of resources) expect(resource.responseKind).toMatchObject({ kind: expect.any(String) as unknown });
  });

  it("GET /openapi/v3: the index, and each document that it names", async () => {
    const index = (await expectCode(200, get("/openapi/v3?timeout=32s", "application/json, */*"))) as unknown as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    for (const [path, { serverRelativeURL }] of Object.entries(index.paths)) {
      const document = (await expectCode(200, get(serverRelativeURL))) as unknown as {
        paths: Record<string, Record<string, Operation>>;
        components: { schemas: object };
      };
      // What is connected to a node is no patch of an object.
      const patches = Object.values(document.paths).flatMap(({ patch }) =>
        patch && patch["x-kubernetes-action"] !== "connect" ? [patch] : [],
      );
      if (!/^apis\/auth/.test(path)) expect({ path, patches: patches.length > 0 }).toEqual({ path, patches: true });
      for (const patch of patches) {
        expect(patch).toHaveProperty(["x-kubernetes-group-version-kind", "kind"]);
        expect(patch.parameters).toContainEqual(expect.objectContaining({ name: "fieldValidation", in: "query" }));
        expect(patch.requestBody?.content).toHaveProperty(["application/strategic-merge-patch+json"]);
      }
      expect(JSON.stringify(document.components.schemas)).toContain('"x-kubernetes-group-version-kind":[{');
    }
  });

  it("GET /openapi/v2: protobuf for kubectl", async () => {
    const { code } = await get("/openapi/v2?timeout=32s", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
    expect(code).toBe(200);
  });

  it("GET /version: answered with a timeout and without; a malformed timeout is 400", async () => {
    expect(await expectCode(200, get("/version?timeout=5s"))).toMatchObject({ major: "1", minor: "36" });
    await expectCode(400, get(`${services}?timeout=soon`));
  });
});

describe("get", () => {
  it("default, -A, NAME, --subresource=status: Tables", async () => {
    for (const path of [`${services}?limit=500`, "/api/v1/services?limit=500", `${services}/kubernetes`, `${services}/kubernetes/status`]) {
      const table = await expectCode(200, get(path, TABLE));
      expect(table.kind).toBe("Table");
      expect(table.rows.length).toBeGreaterThan(0);
      for (const row of table.rows) expect(row.cells.length).toBe(table.columnDefinitions?.length);
    }
    expect((await get(`${services}/missing`, TABLE)).code).toBe(404);
  });

  it("--chunk-size and --sort-by: pages of one snapshot, rows with their objects", async () => {
    for (const name of ["page-a", "page-b", "page-c"]) await created(services, service(name));
    const first = await expectCode(200, get(`${services}?limit=2`, TABLE));
    const second = await expectCode(200, get(`${services}?continue=${first.metadata.continue ?? ""}&limit=2`, TABLE));
    expect([first.rows.length, second.rows.length]).toEqual([2, 2]);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const whole = await expectCode(200, get(`${services}?includeObject=Object`, TABLE));
    for (const row of whole.rows) expect(row.object.spec).toHaveProperty("type");
  });

  it("-o json, -l and --field-selector: a List", async () => {
    const list = await expectCode(200, get(`${services}?labelSelector=app%3Dpage-a&fieldSelector=metadata.name%3Dpage-a&limit=500`));
    expect(list.items.map((item) => item.metadata.name)).toEqual(["page-a"]);
  });

  it("-w: a Table for each event, columns only in the first", async () => {
    const list = await expectCode(200, get(`${services}?limit=500`, TABLE));
    const events = await watch(`${services}?resourceVersion=${list.metadata.resourceVersion}&watch=true`, TABLE);
    await created(services, service("seen-a"));
    await created(services, service("seen-b"));
    const seen = [await events.next(), await events.next()];
    events.close();
    expect(seen.map(({ type, object }) => `${type} ${object.kind} ${String(object.rows[0]?.cells[0])}`)).toEqual([
      "ADDED Table seen-a",
      "ADDED Table seen-b",
    ]);
    expect(seen[0]?.object.columnDefinitions?.[0]?.name).toBe("Name");
    expect(seen[1]?.object.columnDefinitions).toBeNull();
  });

  it("NAME -w: resourceVersion 0 replays the object first, and kubectl swallows that", async () => {
    const events = await watch(`${services}?fieldSelector=metadata.name%3Dkubernetes&resourceVersion=0&watch=true`);
    expect(await events.next()).toMatchObject({ type: "ADDED", object: { kind: "Service", metadata: { name: "kubernetes" } } });
    const label = { metadata: { labels: { touched: "yes" } } };
    await expectCode(
      200,
      send("PATCH", `${services}/kubernetes?fieldManager=kubectl-label`, { type: "application/merge-patch+json", body: label }),
    );
    expect(await events.next()).toMatchObject({ type: "MODIFIED", object: { metadata: { labels: { touched: "yes" } } } });
    events.close();
  });

  it("--raw: the answer unchanged", async () => {
    expect((await get("/healthz", "application/json, */*")).code).toBe(200);
    expect((await get("/nope", "application/json, */*")).code).toBe(404);
  });
});

describe("describe", () => {
  const eventsOf = (object: Record<string, string>) =>
    `/api/v1/events?fieldSelector=${encodeURIComponent(
      Object.entries(object)
        .map(([field, value]) => `involvedObject.${field}=${value}`)
        .join(","),
    )}&limit=500`;

  it("service: twice, its EndpointSlices, its events", async () => {
    const { metadata } = await expectCode(200, get(`${services}/kubernetes`));
    await expectCode(200, get(`${services}/kubernetes`, TYPED));
    const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes";
    expect((await expectCode(200, get(slices, TYPED))).kind).toBe("EndpointSliceList");
    const fields = { uid: metadata.uid, name: "kubernetes", namespace: "default", kind: "Service" };
    const inNamespace = eventsOf(fields).replace("/api/v1/events", "/api/v1/namespaces/default/events");
    expect(await expectCode(200, get(inNamespace, TYPED))).toMatchObject({ kind: "EventList", items: [] });
  });

  it.each(["v1", "v1beta1"])("servicecidr and ipaddress through %s: served with their events", async (version) => {
    for (const path of ["servicecidrs/kubernetes", "ipaddresses/10.96.0.1"]) {
      await expectCode(200, get(`/apis/networking.k8s.io/v1/${path}`));
      const typed = await expectCode(200, get(`/apis/networking.k8s.io/${version}/${path}`, TYPED));
      expect(typed).toMatchObject({ apiVersion: `networking.k8s.io/${version}` });
      const fields = { kind: typed.kind, name: typed.metadata.name, namespace: "", uid: typed.metadata.uid };
      await expectCode(200, get(eventsOf(fields), TYPED));
    }
  });

  it("node: its pods, its events by two uids, its lease if there is one", async () => {
    const body = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };
    const { metadata } = await expectCode(201, send("POST", "/api/v1/nodes?fieldManager=kubectl-create&fieldValidation=Strict", { body }));
    await expectCode(200, get("/api/v1/nodes/n1", TYPED));
    const selector = encodeURIComponent("spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed");
    expect((await expectCode(200, get(`/api/v1/pods?fieldSelector=${selector}&limit=500`, TYPED))).kind).toBe("PodList");
    await expectCode(200, get(eventsOf({ name: "n1", namespace: "", kind: "Node", uid: metadata.uid }), TYPED));
    await expectCode(200, get(eventsOf({ name: "n1", namespace: "", kind: "Node", uid: "n1" }), TYPED));
    await expectCode(404, get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", TYPED));
  });

  it("namespace: its quotas are listed, and limits that are not served are 404", async () => {
    await expectCode(200, get("/api/v1/namespaces/default", TYPED));
    await expectCode(200, get("/api/v1/namespaces/default/resourcequotas?limit=500", TYPED));
    await expectCode(404, get("/api/v1/namespaces/default/limitranges?limit=500", TYPED));
  });
});

describe("create", () => {
  it.each([
    { validation: "Strict", code: 400 },
    { validation: "Warn", code: 201 },
    { validation: "Ignore", code: 201 },
  ])("-f with fieldValidation=$validation: an unknown field is $code", async ({ validation, code }) => {
    const body = service(`typo-${validation.toLowerCase()}`, { spec: { ports: [{ port: 80 }], nope: 1 } });
    await expectCode(code, send("POST", `${services}?fieldManager=kubectl-create&fieldValidation=${validation}`, { body }));
  });

  it("--raw: a body without a Content-Type is JSON", async () => {
    const response = await fetch(`${cluster.url}${services}`, {
      method: "POST",
      headers: { ...headers, Accept: "application/json, */*" },
      body: new TextEncoder().encode(JSON.stringify({ metadata: { name: "raw" }, spec: { ports: [{ port: 80 }] } })),
    });
    expect({ code: response.status, sent: response.ok }).toEqual({ code: 201, sent: true });
    await response.body?.cancel();
  });

  it("namespace and service: protobuf bodies, JSON answers, dry run first", async () => {
    const namespace = hex("6b3873000a0f0a02763112094e616d657370616365121b0a130a03666f6f12001a0022002a0032003800420012001a020a001a002200");
    const options = "fieldManager=kubectl-create&fieldValidation=Strict";
    await expectCode(201, send("POST", `/api/v1/namespaces?dryRun=All&${options}`, { ...protobuf, body: namespace }));
    await expectCode(404, get("/api/v1/namespaces/foo"));
    expect(await expectCode(201, send("POST", `/api/v1/namespaces?${options}`, { ...protobuf, body: namespace }))).toMatchObject({
      kind: "Namespace",
      metadata: { name: "foo" },
      status: { phase: "Active" },
    });
    const cip = hex(
      "6b3873000a0d0a02763112075365727669636512690a1f0a0363697012001a0022002a003200380042005a0a0a03617070120363697012420a1b0a0738302d38303830120354435018502207080010903f1a002800120a0a0361707012036369701a002209436c757374657249503a00420052005a00600068001a020a001a002200",
    );
    expect(await expectCode(201, send("POST", `/api/v1/namespaces/foo/services?${options}`, { ...protobuf, body: cip }))).toMatchObject({
      spec: { selector: { app: "cip" }, ports: [{ name: "80-8080", protocol: "TCP", port: 80, targetPort: 8080 }], type: "ClusterIP" },
    });
  });

  it.each(["kubectl-expose", "kubectl-run"])("%s: creationTimestamp null, status empty", async (manager) => {
    const body = service(manager, { status: { loadBalancer: {} } });
    await expectCode(201, send("POST", `${services}?fieldManager=${manager}`, { body }));
  });
});

describe("apply, diff, edit, patch, replace", () => {
  const strategic = "application/strategic-merge-patch+json";
  const spec = (...ports: object[]) => ({ selector: { app: "a" }, ports });

  it("apply: GET 404, POST, GET, strategic PATCH with directives", async () => {
    const options = "fieldManager=kubectl-client-side-apply&fieldValidation=Strict";
    await expectCode(404, get(`${services}/applied`));
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}\n" };
    const body = {
      ...service("applied"),
      metadata: { name: "applied", annotations },
      spec: spec({ name: "a", port: 80 }, { name: "b", port: 81 }),
    };
    await expectCode(201, send("POST", `${services}?${options}`, { body }));
    const patch = {
      metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{ }\n" } },
      spec: {
        "$setElementOrder/ports": [{ port: 82 }, { port: 80 }],
        ports: [
          { name: "c", port: 82 },
          { $patch: "delete", port: 81 },
        ],
      },
    };
    const answer = await expectCode(200, send("PATCH", `${services}/applied?${options}`, { type: strategic, body: patch }));
    expect((answer.spec["ports"] as { name: string }[]).map((port) => port.name)).toEqual(["c", "a"]);
  });

  it("diff: a dry run with the resourceVersion, and nothing is stored", async () => {
    const { metadata } = await created(services, service("diffed"));
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { sessionAffinity: "ClientIP" } };
    const path = `${services}/diffed?dryRun=All&fieldManager=kubectl-client-side-apply&fieldValidation=Strict`;
    expect((await expectCode(200, send("PATCH", path, { type: strategic, body }))).spec["sessionAffinity"]).toBe("ClientIP");
    expect((await expectCode(200, get(`${services}/diffed`))).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it("edit, patch --type, label, annotate: each with its media type", async () => {
    await created(services, service("changed"));
    const patch = (manager: string, type: string, body: object) =>
      expectCode(200, send("PATCH", `${services}/changed?fieldManager=${manager}`, { type, body }));
    await patch("kubectl-edit&fieldValidation=Strict", strategic, { spec: { sessionAffinity: "ClientIP" } });
    await patch("kubectl-patch", "application/json-patch+json", [{ op: "add", path: "/metadata/labels/json", value: "yes" }]);
    await patch("kubectl-label", "application/merge-patch+json", { metadata: { labels: { merge: "yes" } } });
    const { metadata } = await patch("kubectl-annotate", "application/merge-patch+json", { metadata: { annotations: { note: "a" } } });
    expect(metadata).toMatchObject({ labels: { json: "yes", merge: "yes" }, annotations: { note: "a" } });
    const stale = { metadata: { resourceVersion: "1", labels: { stale: "yes" } } };
    await expectCode(
      409,
      send("PATCH", `${services}/changed?fieldManager=kubectl-label`, { type: "application/merge-patch+json", body: stale }),
    );
  });

  it("taint, cordon, uncordon: strategic patches, null to undo", async () => {
    await expectCode(201, send("POST", "/api/v1/nodes", { body: { metadata: { name: "tainted" } } }));
    await expectCode(200, get("/api/v1/nodes/tainted", "application/json, */*"));
    const patch = (query: string, body: object) =>
      expectCode(200, send("PATCH", `/api/v1/nodes/tainted${query}`, { type: strategic, body }));
    const taint = "?fieldManager=kubectl-taint&fieldValidation=Strict";
    const tainted = await patch(taint, { spec: { taints: [{ effect: "NoSchedule", key: "a", value: "b" }] } });
    expect(tainted.spec["taints"]).toEqual([{ key: "a", value: "b", effect: "NoSchedule" }]);
    expect((await patch(taint, { spec: { taints: null } })).spec).not.toHaveProperty("taints");
    expect((await patch("", { spec: { unschedulable: true } })).spec["unschedulable"]).toBe(true);
    expect((await patch("", { spec: { unschedulable: null } })).spec).not.toHaveProperty("unschedulable");
  });

  it("replace: PUT of the fetched resourceVersion", async () => {
    await created(services, service("replaced"));
    const { metadata } = await expectCode(200, get(`${services}/replaced`));
    const put = (resourceVersion: string) =>
      send("PUT", `${services}/replaced?fieldManager=kubectl-replace&fieldValidation=Strict`, {
        body: { ...service("replaced"), metadata: { name: "replaced", resourceVersion } },
      });
    await expectCode(200, put(metadata.resourceVersion));
    await expectCode(409, put("1"));
  });
});

describe("delete and drain", () => {
  const background = { body: { propagationPolicy: "Background" } };

  it("delete NAME: options without kind, then GET is 404", async () => {
    const { metadata } = await created(leases, lease("gone"));
    expect(await expectCode(200, send("DELETE", `${leases}/gone`, background))).toMatchObject({
      kind: "Status",
      status: "Success",
      details: { name: "gone", uid: metadata.uid },
    });
    await expectCode(404, get(`${leases}/gone`));
  });

  it("delete of an object with a finalizer: list at resourceVersion 0, watch with bookmarks until DELETED", async () => {
    await created(leases, lease("held", { finalizers: ["example.com/hold"] }));
    await expectCode(200, send("DELETE", `${leases}/held`, background));
    const list = await expectCode(200, get(`${leases}?fieldSelector=metadata.name%3Dheld&limit=500&resourceVersion=0`));
    expect(list.items[0]?.metadata).toHaveProperty("deletionTimestamp");
    const from = `fieldSelector=metadata.name%3Dheld&resourceVersion=${list.metadata.resourceVersion}`;
    const events = await watch(`${leases}?allowWatchBookmarks=true&${from}&timeoutSeconds=345&watch=true`);
    const body = { metadata: { finalizers: null } };
    await expectCode(200, send("PATCH", `${leases}/held`, { type: "application/merge-patch+json", body }));
    expect((await events.next()).type).toBe("DELETED");
    events.close();
  });

  it.each([
    { what: "--cascade=orphan", body: { propagationPolicy: "Orphan" }, code: 200 },
    { what: "--cascade=foreground", body: { propagationPolicy: "Foreground" }, code: 202 },
    { what: "--now", body: { gracePeriodSeconds: 1, propagationPolicy: "Background" }, code: 200 },
    { what: "--force", body: { gracePeriodSeconds: 0, propagationPolicy: "Background" }, code: 200 },
  ])("delete $what: $code, and the object goes", async ({ body, code }) => {
    await created(leases, lease("cascaded"));
    await expectCode(code, send("DELETE", `${leases}/cascaded`, { body }));
    await expect.poll(async () => (await get(`${leases}/cascaded`)).code).toBe(404);
  });

  it("delete --dry-run=server: keeps the object", async () => {
    await created(leases, lease("kept"));
    await expectCode(200, send("DELETE", `${leases}/kept`, { body: { propagationPolicy: "Background", dryRun: ["All"] } }));
    await expectCode(200, get(`${leases}/kept`));
  });

  it("drain: DELETE of a pod with protobuf DeleteOptions", async () => {
    const body = { metadata: { name: "drained" }, spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] } };
    await expectCode(201, send("POST", "/api/v1/namespaces/default/pods", { body }));
    expect((await expectCode(200, get("/api/v1"))).kind).toBe("APIResourceList");
    const now = framed("v1", "DeleteOptions", varint(1, 0));
    await expectCode(200, send("DELETE", "/api/v1/namespaces/default/pods/drained", { ...protobuf, body: now }));
    await expectCode(404, get("/api/v1/namespaces/default/pods/drained", TYPED));
  });
});

describe("wait, events, auth, cluster-info", () => {
  it("wait --for=condition: GET, list at 0, watch from its resourceVersion", async () => {
    const { metadata } = await created(leases, lease("awaited"));
    const list = await expectCode(200, get(`${leases}?fieldSelector=metadata.name%3Dawaited&limit=500&resourceVersion=0`));
    expect(list.items[0]?.metadata.uid).toBe(metadata.uid);
    const events = await watch(
      `${leases}?allowWatchBookmarks=true&fieldSelector=metadata.name%3Dawaited&resourceVersion=${list.metadata.resourceVersion}&watch=true`,
    );
    const body = { spec: { holderIdentity: "me" } };
    await expectCode(200, send("PATCH", `${leases}/awaited`, { type: "application/merge-patch+json", body }));
    expect(await events.next()).toMatchObject({ type: "MODIFIED", object: { spec: { holderIdentity: "me" } } });
    events.close();
  });

  it("events: list with --for, and a watch without resourceVersion that replays", async () => {
    const involvedObject = { apiVersion: "v1", kind: "Service", name: "kubernetes", namespace: "default" };
    const path = "/api/v1/namespaces/default/events";
    await expectCode(201, send("POST", path, { body: { metadata: { name: "e1" }, involvedObject, reason: "Tested", message: "m" } }));
    const selector = encodeURIComponent("involvedObject.kind=Service,involvedObject.apiVersion=v1,involvedObject.name=kubernetes");
    expect((await expectCode(200, get(`${path}?fieldSelector=${selector}&limit=500`, TYPED))).items.length).toBe(1);
    const events = await watch(`${path}?fieldSelector=${selector}&limit=500&watch=true`, TYPED);
    expect(await events.next()).toMatchObject({ type: "ADDED", object: { kind: "Event", metadata: { name: "e1" } } });
    events.close();
  });

  it("auth can-i, can-i --list, whoami: protobuf bodies, answered 201", async () => {
    const access = bytes(2, bytes(1, message(bytes(1, "default"), bytes(2, "create"), bytes(3, ""), bytes(4, "*"), bytes(5, "services"))));
    const review = (group: string, kind: string, raw: Uint8Array) =>
      expectCode(201, send("POST", `/apis/${group}/v1/${kind.toLowerCase()}s`, { ...protobuf, body: framed(`${group}/v1`, kind, raw) }));
    expect(await review("authorization.k8s.io", "SelfSubjectAccessReview", message(bytes(1, ""), access))).toMatchObject({
      spec: { resourceAttributes: { namespace: "default", verb: "create", resource: "services" } },
      status: { allowed: true },
    });
    const rules = await review("authorization.k8s.io", "SelfSubjectRulesReview", message(bytes(1, ""), bytes(2, bytes(1, "default"))));
    expect(rules.status).toMatchObject({
      resourceRules: expect.any(Array) as unknown,
      nonResourceRules: expect.any(Array) as unknown,
      incomplete: false,
    });
    expect(await review("authentication.k8s.io", "SelfSubjectReview", bytes(1, ""))).toMatchObject({
      status: { userInfo: { username: "system:anonymous", groups: ["system:unauthenticated"] } },
    });
  });

  it("cluster-info: an empty list is enough", async () => {
    const path = "/api/v1/namespaces/kube-system/services?labelSelector=kubernetes.io%2Fcluster-service%3Dtrue";
    expect((await expectCode(200, get(path))).items).toEqual([]);
  });
});
