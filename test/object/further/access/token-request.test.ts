/** Tokens of service accounts: POST serviceaccounts/NAME/token, and what such a token is good for. Texts: upstream's. */
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { decodeProtobuf } from "../../../../src/api/schema/protobuf/decode-protobuf";
import { TokenRequestSchema } from "../../../../src/api/schema/kinds/authentication";
import { AccessWorld, type Answer, type AskOptions } from "../../../support/access/access-world";
import { keepObjects } from "../../../support/runtime/wiped";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const SERVICES = "/api/v1/namespaces/default/services";
const PODS = "/api/v1/namespaces/default/pods";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const LATER_MS = 31_000;

let world: AccessWorld;
async function begin(): Promise<void> {
  world = await new AccessWorld().begin();
  await world.make(ACCOUNTS, { metadata: { name: "robot" } });
}
afterEach(() => vi.useRealTimers());

async function uidOf(path: string): Promise<string> {
  const { body } = await world.ask("GET", path);
  return (body as { metadata?: { uid?: string } }).metadata?.uid ?? "";
}

function request(spec: object = {}, options: AskOptions & { name?: string; query?: string; metadata?: object } = {}): Promise<Answer> {
  const { name = "robot", query = "", metadata, ...rest } = options;
  return world.ask("POST", `${ACCOUNTS}/${name}/token${query}`, { body: { ...(metadata ? { metadata } : {}), spec }, ...rest });
}

async function tokenOf(spec: object = {}): Promise<string> {
  const { code, body } = await request(spec);
  expect(code, body.message).toBe(201);
  return (body.status as { token: string }).token;
}

/** What the token says, unchecked. */
function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
}

async function code(path: string, token: string): Promise<number> {
  return (await world.ask("GET", path, { token })).code;
}

/** Lets the account list Services. */
async function bind(): Promise<void> {
  await world.make(`${RBAC}/clusterroles`, {
    metadata: { name: "reader" },
    rules: [{ apiGroups: [""], resources: ["services"], verbs: ["list"] }],
  });
  await world.make(`${RBAC}/namespaces/default/rolebindings`, {
    metadata: { name: "robot" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
    subjects: [{ kind: "ServiceAccount", name: "robot", namespace: "default" }],
  });
}

describe("the answer", () => {
  beforeEach(begin);

  it("a request that says nothing: a token of an hour for this API, and what upstream fills in", async () => {
    const before = Math.floor(Date.now() / 1_000);
    const { code: status, body } = await world.ask("POST", `${ACCOUNTS}/robot/token`, { body: {} });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name: "robot", namespace: "default", creationTimestamp: expect.any(String) as string },
      spec: { audiences: ["https://kubernetes.default.svc"], expirationSeconds: 3_600 },
    });
    const { token, expirationTimestamp } = body.status as { token: string; expirationTimestamp: string };
    const claims = claimsOf(token);
    expect(claims).toMatchObject({
      sub: "system:serviceaccount:default:robot",
      aud: ["https://kubernetes.default.svc"],
      "kubernetes.io": { namespace: "default", serviceaccount: { name: "robot", uid: await uidOf(`${ACCOUNTS}/robot`) } },
    });
    expect(Date.parse(expirationTimestamp) / 1_000).toBe(claims["exp"]);
    expect(Number(claims["exp"]) - before).toBeGreaterThanOrEqual(3_600);
    expect(Number(claims["exp"])).toBeLessThanOrEqual(Date.now() / 1_000 + 3_600);
  });

  it("a lifetime beyond a day: shortened, with a warning", async () => {
    const { code: status, body, headers } = await request({ expirationSeconds: 100_000 });
    expect([status, (body["spec"] as { expirationSeconds: number }).expirationSeconds]).toEqual([201, 86_400]);
    expect(headers.get("Warning")).toBe('299 - "requested expiration of 100000 seconds shortened to 86400 seconds"');
  });

  it("a dry run: answered like any other, as upstream", async () => {
    expect((await request({}, { query: "?dryRun=All" })).code).toBe(201);
    expect((await request({}, { query: "?dryRun=Some" })).code).toBe(422);
  });

  it("protobuf: the document in its own kind", async () => {
    const response = await world.answer("POST", `${ACCOUNTS}/robot/token`, {
      body: {},
      headers: { Accept: "application/vnd.kubernetes.protobuf" },
    });
    expect([response.status, response.headers.get("Content-Type")]).toEqual([201, "application/vnd.kubernetes.protobuf"]);
    const decoded = decodeProtobuf(new Uint8Array(await response.arrayBuffer()), TokenRequestSchema);
    expect(decoded).toMatchObject({
      ok: true,
      value: {
        typeMeta: { kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1" },
        value: { status: { token: expect.stringMatching(/^ey/) as string } },
      },
    });
  });

  it("discovery and OpenAPI: the subresource, which answers its own kind", async () => {
    const { body } = await world.ask("GET", "/api/v1");
    expect(body["resources"]).toContainEqual({
      name: "serviceaccounts/token",
      singularName: "",
      namespaced: true,
      group: "authentication.k8s.io",
      version: "v1",
      kind: "TokenRequest",
      verbs: ["create"],
    });
    const openApi = await world.ask("GET", "/openapi/v3/api/v1");
    const path = "/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token";
    const post = (openApi.body as { paths?: Record<string, { post?: object }> }).paths?.[path]?.post;
    expect(post).toMatchObject({ operationId: "createCoreV1NamespacedServiceAccountToken" });
    expect(JSON.stringify((post as { responses?: object }).responses)).toContain("io.k8s.api.authentication.v1.TokenRequest");
  });

  it("a server that asks nobody who he is: tokens all the same", async () => {
    world = await new AccessWorld({ AUTHORIZATION_MODE: "AlwaysAllow" }).begin();
    await world.make(ACCOUNTS, { metadata: { name: "robot" } });
    expect(claimsOf(await tokenOf())).toMatchObject({ sub: "system:serviceaccount:default:robot" });
  });
});

