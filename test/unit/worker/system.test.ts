import { describe, expect, it, vi } from "vitest";
import { app } from "../../../src/worker/app";
import { type Answers, fakeEnv } from "./fake-env";

const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

function get(path: string, headers: Record<string, string> = {}, answers: Answers = {}): Promise<Response> {
  return Promise.resolve(app.request(`http://h${path}`, { headers }, fakeEnv(answers).env));
}

async function json<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
  const response = await get(path, headers);
  expect(response.status).toBe(200);
  return response.json();
}

interface GroupDiscovery {
  metadata: { name: string };
  versions: {
    version: string;
    resources: { resource: string; responseKind: { kind: string }; subresources?: { subresource: string }[] }[];
  }[];
}

describe("discovery", () => {
  it.each(["/api", "/apis", "/api/", "/apis/"])("%s aggregated: the exact Content-Type", async (path) => {
    const response = await get(path, { Accept: AGGREGATED });
    expect(response.headers.get("Content-Type")).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    expect(await response.json()).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
    const beta = await get(path, { Accept: "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList" });
    expect(beta.headers.get("Content-Type")).toBe("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList");
    expect(await beta.json()).toMatchObject({ apiVersion: "apidiscovery.k8s.io/v2beta1" });
  });

  it("aggregated: /api holds the unnamed group, /apis the named ones", async () => {
    const core = await json<{ items: GroupDiscovery[] }>("/api", { Accept: AGGREGATED });
    expect(core.items.map(({ metadata }) => metadata.name)).toEqual([""]);
    const services = core.items[0]?.versions[0]?.resources.find(({ resource }) => resource === "services");
    expect(services).toMatchObject({ responseKind: { kind: "Service" }, subresources: [{ subresource: "status" }] });
    const named = await json<{ items: GroupDiscovery[] }>("/apis", { Accept: AGGREGATED });
    const networking = named.items.find(({ metadata }) => metadata.name === "networking.k8s.io");
    expect(networking?.versions.map(({ version }) => version)).toEqual(["v1", "v1beta1"]);
    expect(named.items.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(["authentication.k8s.io", "authorization.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io"]),
    );
  });

  it("plain", async () => {
    expect(await json("/api")).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    expect(await json("/apis")).toMatchObject({ kind: "APIGroupList", apiVersion: "v1" });
    for (const path of ["/apis/networking.k8s.io", "/apis/networking.k8s.io/"]) {
      expect(await json(path)).toMatchObject({ kind: "APIGroup", name: "networking.k8s.io", preferredVersion: { version: "v1" } });
    }
    for (const path of ["/api/v1", "/api/v1/"]) expect(await json(path)).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
    const list = await json<{ groupVersion: string; resources: { name: string }[] }>("/apis/networking.k8s.io/v1beta1");
    expect(list.groupVersion).toBe("networking.k8s.io/v1beta1");
    expect(list.resources.map(({ name }) => name)).toEqual(expect.arrayContaining(["ipaddresses", "servicecidrs", "servicecidrs/status"]));
  });

  it("a resource stands before its subresources", async () => {
    const { resources } = await json<{ resources: { name: string }[] }>("/api/v1");
    const names = resources.map(({ name }) => name);
    expect(names.indexOf("services")).toBeLessThan(names.indexOf("services/status"));
  });

  it("create-only reviews are told", async () => {
    const { resources } = await json<{ resources: { name: string; verbs: string[]; namespaced: boolean }[] }>(
      "/apis/authorization.k8s.io/v1",
    );
    expect(resources.find(({ name }) => name === "selfsubjectaccessreviews")).toMatchObject({ verbs: ["create"], namespaced: false });
    expect(resources.find(({ name }) => name === "localsubjectaccessreviews")).toMatchObject({ verbs: ["create"], namespaced: true });
  });
});

