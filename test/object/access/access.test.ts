/** Access control as clients meet it: the whole Worker with tokens, rules and real stores. Upstream's answers are in the titles. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { clusterRecord } from "../../../durable-objects/peers/peers";
import { AccessWorld } from "../../support/access/access-world";
import { keepObjects } from "../../support/runtime/wiped";
import { PATIENCE } from "../../support/objects/patience";
import { freshCluster } from "../../support/objects/store-stubs";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SERVICES = "/api/v1/namespaces/default/services";
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const binding = (name: string, role: string, user: string, kind = "User") => ({
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind, name: user }],
});

const now = Date.now;
let laterMs = 0;
let world: AccessWorld;
/** one that several tests share */
let kept: AccessWorld | undefined;
beforeEach(async () => (world = kept ?? (await new AccessWorld().begin())));
afterEach(() => {
  vi.restoreAllMocks();
});

/** Asks until the code is there. Rules are kept for a few seconds: the clock goes on by half a second from one request to the next. */
async function comesTo(code: number, ask: () => Promise<number>): Promise<void> {
  vi.spyOn(Date, "now").mockImplementation(() => now() + laterMs);
  const wanted = async (): Promise<void> => {
    laterMs += 500;
    expect(await ask()).toBe(code);
  };
  await vi.waitFor(wanted, PATIENCE);
}

describe("authentication", () => {
  keepObjects();
  beforeAll(async () => (kept = await new AccessWorld().begin()));
  afterAll(() => void (kept = undefined));

  it.each(["", undefined])(
    "every answer, with token %j: browsers neither guess its type nor run it nor frame it, and it has a name",
    async (token) => {
      const { headers } = await world.ask("GET", SERVICES, token === undefined ? {} : { token });
      expect([headers.get("X-Content-Type-Options"), headers.get("Audit-ID")]).toEqual([
        "nosniff",
        expect.stringMatching(/^[0-9a-f-]{36}$/),
      ]);
      expect(headers.get("Content-Security-Policy")).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get("Cross-Origin-Resource-Policy")).toBe("same-origin");
      expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
    },
  );

  it("an administrator: everything", async () => {
    expect((await world.ask("POST", SERVICES, { body: service("a") })).code).toBe(201);
    expect((await world.ask("GET", "/metrics")).code).toBe(200);
    expect((await world.ask("PUT", `/clusters/${freshCluster()}`)).code).toBe(201);
  });

  it("a deployment without any credential: 401 for everything but probes, and the log says what to set", async () => {
    world = new AccessWorld({ ADMIN_TOKEN_HASHES: "" });
    const lines = vi.spyOn(console, "error").mockReturnValue(undefined);
    expect((await world.ask("GET", SERVICES)).code).toBe(401);
    expect((await world.ask("GET", SERVICES, { token: "" })).code).toBe(401);
    expect((await world.ask("GET", "/healthz", { token: "" })).code).toBe(200);
    const told = lines.mock.calls.map(([line]) => String(line)).filter((line) => line.includes("no credential is configured"));
    lines.mockRestore();
    expect(told).toEqual([expect.stringMatching(/ADMIN_TOKEN_HASHES.*AUTHENTICATION_CONFIG/)]);
  });

  it.each([
    ["a.example", 200],
    ["b.example", 403],
    ["192.0.2.1", 200],
  ])("ALLOWED_HOSTS=a.example, asked as %s: %i", async (host, code) => {
    world = new AccessWorld({ ALLOWED_HOSTS: "a.example" });
    expect((await world.ask("GET", "/healthz", { token: "", host })).code).toBe(code);
  });

  it("variables that cannot be read: 500 that names them", async () => {
    world = new AccessWorld({ ADMIN_TOKEN_HASHES: "secret", AUTHENTICATION_CONFIG: "{" });
    const { code, body } = await world.ask("GET", SERVICES);
    expect([code, body.message]).toEqual([500, expect.stringMatching(/ADMIN_TOKEN_HASHES: .*AUTHENTICATION_CONFIG: /)]);
    expect(body.message).not.toContain("secret");
  });

  it("kubectl auth whoami: the user and his groups", async () => {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const answer = await world.ask("POST", path, { body: {} });
    expect(answer.body.status).toEqual({ userInfo: { username: "admin", groups: ["system:masters", "system:authenticated"] } });
  });

  it("AlwaysAllow: nobody is asked who he is", async () => {
    world = await new AccessWorld({ AUTHORIZATION_MODE: "AlwaysAllow" }).begin();
    expect((await world.ask("GET", SERVICES, { token: "" })).code).toBe(200);
  });

  it("AlwaysAllow: nobody makes tokens, which would be good when credentials are asked for again", async () => {
    world = await new AccessWorld({ AUTHORIZATION_MODE: "AlwaysAllow" }).begin();
    for (const method of ["GET", "POST"]) expect((await world.ask(method, "/admin/tokens", { token: "" })).code, method).toBe(403);
  });

  it("ANONYMOUS_AUTH: a request without a credential has the rights of system:anonymous", async () => {
    world = await new AccessWorld({ ANONYMOUS_AUTH: "true" }).begin();
    expect((await world.ask("GET", "/version", { token: "" })).code).toBe(200);
    const refused = await world.ask("GET", SERVICES, { token: "" });
    expect([refused.code, refused.body.message]).toEqual([
      403,
      'services is forbidden: User "system:anonymous" cannot list resource "services" in API group "" in the namespace "default"',
    ]);
  });

  it("ANONYMOUS_NODE_HEALTH: health checks of nodes need no credential, the list of nodes does", async () => {
    world = await new AccessWorld({ ANONYMOUS_NODE_HEALTH: "true" }).begin();
    expect((await world.ask("GET", "/nodes/n/livez", { token: "" })).code).toBe(200);
    expect((await world.ask("GET", "/nodes/targets", { token: "" })).code).toBe(401);
  });
});