describe("what a token is good for", () => {
  beforeEach(begin);

  it("its user has the rights of the account's bindings, in its own cluster alone", async () => {
    await bind();
    const token = await tokenOf();
    const { body } = await world.ask("POST", WHO, { token, body: {} });
    expect(body.status).toMatchObject({
      userInfo: {
        username: "system:serviceaccount:default:robot",
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      },
    });
    expect(await code(SERVICES, token)).toBe(200);
    expect(await code("/api/v1/services", token)).toBe(403);
    const other = `${world.cluster}-other`;
    expect((await world.ask("PUT", `/clusters/${other}`)).code).toBe(201);
    expect(await code(`/clusters/${other}${SERVICES}`, token)).toBe(401);
  });

  it("another audience: refused", async () => {
    expect(await code(SERVICES, await tokenOf({ audiences: ["vault"] }))).toBe(401);
  });

  it("a deleted account: refused when answers are no longer kept, also when another has its name", async () => {
    const token = await tokenOf();
    expect(await code("/version", token)).toBe(200);
    await world.ask("DELETE", `${ACCOUNTS}/robot`);
    await world.make(ACCOUNTS, { metadata: { name: "robot" } });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LATER_MS });
    expect(await code("/version", token)).toBe(401);
  });

  it("an end that has passed: refused", async () => {
    const token = await tokenOf({ expirationSeconds: 600 });
    expect(await code("/version", token)).toBe(200);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 700_000 });
    expect(await code("/version", token)).toBe(401);
  });

  it("bound to a Pod: its claims name Pod and Node, and it ends with the Pod", async () => {
    await world.make("/api/v1/nodes", { metadata: { name: "n" } });
    await world.make(PODS, pod("p", "robot", "n"));
    const token = await tokenOf({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p", uid: await uidOf(`${PODS}/p`) } });
    expect(claimsOf(token)["kubernetes.io"]).toMatchObject({
      pod: { name: "p", uid: await uidOf(`${PODS}/p`) },
      node: { name: "n", uid: await uidOf("/api/v1/nodes/n") },
    });
    expect(await code("/version", token)).toBe(200);
    expect((await world.ask("DELETE", `${PODS}/p?gracePeriodSeconds=0`)).code).toBe(200);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LATER_MS });
    expect(await code("/version", token)).toBe(401);
  });

  it("bound to a Node: its claims name it", async () => {
    await world.make("/api/v1/nodes", { metadata: { name: "n" } });
    const token = await tokenOf({ boundObjectRef: { kind: "Node", apiVersion: "v1", name: "n" } });
    expect(claimsOf(token)["kubernetes.io"]).toMatchObject({ node: { name: "n" } });
    expect(await code("/version", token)).toBe(200);
  });
});