describe("OpenAPI", () => {
  it("the index names each document with its hash, without the cluster's prefix", async () => {
    const { paths } = await json<{ paths: Record<string, { serverRelativeURL: string }> }>("/clusters/east/openapi/v3");
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["api/v1", "apis/networking.k8s.io/v1", "apis/networking.k8s.io/v1beta1"]));
    const url = paths["api/v1"]?.serverRelativeURL ?? "";
    expect(url).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]+$/);
    const document = await get(url);
    expect(document.headers.get("Cache-Control")).toContain("immutable");
    expect(await document.json()).toMatchObject({ openapi: "3.0.0" });
  });

  it("a wrong hash is redirected relative to itself, no hash is answered but not kept, an unknown document is 404", async () => {
    const wrong = await get("/clusters/east/openapi/v3/api/v1?hash=0");
    expect(wrong.status).toBe(301);
    expect(wrong.headers.get("Location")).toMatch(/^\?hash=[0-9A-F]+$/);
    const plain = await get("/openapi/v3/api/v1");
    expect(plain.status).toBe(200);
    expect(plain.headers.get("Cache-Control")).not.toContain("immutable");
    expect((await get("/openapi/v3/apis/unknown/v1")).status).toBe(404);
  });

  it("an unchanged document is 304", async () => {
    const etag = (await get("/openapi/v3/api/v1")).headers.get("ETag") ?? "";
    expect(etag).toMatch(/^"[0-9A-F]+"$/);
    expect((await get("/openapi/v3/api/v1", { "If-None-Match": etag })).status).toBe(304);
  });

  it("v2 is an empty protobuf document", async () => {
    const response = await get("/openapi/v2", { Accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" });
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    expect(await response.text()).toBe("");
  });
});

describe("version and health", () => {
  it("/version", async () => {
    expect(await json("/version")).toMatchObject({
      major: "1",
      minor: "36",
      gitVersion: expect.stringMatching(/^v1\.36\.2-servicenet\.\d+$/),
    });
  });

  it.each(["/healthz", "/livez", "/readyz", "/livez/ping"])("%s: ok", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(await response.text()).toBe("ok");
  });

  it("verbose names the checks; one can be excluded; an unknown one is 404", async () => {
    expect(await (await get("/readyz?verbose")).text()).toBe("[+]ping ok\n[+]config ok\n[+]coordinator ok\nreadyz check passed\n");
    expect(await (await get("/readyz?verbose&exclude=coordinator")).text()).toContain("[+]coordinator excluded: ok\n");
    expect((await get("/livez/coordinator")).status).toBe(404);
  });

  it("an unreachable Coordinator: live, not ready, reason withheld", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const answers: Answers = { other: () => Promise.reject(new Error("secret")) };
    expect((await get("/livez", {}, answers)).status).toBe(200);
    const response = await get("/readyz", {}, answers);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).toBe("[+]ping ok\n[+]config ok\n[-]coordinator failed: reason withheld\nreadyz check failed\n");
  });
});

describe("reviews", () => {
  async function review(path: string, body: unknown, headers: Record<string, string> = {}): Promise<{ code: number; body: unknown }> {
    const init = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...headers } };
    const response = await app.request(`http://h/apis/${path}`, init, fakeEnv().env);
    return { code: response.status, body: await response.json() };
  }

  it("who am I: anonymous", async () => {
    expect(await review("authentication.k8s.io/v1/selfsubjectreviews", { metadata: { creationTimestamp: null } })).toEqual({
      code: 201,
      body: {
        kind: "SelfSubjectReview",
        apiVersion: "authentication.k8s.io/v1",
        metadata: { creationTimestamp: null },
        status: { userInfo: { username: "system:anonymous", groups: ["system:unauthenticated"] } },
      },
    });
  });

  it("may I: yes", async () => {
    const spec = { resourceAttributes: { namespace: "x", verb: "create", resource: "services" } };
    expect(await review("authorization.k8s.io/v1/selfsubjectaccessreviews", { spec })).toMatchObject({
      code: 201,
      body: { spec, status: { allowed: true } },
    });
    expect(await review("authorization.k8s.io/v1/selfsubjectaccessreviews", { spec: {} })).toMatchObject({ code: 422 });
  });

  it("what may I: everything", async () => {
    expect(await review("authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: "x" } })).toMatchObject({
      code: 201,
      body: { status: { resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], incomplete: false } },
    });
  });

  it("may somebody in a namespace: the namespaces must agree", async () => {
    const spec = { user: "bob", resourceAttributes: { namespace: "x", verb: "get", resource: "pods" } };
    expect(await review("authorization.k8s.io/v1/namespaces/x/localsubjectaccessreviews", { spec })).toMatchObject({ code: 201 });
    expect(await review("authorization.k8s.io/v1/namespaces/y/localsubjectaccessreviews", { spec })).toMatchObject({ code: 400 });
  });

  it("a token: never valid", async () => {
    expect(await review("authentication.k8s.io/v1/tokenreviews", { spec: { token: "t" } })).toMatchObject({
      code: 201,
      body: { status: { authenticated: false } },
    });
  });

  it("as Table alone: 406", async () => {
    const accept = { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    expect(await review("authentication.k8s.io/v1/selfsubjectreviews", {}, accept)).toMatchObject({ code: 406 });
  });
});