describe("authorization", () => {
  it("a user without rules: discovery and reviews, and 403 in upstream's words for the rest", async () => {
    const token = await world.tokenOf("bob");
    for (const path of ["/version", "/api", "/apis", "/openapi/v3"]) expect((await world.ask("GET", path, { token })).code, path).toBe(200);
    const asks: [method: string, path: string, message: string][] = [
      ["GET", SERVICES, 'services is forbidden: User "bob" cannot list resource "services" in API group "" in the namespace "default"'],
      [
        "GET",
        `${SERVICES}/a`,
        'services "a" is forbidden: User "bob" cannot get resource "services" in API group "" in the namespace "default"',
      ],
      ["GET", "/api/v1/nodes", 'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope'],
      [
        "PATCH",
        `${SERVICES}/a/status`,
        'services "a" is forbidden: User "bob" cannot patch resource "services/status" in API group "" in the namespace "default"',
      ],
      ["GET", "/metrics", 'forbidden: User "bob" cannot get path "/metrics"'],
      ["PUT", "/clusters/blue", 'forbidden: User "bob" cannot put path "/clusters/blue"'],
      ["GET", "/admin/tokens", 'forbidden: User "bob" cannot get path "/admin/tokens"'],
    ];
    for (const [method, path, message] of asks) {
      const { code, body } = await world.ask(method, path, { token });
      expect([code, body.reason, body.message], `${method} ${path}`).toEqual([403, "Forbidden", message]);
    }
  });

  it("a rule that comes and goes: counts at once in this isolate's next look, and within five seconds", async () => {
    const token = await world.tokenOf("bob");
    const list = async () => (await world.ask("GET", SERVICES, { token })).code;
    /** Requests that begin five seconds after the change have this code, however long the machine takes. */
    const comesSoonTo = async (code: number): Promise<void> => {
      const changedAt = Date.now();
      for (let askedAt = changedAt; (await list()) !== code; askedAt = Date.now()) {
        expect(askedAt - changedAt).toBeLessThan(5_000);
        await scheduler.wait(200);
      }
    };
    expect(await list()).toBe(403);
    await world.make(`${RBAC}/clusterroles`, {
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["services"], verbs: ["list"] }],
    });
    await world.make(`${RBAC}/namespaces/default/rolebindings`, binding("bob", "reader", "bob"));
    await comesSoonTo(200);
    expect((await world.ask("GET", "/api/v1/services", { token })).code, "of all namespaces").toBe(403);
    await world.ask("DELETE", `${RBAC}/namespaces/default/rolebindings/bob`);
    await comesSoonTo(403);
  });

  it("kubectl auth can-i: what a user may, and why", async () => {
    await world.make(`${RBAC}/clusterroles`, {
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources: ["services"], verbs: ["list"] }],
    });
    await world.make(`${RBAC}/clusterrolebindings`, binding("group", "reader", "devs", "Group"));
    const token = await world.tokenOf("bob", { groups: ["devs"] });
    const may = async (verb: string) => {
      const spec = { resourceAttributes: { verb, resource: "services", namespace: "default" } };
      const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
      return (await world.ask("POST", path, { token, body: { spec } })).body.status;
    };
    expect(await may("list")).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "group" of ClusterRole "reader" to Group "devs"',
    });
    expect(await may("create")).toEqual({ allowed: false });
    const subject = { spec: { user: "x", groups: ["devs"], resourceAttributes: { verb: "list", resource: "services" } } };
    const asked = await world.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { body: subject });
    expect(asked.body.status).toMatchObject({ allowed: true });
    const rules = await world.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
      token,
      body: { spec: { namespace: "default" } },
    });
    expect(rules.body.status).toMatchObject({
      resourceRules: expect.arrayContaining([{ verbs: ["list"], apiGroups: [""], resources: ["services"] }]) as unknown,
      incomplete: false,
    });
  });

  it("a credential of one cluster: no other cluster, and nothing of the server", async () => {
    const own = freshCluster();
    await world.ask("PUT", `/clusters/${own}`);
    const token = await world.tokenOf("bob", { groups: ["system:masters"], clusters: [own] });
    expect((await world.ask("POST", `/clusters/${own}${SERVICES}`, { token, body: service("a") })).code).toBe(201);
    for (const path of [SERVICES, `/clusters/red${SERVICES}`, `/clusters/${own}`, "/admin/tokens", `/clusters/${own}/admin/tokens`]) {
      expect((await world.ask("GET", path, { token })).code, path).toBe(403);
    }
  });

  it("a cluster that another isolate has deleted: its users are refused, and no request fails", async () => {
    const token = await world.tokenOf("bob");
    expect((await world.ask("GET", "/version", { token })).code).toBe(200);
    await clusterRecord(world.env, world.cluster).remove();
    const codes = new Set<number>();
    const ask = async () => {
      const { code } = await world.ask("GET", "/version", { token });
      codes.add(code);
      return code;
    };
    await comesTo(403, ask);
    expect([...codes].filter((code) => ![200, 403, 503].includes(code))).toEqual([]);
  });

  it("an administrator of one cluster: the limits of a tenant hold", async () => {
    world = await new AccessWorld({ MAX_WATCHES_PER_USER: "1" }).begin();
    const scoped = await world.tokenOf("bob", { groups: ["system:masters"], clusters: [world.cluster] });
    const watch = `${SERVICES}?watch=true&resourceVersion=0`;
    const [first, second] = [await world.open(watch, scoped), await world.open(watch, scoped)];
    expect([first.status, second.status]).toEqual([200, 429]);
    await first.body?.cancel();
  });

  it("a write into a cluster that is not there: only an administrator of the server makes it", async () => {
    const typo = freshCluster("typo");
    const path = `/clusters/${typo}${SERVICES}`;
    const token = await world.tokenOf("bob", { groups: ["system:masters"], clusters: [typo] });
    expect((await world.ask("POST", path, { token, body: service("a") })).code).toBe(404);
    const nobody = await world.tokenOf("eve");
    expect((await world.ask("POST", path, { token: nobody, body: service("a") })).code).toBe(403);
    expect((await world.ask("POST", path, { body: service("a") })).code).toBe(201);
  });

  it("a token that was revoked: refused after half a minute at the latest", async () => {
    const token = await world.tokenOf("revoked");
    const list = await world.ask("GET", "/admin/tokens");
    const id = (list.body["items"] as { id: string; user: string }[]).find(({ user }) => user === "revoked")?.id ?? "";
    expect((await world.ask("GET", "/version", { token })).code).toBe(200);
    expect((await world.ask("DELETE", `/admin/tokens/${id}`)).code).toBe(200);
    // Another isolate has no answer to keep.
    expect((await new AccessWorld().ask("GET", "/version", { token })).code).toBe(401);
  });
});