const pod = (name: string, serviceAccountName: string, nodeName?: string): object => ({
  metadata: { name },
  spec: { serviceAccountName, ...(nodeName === undefined ? {} : { nodeName }), containers: [{ name: "c", image: "i" }] },
});

describe("requests that are refused", () => {
  keepObjects();
  beforeAll(async () => {
    await begin();
    await world.make(PODS, pod("theirs", "other"));
    await world.make(PODS, pod("mine", "robot"));
  });

  const SECONDS = 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: ';
  it.each<[what: string, spec: object, options: Parameters<typeof request>[1], code: number, message: string]>([
    ["an account that is not there", {}, { name: "nobody" }, 404, 'serviceaccounts "nobody" not found'],
    ["under ten minutes", { expirationSeconds: 599 }, {}, 422, `${SECONDS}599: may not specify a duration less than 10 minutes`],
    [
      "beyond 2^32 seconds",
      { expirationSeconds: 2 ** 32 + 1 },
      {},
      422,
      `${SECONDS}4294967297: may not specify a duration larger than 2^32 seconds`,
    ],
    [
      "another name in the body",
      {},
      { metadata: { name: "x" } },
      422,
      'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
    ],
    [
      "another namespace in the body",
      {},
      { metadata: { namespace: "x" } },
      400,
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      "bound to what no token can be bound to",
      { boundObjectRef: { kind: "Service", apiVersion: "v1", name: "x" } },
      {},
      400,
      "cannot bind token to object of type /v1, Kind=Service",
    ],
    [
      "bound to a Pod of another group",
      { boundObjectRef: { kind: "Pod", apiVersion: "x.io/v1", name: "x" } },
      {},
      400,
      "cannot bind token to object of type x.io/v1, Kind=Pod",
    ],
    ["bound to a Pod that is not there", { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "x" } }, {}, 404, 'pods "x" not found'],
    [
      "bound to a Node that is not there",
      { boundObjectRef: { kind: "Node", apiVersion: "v1", name: "x" } },
      {},
      404,
      'nodes "x" not found',
    ],
    [
      "bound to a Secret that is not there",
      { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "x" } },
      {},
      404,
      'secrets "x" not found',
    ],
    [
      "bound to a Pod of another account",
      { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "theirs" } },
      {},
      400,
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    ],
    [
      "bound to a Pod that is another one by now",
      { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "mine", uid: "u" } },
      {},
      409,
      'Operation cannot be fulfilled on Pod "mine": the UID in the bound object reference (u) does not match the UID in record. The object might have been deleted and then recreated',
    ],
  ])("%s: refused", async (_, spec, options, status, message) => {
    const answer = await request(spec, options);
    expect([answer.code, answer.body.message]).toEqual([status, message]);
  });
});

describe("refusals", () => {
  beforeEach(begin);

  it("other methods than POST: not allowed", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"])
      expect((await world.ask(method, `${ACCOUNTS}/robot/token`, { body: method === "GET" ? undefined : {} })).code, method).toBe(405);
  });

  it("a user without the right: 403 that names the subresource", async () => {
    const answer = await request({}, { token: await world.tokenOf("bob") });
    expect([answer.code, answer.body.message]).toEqual([
      403,
      'serviceaccounts "robot" is forbidden: User "bob" cannot create resource "serviceaccounts/token" in API group "" in the namespace "default"',
    ]);
  });

  const VOLUMES = [{ name: "t", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }];

  async function madePod(name: string, account: string, nodeName: string): Promise<object> {
    const made = pod(name, account, nodeName) as { spec: object };
    await world.make(PODS, { ...made, spec: { ...made.spec, volumes: VOLUMES } });
    return { apiVersion: "v1", kind: "Pod", name, uid: await uidOf(`${PODS}/${name}`) };
  }

  it("a node: tokens of the accounts of its Pods, bound to them, and no others", async () => {
    await world.make(ACCOUNTS, { metadata: { name: "other" } });
    const own = await madePod("own", "robot", "n");
    const foreign = await madePod("foreign", "robot", "m");
    const token = await world.tokenOf("system:node:n", { groups: ["system:nodes"] });
    const asked = async (spec: object, name = "robot"): Promise<[number, string | undefined]> => {
      const { code: status, body } = await request(spec, { token, name });
      return [status, body.message];
    };
    const cannot =
      'User "system:node:n" cannot create resource "serviceaccounts/token" in API group "" in the namespace "default": ' +
      "no relationship found between node 'n' and this object";
    expect((await asked({ boundObjectRef: own }))[0]).toBe(201);
    expect(await asked({})).toEqual([403, 'serviceaccounts "robot" is forbidden: node requested token not bound to a pod']);
    expect(await asked({ boundObjectRef: foreign })).toEqual([403, `serviceaccounts "robot" is forbidden: ${cannot}`]);
    expect(await asked({ boundObjectRef: own }, "other")).toEqual([403, `serviceaccounts "other" is forbidden: ${cannot}`]);
    expect(await asked({ boundObjectRef: { ...own, name: "none" } })).toEqual([403, `serviceaccounts "robot" is forbidden: ${cannot}`]);
    expect(await asked({ boundObjectRef: own }, "absent"), "which accounts there are is not told").toEqual([
      403,
      `serviceaccounts "absent" is forbidden: ${cannot}`,
    ]);
    expect((await asked({ boundObjectRef: foreign, expirationSeconds: 1 }))[0]).toBe(403);
    const review = { user: "system:node:n", groups: ["system:nodes"], resourceAttributes: { verb: "create", resource: "serviceaccounts" } };
    const reviewed = await world.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      body: {
        spec: {
          ...review,
          resourceAttributes: { ...review.resourceAttributes, subresource: "token", namespace: "default", name: "robot" },
        },
      },
    });
    expect(reviewed.body.status).toMatchObject({ allowed: false });
    expect(await asked({ boundObjectRef: { ...own, uid: "x" } })).toEqual([
      403,
      'serviceaccounts "robot" is forbidden: the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
    ]);
    const [status, message] = await asked({ boundObjectRef: own, audiences: ["registry"] });
    expect([status, message]).toEqual([
      403,
      'serviceaccounts "robot" is forbidden: audience "registry" not found in pod spec volume, system:node:n is not authorized to request tokens for this audience',
    ]);
  });

  it("a node whom a role gives all tokens: of its own Pods alone, and of others the reason", async () => {
    const foreign = await madePod("foreign", "robot", "m");
    const own = await madePod("own", "robot", "n");
    await world.make(`${RBAC}/clusterroles`, {
      metadata: { name: "tokens" },
      rules: [
        { apiGroups: [""], resources: ["serviceaccounts/token"], verbs: ["create"] },
        { apiGroups: [""], resources: ["registry"], resourceNames: ["robot"], verbs: ["request-serviceaccounts-token-audience"] },
      ],
    });
    await world.make(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "tokens" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "tokens" },
      subjects: ["system:nodes", "servicenet:agents"].map((name) => ({ kind: "Group", name, apiGroup: "rbac.authorization.k8s.io" })),
    });
    const token = await world.tokenOf("system:node:n", { groups: ["system:nodes"] });
    const agent = await world.tokenOf("servicenet:agent:n", { groups: ["servicenet:agents"] });
    const asked = async (boundObjectRef: object, more: object = {}, as = token): Promise<[number, string | undefined]> => {
      const { code: status, body } = await request({ boundObjectRef, ...more }, { token: as });
      return [status, body.message];
    };
    expect((await asked(own))[0]).toBe(201);
    expect((await asked(own, { audiences: ["registry"] }))[0]).toBe(201);
    expect((await asked(own, {}, agent))[0]).toBe(201);
    expect(await asked(foreign, {}, agent)).toEqual([
      403,
      'serviceaccounts "robot" is forbidden: node requested token bound to a pod scheduled on a different node',
    ]);
    const headers = { "Impersonate-User": "system:node:", "Impersonate-Group": "system:nodes" };
    expect((await request({ boundObjectRef: own }, { headers })).body.message).toBe(
      'serviceaccounts "robot" is forbidden: could not determine node from user "system:node:"',
    );
    expect(await asked(foreign)).toEqual([
      403,
      'serviceaccounts "robot" is forbidden: node requested token bound to a pod scheduled on a different node',
    ]);
    expect(await asked({ ...foreign, name: "none" })).toEqual([404, 'pods "none" not found']);
  });

  it("an agent: no tokens of service accounts", async () => {
    const boundObjectRef = await madePod("own", "robot", "n");
    const answer = await request(
      { boundObjectRef },
      { token: await world.tokenOf("servicenet:agent:n", { groups: ["servicenet:agents"] }) },
    );
    expect(answer.code).toBe(403);
  });
});