describe("impersonation", () => {
  const as = (user: string, ...groups: string[]) => ({
    "Impersonate-User": user,
    ...(groups.length > 0 ? { "Impersonate-Group": groups.join(",") } : {}),
  });

  it("an administrator acts as a user: the user's rights count", async () => {
    const refused = await world.ask("GET", SERVICES, { headers: as("jane") });
    expect([refused.code, refused.body.message]).toEqual([403, expect.stringContaining('User "jane" cannot list resource "services"')]);
    expect((await world.ask("GET", SERVICES, { headers: as("jane", "system:masters") })).code).toBe(200);
  });

  it("a user without the right: refused, whoever is acted as", async () => {
    const token = await world.tokenOf("bob");
    const refused = await world.ask("GET", SERVICES, { token, headers: as("jane", "system:masters") });
    expect([refused.code, refused.body.message]).toEqual([403, expect.stringContaining('User "bob" cannot impersonate resource "users"')]);
  });
});

describe("escalation", () => {
  const grantAll = { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] };
  const manager = async (): Promise<string> => {
    await world.make(`${RBAC}/clusterroles`, {
      metadata: { name: "manages-roles" },
      rules: [
        {
          apiGroups: ["rbac.authorization.k8s.io"],
          resources: ["roles", "rolebindings"],
          verbs: ["get", "list", "create", "update", "patch"],
        },
        { apiGroups: [""], resources: ["services"], verbs: ["get"] },
      ],
    });
    await world.make(`${RBAC}/namespaces/default/rolebindings`, binding("m", "manages-roles", "bob"));
    return world.tokenOf("bob");
  };
  const ROLES = `${RBAC}/namespaces/default/roles`;
  const apply = { "Content-Type": "application/apply-patch+yaml" };
  const typed = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" };

  it("rights that the writer does not hold: refused by every verb, and nothing is written", async () => {
    const token = await manager();
    const held = { rules: [{ apiGroups: [""], resources: ["services"], verbs: ["get"] }] };
    expect((await world.ask("POST", ROLES, { token, body: { metadata: { name: "mine" }, ...held } })).code).toBe(201);
    const tries: [method: string, path: string, body: unknown, headers: Record<string, string>][] = [
      ["POST", ROLES, { metadata: { name: "more" }, ...grantAll }, {}],
      ["PUT", `${ROLES}/mine`, { metadata: { name: "mine" }, ...grantAll }, {}],
      ["PUT", `${ROLES}/other`, { metadata: { name: "other" }, ...grantAll }, {}],
      ["PATCH", `${ROLES}/mine`, grantAll, { "Content-Type": "application/merge-patch+json" }],
      ["PATCH", `${ROLES}/mine`, grantAll, { "Content-Type": "application/strategic-merge-patch+json" }],
      [
        "PATCH",
        `${ROLES}/mine`,
        [{ op: "replace", path: "/rules", value: grantAll.rules }],
        { "Content-Type": "application/json-patch+json" },
      ],
      ["PATCH", `${ROLES}/mine?fieldManager=x&force=true`, { ...typed, metadata: { name: "mine" }, ...grantAll }, apply],
      ["PATCH", `${ROLES}/applied?fieldManager=x`, { ...typed, metadata: { name: "applied" }, ...grantAll }, apply],
    ];
    for (const [method, path, body, headers] of tries) {
      const answer = await world.ask(method, path, { token, body, headers });
      expect([answer.code, answer.body.message], `${method} ${path}`).toEqual([
        403,
        expect.stringContaining("is attempting to grant RBAC permissions not currently held"),
      ]);
    }
    const list = await world.ask("GET", ROLES);
    expect(
      (list.body["items"] as { metadata: { name: string }; rules: unknown }[])
        .filter(({ metadata }) => metadata.name !== "")
        .map(({ metadata, rules }) => [metadata.name, rules]),
    ).toEqual([["mine", held.rules]]);
  });

  it("a role that the writer does not hold: not bound", async () => {
    const token = await manager();
    const refused = await world.ask("POST", `${RBAC}/namespaces/default/rolebindings`, {
      token,
      body: binding("up", "cluster-admin", "bob"),
    });
    expect([refused.code, refused.body.message]).toEqual([
      403,
      expect.stringContaining("is attempting to grant RBAC permissions not currently held"),
    ]);
    const unchanged = await world.ask("PATCH", `${RBAC}/namespaces/default/rolebindings/m`, {
      token,
      body: { metadata: { labels: { a: "b" } } },
      headers: { "Content-Type": "application/merge-patch+json" },
    });
    expect(unchanged.code, "a role whose rights he holds").toBe(200);
  });
});

describe("rules that are too large", () => {
  const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
  /** 1.4 MB */
  const large = (name: string) => ({
    ...binding(name, "view", "bob"),
    subjects: Array.from({ length: 20_000 }, (_, i) => ({
      kind: "User",
      name: `user-${String(i)}`,
      apiGroup: "rbac.authorization.k8s.io",
    })),
  });

  it("a user who may bind in one namespace: cannot make them so large, not with many requests at once either", async () => {
    const rules = [
      { apiGroups: ["rbac.authorization.k8s.io"], resources: ["rolebindings"], verbs: ["create", "update"] },
      { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["bind"] },
      { apiGroups: [""], resources: ["services"], verbs: ["list"] },
    ];
    await world.make(`${RBAC}/clusterroles`, { metadata: { name: "binds" }, rules });
    await world.make(BINDINGS, binding("binds", "binds", "bob"));
    const token = await world.tokenOf("bob");
    const made = await Promise.all(
      ["a", "b", "c", "d", "e", "f", "g"].map((name) => world.ask("POST", BINDINGS, { token, body: large(name) })),
    );
    expect(made.map(({ code }) => code).sort()).toEqual([201, 201, 201, 201, 403, 403, 403]);
    expect(made.find(({ code }) => code === 403)?.body.message).toMatch(
      /^rolebindings\.rbac\.authorization\.k8s\.io "[a-g]" is forbidden: the roles and bindings of the cluster would have more than 6291456 characters together$/,
    );
    expect((await world.ask("GET", SERVICES, { token })).code).toBe(200);
    const name = ["a", "b", "c", "d", "e", "f", "g"][made.findIndex(({ code }) => code === 201)] ?? "";
    expect((await world.ask("PUT", `${BINDINGS}/${name}`, { token, body: binding(name, "view", "bob") })).code).toBe(200);
    expect((await world.ask("POST", BINDINGS, { token, body: large("h") })).code).toBe(201);
  });

  it("an administrator: lists and deletes the objects while users are 503", async () => {
    const token = await world.tokenOf("bob");
    for (const name of ["a", "b", "c", "d", "e", "f", "g"]) await world.make(BINDINGS, large(name));
    const list = async () => (await world.ask("GET", SERVICES, { token })).code;
    await comesTo(503, list);
    for (const path of [SERVICES, BINDINGS, "/apis/rbac.authorization.k8s.io/v1"])
      expect((await world.ask("GET", path)).code, path).toBe(200);
    const spec = { resourceAttributes: { verb: "list", resource: "services" } };
    expect((await world.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { body: { spec } })).code).toBe(201);
    for (const name of ["a", "b"]) expect((await world.ask("DELETE", `${BINDINGS}/${name}`)).code).toBe(200);
    await comesTo(403, list);
  });
});

describe("the old form of watches", () => {
  it("a user who may only read: no action, review or deletion behind it", async () => {
    const reads = { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }] };
    await world.make(`${RBAC}/clusterroles`, { metadata: { name: "reads" }, ...reads });
    await world.make(`${RBAC}/clusterrolebindings`, binding("reads", "reads", "bob"));
    const token = await world.tokenOf("bob");
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    await world.make("/api/v1/namespaces/default/pods", pod);
    const asks: [path: string, body: object][] = [
      ["bindings", { metadata: { name: "p" }, target: { kind: "Node", name: "n" } }],
      ["pods/p/eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } }],
      ["serviceaccounts/default/token", { spec: {} }],
    ];
    for (const [path, body] of asks) {
      const answer = await world.ask("POST", `/api/v1/watch/namespaces/default/${path}`, { token, body });
      expect(answer.code, path).toBe(403);
      expect((await world.ask("POST", `/api/v1/watch/namespaces/default/${path}`, { body })).code, path).toBe(405);
    }
    const { body } = await world.ask("GET", "/api/v1/namespaces/default/pods/p");
    expect(body).toMatchObject({ spec: expect.not.objectContaining({ nodeName: "n" }) as unknown });
    expect((await world.ask("DELETE", "/api/v1/watch/namespaces/default/pods/p", { token })).code).toBe(403);
  });
});

describe("nodes and agents", () => {
  const node = (name: string) => ({ metadata: { name } });
  const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  const pod = (name: string, nodeName: string) => ({ metadata: { name }, spec: { nodeName, containers: [{ name: "c", image: "i" }] } });
  const PODS = "/api/v1/namespaces/default/pods";

  it("an agent: its own Node, Lease, reports and Pods, and no other's", async () => {
    await world.make("/api/v1/nodes", node("n2"));
    await world.make(PODS, pod("theirs", "n2"));
    const token = await world.tokenOf("servicenet:agent:n1", { groups: ["servicenet:agents"] });
    const code = async (method: string, path: string, body?: unknown) => (await world.ask(method, path, { token, body })).code;
    expect(await code("POST", "/api/v1/nodes", node("n1"))).toBe(201);
    expect(await code("POST", "/api/v1/nodes", node("n3"))).toBe(403);
    expect(await code("GET", "/api/v1/nodes/n1")).toBe(200);
    expect(await code("GET", "/api/v1/nodes/n2")).toBe(403);
    expect(await code("POST", LEASES, { metadata: { name: "n1" } })).toBe(201);
    expect(await code("POST", LEASES, { metadata: { name: "n2" } })).toBe(403);
    const report = { IPv4: { queuedForMs: 0, appliedAgoMs: 0 } };
    expect(await code("PUT", "/api/v1/nodes/n1/proxy-health", report)).toBe(200);
    expect(await code("PUT", "/api/v1/nodes/n2/proxy-health", report)).toBe(403);
    expect(await code("POST", PODS, pod("mine", "n1"))).toBe(201);
    expect(await code("POST", PODS, pod("foreign", "n2"))).toBe(403);
    expect(await code("GET", `${PODS}/mine`)).toBe(200);
    expect(await code("GET", `${PODS}/theirs`)).toBe(403);
    expect(await code("GET", `${PODS}/nothing`)).toBe(403);
    expect(await code("DELETE", `${PODS}/theirs`)).toBe(403);
    expect(await code("DELETE", PODS)).toBe(403);
    expect(await code("DELETE", `${PODS}/mine?gracePeriodSeconds=0`)).toBe(200);
    expect(await code("GET", "/api/v1/services")).toBe(403);
    expect(await code("GET", "/api/v1/namespaces/default/secrets")).toBe(403);
  });
});

it("an agent whose token is for a namespace and a label: Pods there with that label, and no others", async () => {
  await world.make("/api/v1/namespaces", { metadata: { name: "shop" } });
  const limits = { agentNamespaces: ["shop"], agentLabels: ["app=web"] };
  const token = await world.tokenOf("servicenet:agent:n1", { groups: ["servicenet:agents"], ...limits });
  const pod = (name: string, labels: object) => ({
    metadata: { name, labels },
    spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
  });
  const create = (namespace: string, body: object) => world.ask("POST", `/api/v1/namespaces/${namespace}/pods`, { token, body });
  expect((await create("shop", pod("a", { app: "web" }))).code).toBe(201);
  const refused = await create("default", pod("a", { app: "web" }));
  expect([refused.code, JSON.stringify(refused.body)]).toEqual([
    403,
    expect.stringContaining('is not for pods in the namespace \\"default\\"'),
  ]);
  expect((await create("shop", pod("b", { app: "db" }))).code).toBe(403);
  const headers = { "Content-Type": "application/merge-patch+json" };
  const patch = { token, headers, body: { metadata: { labels: { role: "x" } } } };
  expect((await world.ask("PATCH", "/api/v1/namespaces/shop/pods/a", patch)).code).toBe(403);
  await world.make("/api/v1/namespaces/shop/pods", pod("db", { app: "db" }));
  const db = "/api/v1/namespaces/shop/pods/db";
  const relabelled = { metadata: { labels: { app: "web" } } };
  const writes: [string, string, object][] = [
    ["DELETE", `${db}?gracePeriodSeconds=0`, {}],
    ["PATCH", db, { headers, body: relabelled }],
    ["PATCH", `${db}/status`, { headers, body: { status: { podIP: "10.0.0.9" } } }],
    ["POST", `${db}/eviction`, { body: { metadata: { name: "db", namespace: "shop" } } }],
  ];
  for (const [method, path, more] of writes) expect([path, (await world.ask(method, path, { token, ...more })).code]).toEqual([path, 403]);
  expect((await world.ask("GET", db)).body).toMatchObject({ metadata: { labels: { app: "db" } } });
  expect((await world.ask("DELETE", "/api/v1/namespaces/shop/pods/a?gracePeriodSeconds=0", { token })).code).toBe(200);
});

describe("limits of watches", () => {
  it("a user with as many watches as he may have: 429 with Retry-After until one has ended; others may go on", async () => {
    world = await new AccessWorld({ MAX_WATCHES_PER_USER: "2" }).begin();
    const [ann, bob] = [await world.tokenOf("ann"), await world.tokenOf("bob")];
    const rules = [{ verbs: ["watch"], apiGroups: [""], resources: ["services", "pods"] }];
    await world.make(`${RBAC}/clusterroles`, { metadata: { name: "watcher" }, rules });
    for (const user of ["ann", "bob"]) await world.make(`${RBAC}/clusterrolebindings`, binding(user, "watcher", user));
    const watching = `${SERVICES}?watch=true`;
    // Both are kept: the platform may cancel an answer that nobody holds.
    const [first, second] = [await world.open(watching, ann), await world.open(watching, ann)];
    expect([first.status, second.status]).toEqual([200, 200]);
    const refused = await world.ask("GET", watching, { token: ann });
    expect(refused).toMatchObject({ code: 429, body: { kind: "Status", reason: "TooManyRequests" } });
    expect(refused.headers.get("Retry-After")).toBe("10");
    expect((await world.ask("GET", "/api/v1/pods?watch=true", { token: ann })).code).toBe(200);
    for (const token of [bob, undefined]) expect((await world.ask("GET", watching, token ? { token } : {})).code).toBe(200);
    await first.body?.cancel();
    await vi.waitFor(async () => expect((await world.ask("GET", watching, { token: ann })).code).toBe(200), PATIENCE);
    await second.body?.cancel();
  });

  it("a user with as many polls of proxies as he may have waiting: 429 until one has ended, also with an ETag of his own making", async () => {
    world = await new AccessWorld({ MAX_WATCHES_PER_USER: "1" }).begin();
    const token = await world.tokenOf("ann", { groups: ["system:masters"], clusters: [world.cluster] });
    await world.make("/api/v1/nodes", { metadata: { name: "n1" } });
    const page = "/api/v1/nodes/n1/proxy-config";
    let etag = (await world.ask("GET", page, { token })).headers.get("ETag") ?? "";
    const poll = (seconds: number, given = etag) =>
      world.ask("GET", `${page}?timeoutSeconds=${seconds}`, { token, headers: { "If-None-Match": given } });
    let isWritten = false;
    // What the beginning of the cluster still writes may end it, too.
    const untilWritten = async (): Promise<Awaited<ReturnType<typeof poll>>> => {
      const answer = await poll(60);
      etag = answer.headers.get("ETag") ?? etag;
      return isWritten ? answer : untilWritten();
    };
    const first = untilWritten();
    await vi.waitFor(async () => expect((await poll(1)).code).toBe(429), PATIENCE);
    const made = etag.replace(/^("p1\.\d+\.)[^.]+/, "$1another");
    await vi.waitFor(async () => expect((await poll(1, made)).code).toBe(429), PATIENCE);
    isWritten = true;
    await world.make(SERVICES, service("a"));
    expect((await first).code).toBe(200);
    await vi.waitFor(async () => expect((await poll(1)).code).not.toBe(429), PATIENCE);
  });
});
