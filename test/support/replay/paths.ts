/** Paths that no kind alone serves: discovery, OpenAPI, health, subresources that create, and paths that lead nowhere. */
import { alone, APPLY_PATCH, type Case, get, type Group, MERGE_PATCH, patch, post, put, remove, type Step } from "./step";

const DISCOVERY = [
  "/api",
  "/api/",
  "/apis",
  "/apis/",
  "/api/v1",
  "/api/v1/",
  "/apis/networking.k8s.io",
  "/apis/networking.k8s.io/v1",
  "/apis/networking.k8s.io/v1beta1",
  "/apis/discovery.k8s.io/v1",
  "/apis/coordination.k8s.io/v1",
  "/apis/events.k8s.io/v1",
  "/apis/rbac.authorization.k8s.io/v1",
  "/apis/authorization.k8s.io/v1",
  "/apis/authentication.k8s.io/v1",
];

const AGGREGATED = "application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList";

const NOWHERE = [
  "/api/v2",
  "/api/v1/nothing",
  "/api/v1/nothing/x",
  "/api/v1/namespaces/$NS/nothing",
  "/api/v1/namespaces/$NS/nothing/x",
  "/api/v1/namespaces/$NS/nothing/x/status",
  "/api/v1/namespaces//services/x",
  "/api/v1//services",
  "/api//v1/services",
  "//api/v1/services",
  "/api/v1/namespaces/$NS/services/",
  "/api/v1/namespaces/$NS/services//",
  "/api/v1/namespaces/$NS/services/a/",
  "/api/v1/namespaces/$NS/services/a//status",
  "/api/v1/namespaces/$NS/services/a/b/c/d",
  "/api/v1/namespaces/$NS/services/%2e%2e",
  "/api/v1/namespaces/$NS/services/a%2Fb",
  "/api/v1/namespaces/$NS/services/a%",
  "/api/v1/namespaces/$NS/services/Upper_Case",
  "/api/v1/namespaces/$NS/services/%C3%A4",
  "/api/v1/namespaces/$NS/nodes",
  "/api/v1/namespaces/Bad_Name/services",
  "/api/v1/services/a",
  "/api/v1/watch",
  "/api/v1/watch/nothing",
  "/api/v1/proxy/nodes/x",
  "/apis/made-up.example.com",
  "/apis/made-up.example.com/v1",
  "/apis/made-up.example.com/v1/things",
  "/apis/made-up.example.com/v1/namespaces/$NS/things/x",
  "/apis/networking.k8s.io/v7",
  "/apis/networking.k8s.io/v7/ipaddresses",
  "/apis/networking.k8s.io/v1/nothing",
  "/apis/networking.k8s.io/v1/namespaces/$NS/ipaddresses",
  "/apis/v1/services",
  "/API/v1/services",
  "/nothing",

  "/healthz/",
  "/healthz/nothing",
  "/livez/nothing",
  "/readyz/nothing",
  "/openapi",
  "/openapi/v3/nothing",
  "/openapi/v3/apis/made-up",
  "/.well-known/nothing",
  "/apis/networking.k8s.io/v1/servicecidrs/kubernetes/nothing",
];

const served = (path: string, accept?: string): Step => ({ ...get(path, accept), onlyServed: true });

function* discoveryCases(): Generator<Case> {
  for (const path of DISCOVERY) yield alone(path, served(path));
  for (const path of ["/api", "/apis"]) {
    yield alone(`${path} aggregated`, served(path, AGGREGATED));
    yield alone(`${path} aggregated, v2beta1`, served(path, AGGREGATED.replace("v2", "v2beta1")));
    yield alone(`${path} aggregated or plain`, served(path, `${AGGREGATED},application/json`));
    yield alone(`${path} as text`, get(path, "text/plain"));
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) yield alone(`${method} ${path}`, { method, path, body: {} });
  }
  for (const path of ["/api/v1", "/apis/networking.k8s.io", "/apis/networking.k8s.io/v1"]) {
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) yield alone(`${method} ${path}`, { method, path, body: {} });
    yield alone(`${path} as text`, get(path, "text/plain"));
  }
}

function* nowhereCases(): Generator<Case> {
  for (const path of NOWHERE) yield alone(path, get(path));
  for (const path of ["/nothing", "/api/v1/nothing", "/apis/made-up.example.com/v1/things", "/api/v1/namespaces/$NS/services/a/b/c/d"]) {
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) yield alone(`${method} ${path}`, { method, path, body: {} });
  }
}

const review = "/apis/authorization.k8s.io/v1";
const HEALTH = ["/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/ping", "/readyz/ping"];

function* otherCases(): Generator<Case> {
  for (const path of HEALTH) {
    yield alone(path, get(path));
    yield alone(`POST ${path}`, post(path, {}));
  }
  yield alone("POST /version", post("/version", {}));
  yield alone("DELETE /version", remove("/version"));
  const account = "/api/v1/namespaces/$NS/serviceaccounts/a";
  const token = (spec: unknown) => post(`${account}/token`, { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec });
  yield {
    name: "tokens",
    steps: [
      token({ audiences: ["x"] }),
      post("/api/v1/namespaces/$NS/serviceaccounts", { metadata: { name: "a" } }),
      token({ audiences: ["x"], expirationSeconds: 600 }),
      token({ audiences: ["x"], expirationSeconds: 599 }),
      token({ audiences: ["x"], expirationSeconds: 4_294_967_297 }),
      token({ audiences: ["x"], expirationSeconds: -1 }),
      token({ audiences: ["x"], boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "no" } }),
      token({ audiences: ["x"], boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "no" } }),
      token({ audiences: [""] }),
      token({ audiences: "x" }),
      post(`${account}/token`, { apiVersion: "v1", kind: "TokenRequest" }),
      post(`${account}/token`, { metadata: { name: "other" }, spec: { audiences: ["x"] } }),
      post(`${account}/token`, "{"),
      post(`${account}/token?dryRun=All`, { spec: { audiences: ["x"] } }),
      get(`${account}/token`),
      put(`${account}/token`, {}),
    ],
  };
  const pods = "/api/v1/namespaces/$NS/pods";
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "i" }] } };
  const binding = (target: unknown, metadata: object = { name: "p" }) => ({ apiVersion: "v1", kind: "Binding", metadata, target });
  yield {
    name: "binding",
    steps: [
      post(`${pods}/p/binding`, binding({ kind: "Node", name: "n" })),
      post(pods, pod),
      post(`${pods}/p/binding`, binding({ kind: "Service", name: "n" })),
      post(`${pods}/p/binding`, binding({ kind: "Node" })),
      post(`${pods}/p/binding`, binding({ name: "n" }, { name: "other" })),
      post(`${pods}/p/binding`, binding(null)),
      post(`${pods}/p/binding`, { kind: "Other" }),
      post(`${pods}/p/binding?dryRun=All`, binding({ kind: "Node", name: "n" })),
      post(`${pods}/p/binding`, binding({ name: "n" }, { name: "p", uid: "other" })),
      post(`${pods}/p/binding`, binding({ kind: "Node", name: "n" })),
      post(`${pods}/p/binding`, binding({ kind: "Node", name: "n" })),
      post("/api/v1/namespaces/$NS/bindings", binding({ kind: "Node", name: "n" })),
      get("/api/v1/namespaces/$NS/bindings"),
      get(`${pods}/p/binding`),
      get(`${pods}/p`),
      remove(`${pods}/p`),
      get(`${pods}/p`),
      remove(`${pods}/p?gracePeriodSeconds=5`),
      remove(`${pods}/p?gracePeriodSeconds=0`),
      get(`${pods}/p`),
    ],
  };
  const eviction = (metadata: object = { name: "e" }, more: object = {}) => ({
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata,
    ...more,
  });
  yield {
    name: "eviction",
    steps: [
      post(`${pods}/e/eviction`, eviction()),
      post(pods, { ...pod, metadata: { name: "e" } }),
      post(`${pods}/e/eviction`, eviction({ name: "other" })),
      post(`${pods}/e/eviction`, eviction({ name: "e" }, { deleteOptions: { preconditions: { uid: "other" } } })),
      post(`${pods}/e/eviction`, eviction({ name: "e" }, { deleteOptions: { propagationPolicy: "Other" } })),
      post(`${pods}/e/eviction`, eviction({ name: "e" }, { apiVersion: "policy/v2" })),
      post(`${pods}/e/eviction?dryRun=All`, eviction()),
      post(`${pods}/e/eviction`, eviction({ name: "e" }, { apiVersion: "policy/v1beta1" })),
      post(`${pods}/e/eviction`, eviction()),
      get(`${pods}/e/eviction`),
      get(`${pods}/e`),
    ],
  };
  for (const name of ["log", "exec", "attach", "portforward", "ephemeralcontainers", "resize", "proxy", "nothing"])
    yield alone(`pods/${name}`, get(`${pods}/none/${name}`));
  const finalized = "/api/v1/namespaces/replay-finalized";
  yield {
    name: "namespaces that end",
    steps: [
      post("/api/v1/namespaces", { metadata: { name: "replay-finalized" } }),
      put(`${finalized}/finalize`, { metadata: { name: "other" } }),
      put(`${finalized}/finalize`, "{"),
      get(`${finalized}/finalize`),
      remove(`${finalized}?dryRun=All`),
      remove(finalized),
      remove(finalized),
      get(finalized),
      post(`${finalized}/configmaps`, { metadata: { name: "late" } }),
      put(`${finalized}/configmaps/late`, { metadata: { name: "late" } }),
      patch(`${finalized}/services/late?fieldManager=a`, APPLY_PATCH, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "late" },
        spec: { ports: [{ port: 80 }] },
      }),
      patch(finalized, MERGE_PATCH, { spec: { finalizers: [] } }),
      put(`${finalized}/finalize`, { metadata: { name: "replay-finalized" }, spec: { finalizers: [] } }),
      get(finalized),
    ],
  };
  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"])
    yield alone(`delete namespace ${name}`, remove(`/api/v1/namespaces/${name}?dryRun=All`));
  yield alone("delete Service kubernetes", remove("/api/v1/namespaces/default/services/kubernetes?dryRun=All"));
  yield alone("Service kubernetes", get("/api/v1/namespaces/default/services/kubernetes"));
  yield alone("ServiceCIDR kubernetes", get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes"));
  yield alone("delete of a list of namespaces", remove("/api/v1/namespaces"));
  const access = (spec: unknown) => post(`${review}/selfsubjectaccessreviews`, { spec });
  yield alone("may I", access({ resourceAttributes: { verb: "get", resource: "pods" } }));
  yield alone(
    "may I, both",
    access({ resourceAttributes: { verb: "get", resource: "pods" }, nonResourceAttributes: { path: "/", verb: "get" } }),
  );
  yield alone("may I, nothing", access({}));
  yield alone("may I, no spec", post(`${review}/selfsubjectaccessreviews`, {}));
  yield alone(
    "may I, a selector",
    access({
      resourceAttributes: {
        verb: "list",
        resource: "pods",
        labelSelector: { rawSelector: "a", requirements: [{ key: "a", operator: "In", values: ["b"] }] },
      },
    }),
  );
  yield alone(
    "may I, with a name",
    post(`${review}/selfsubjectaccessreviews`, { metadata: { name: "x" }, spec: { resourceAttributes: { verb: "get" } } }),
  );
  yield alone(
    "may he, no user",
    post(`${review}/subjectaccessreviews`, { spec: { resourceAttributes: { verb: "get", resource: "pods" } } }),
  );
  yield alone(
    "may he, both",
    post(`${review}/subjectaccessreviews`, { spec: { user: "u", resourceAttributes: {}, nonResourceAttributes: {} } }),
  );
  yield alone(
    "may he, here",
    post(`${review}/namespaces/$NS/localsubjectaccessreviews`, {
      metadata: { namespace: "$NS" },
      spec: { user: "u", resourceAttributes: { verb: "get", namespace: "other" } },
    }),
  );
  yield alone(
    "may he, here, no resource",
    post(`${review}/namespaces/$NS/localsubjectaccessreviews`, { spec: { user: "u", nonResourceAttributes: { path: "/" } } }),
  );
  yield alone("my rules, no namespace", post(`${review}/selfsubjectrulesreviews`, { spec: {} }));
  yield alone("get of reviews", get(`${review}/selfsubjectaccessreviews`));
  yield alone("TokenReview of nothing", post("/apis/authentication.k8s.io/v1/tokenreviews", { spec: {} }));
  yield alone("TokenReview of a word", post("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "word" } }));
  yield alone(
    "TokenReview in a namespace",
    post("/apis/authentication.k8s.io/v1/tokenreviews", { metadata: { namespace: "a" }, spec: { token: "word" } }),
  );
}

function* columnCases(): Generator<Case> {
  const quota = "/api/v1/namespaces/$NS/resourcequotas";
  const maps = "/api/v1/namespaces/$NS/configmaps";
  yield {
    name: "quota",
    steps: [
      post(quota, { metadata: { name: "q" }, spec: { hard: { "count/configmaps": "1" } } }),
      post(maps, { metadata: { name: "before-status" } }),
      patch(`${quota}/q/status`, MERGE_PATCH, { status: { hard: { "count/configmaps": "1" }, used: { "count/configmaps": "0" } } }),
      post(`${maps}?dryRun=All`, { metadata: { name: "a" } }),
      post(maps, { metadata: { name: "a" } }),
      post(maps, { metadata: { name: "b" } }),
      post(`${maps}?dryRun=All`, { metadata: { name: "b" } }),
      put(`${maps}/c`, { metadata: { name: "c" } }),
      patch(`${maps}/d?fieldManager=a`, APPLY_PATCH, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "d" } }),
      get(`${quota}/q`),
      remove(`${maps}/a`),
      patch(quota + "/q", MERGE_PATCH, {
        spec: { hard: { "requests.cpu": "1", "limits.memory": "1Gi", services: "-1", "x/y": "1", nonsense: "1", pods: "1.5" } },
      }),
      patch(quota + "/q", MERGE_PATCH, { spec: { scopes: ["BestEffort"] } }),
    ],
  };
  const immutable = { metadata: { name: "fixed" }, immutable: true, data: { a: "1" } };
  yield {
    name: "immutable ConfigMap",
    steps: [
      post(maps, immutable),
      patch(`${maps}/fixed`, MERGE_PATCH, { data: { a: "2" } }),
      patch(`${maps}/fixed`, MERGE_PATCH, { immutable: false }),
      patch(`${maps}/fixed`, MERGE_PATCH, { binaryData: { b: "MQ==" } }),
      patch(`${maps}/fixed`, MERGE_PATCH, { metadata: { labels: { a: "b" } } }),
      remove(`${maps}/fixed`),
    ],
  };
  const keys = { "": "a", "a b": "b", "..": "c", ".a": "d", "a/b": "e", ["k".repeat(254)]: "f", "ok_1.A-": "g" };
  yield alone(
    "keys of a ConfigMap",
    post(`${maps}?dryRun=All`, { metadata: { name: "k" }, data: keys, binaryData: { "ok_1.A-": "MQ==", ok: "not base64!" } }),
  );
  yield alone(
    "keys twice in a ConfigMap",
    post(`${maps}?dryRun=All`, { metadata: { name: "k" }, data: keys, binaryData: { "ok_1.A-": "MQ==" } }),
  );
  yield alone("a large ConfigMap", post(`${maps}?dryRun=All`, { metadata: { name: "k" }, data: { a: "x".repeat(1_048_577) } }));
  const secrets = "/api/v1/namespaces/$NS/secrets";
  for (const type of [
    "Opaque",
    "kubernetes.io/service-account-token",
    "kubernetes.io/dockercfg",
    "kubernetes.io/dockerconfigjson",
    "kubernetes.io/basic-auth",
    "kubernetes.io/ssh-auth",
    "kubernetes.io/tls",
    "bootstrap.kubernetes.io/token",
  ]) {
    yield alone(`Secret of type ${type}`, post(`${secrets}?dryRun=All`, { metadata: { name: "s" }, type }));
    yield alone(
      `Secret of type ${type} with wrong data`,
      post(`${secrets}?dryRun=All`, {
        metadata: { name: "s" },
        type,
        stringData: { ".dockercfg": "x", ".dockerconfigjson": "x", "tls.crt": "x" },
      }),
    );
  }
  yield {
    name: "Secret changed",
    steps: [
      post(secrets, { metadata: { name: "s" }, data: { a: "MQ==" }, stringData: { a: "2", b: "3" } }),
      patch(`${secrets}/s`, MERGE_PATCH, { type: "other" }),
      patch(`${secrets}/s`, MERGE_PATCH, { stringData: { c: "4" } }),
      patch(`${secrets}/s`, MERGE_PATCH, { immutable: true }),
      patch(`${secrets}/s`, MERGE_PATCH, { data: { a: "Mw==" } }),
      get(`${secrets}?fieldSelector=type%3DOpaque`),
      remove(secrets),
    ],
  };
  const slices = "/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices";
  const slice = (addressType: unknown, addresses: unknown, more: object = {}) => ({
    metadata: { name: "e" },
    addressType,
    endpoints: [{ addresses }],
    ports: [],
    ...more,
  });
  for (const [type, addresses] of [
    ["IPv4", ["2001:db8::1"]],
    ["IPv4", ["127.0.0.1", "169.254.1.1", "224.0.0.1", "0.0.0.0"]],
    ["IPv4", ["010.1.2.3"]],
    ["IPv4", []],
    ["IPv4", Array.from({ length: 101 }, (_none, i) => `192.0.2.${String(i)}`)],
    ["IPv6", ["192.0.2.1"]],
    ["IPv6", ["fe80::1", "::1", "::", "ff02::1"]],
    ["IPv6", ["2001:DB8::1"]],
    ["FQDN", ["a.b", "a", "A.b", "192.0.2.1", "a_b.c"]],
    ["Other", ["x"]],
    ["", ["192.0.2.1"]],
  ] as const) {
    yield alone(
      `slice ${type} ${addresses.slice(0, 2).join(" ")} ${String(addresses.length)}`,
      post(`${slices}?dryRun=All`, slice(type, addresses)),
    );
  }
  yield alone(
    "slice with a thousand and one endpoints",
    post(`${slices}?dryRun=All`, { ...slice("IPv4", []), endpoints: Array.from({ length: 1_001 }, () => ({ addresses: ["192.0.2.1"] })) }),
  );
  yield alone(
    "slice with ports twice",
    post(
      `${slices}?dryRun=All`,
      slice("IPv4", ["192.0.2.1"], { ports: [{ port: 1 }, { port: 2 }, { name: "A" }, { name: "a", protocol: "X", port: 0 }] }),
    ),
  );
  yield {
    name: "slice changed",
    steps: [
      post(slices, slice("IPv4", ["192.0.2.1"])),
      patch(`${slices}/e`, MERGE_PATCH, { addressType: "IPv6" }),
      patch(`${slices}/e`, MERGE_PATCH, { addressType: "IPv6", endpoints: [] }),
      patch(`${slices}/e`, MERGE_PATCH, { endpoints: null, ports: null }),
      patch(`${slices}/e`, MERGE_PATCH, { metadata: { labels: { "kubernetes.io/service-name": "s" } } }),
      get(slices),
    ],
  };
  const cidrs = "/apis/networking.k8s.io/v1/servicecidrs";
  const cidr = (list: unknown) => post(`${cidrs}?dryRun=All`, { metadata: { name: "replay-tried" }, spec: { cidrs: list } });
  for (const list of [
    [],
    ["10.0.0.0/8", "10.1.0.0/16"],
    ["10.0.0.1/8"],
    ["010.0.0.0/8"],
    ["10.0.0.0"],
    ["x"],
    [""],
    ["10.0.0.0/33"],
    ["10.0.0.0/31"],
    ["10.0.0.0/32"],
    ["fd00::/112", "fd01::/112"],
    ["fd00::/8"],
    ["fd00::1/112"],
    ["FD00::/112"],
    ["::ffff:10.0.0.0/104"],
    ["10.0.0.0/24", "fd00::/112", "10.0.1.0/24"],
    ["127.0.0.0/8"],
    ["0.0.0.0/0"],
  ]) {
    yield alone(`ServiceCIDR [${list.join(", ")}] of ${String(list.length)}`, cidr(list));
  }
  const addresses = "/apis/networking.k8s.io/v1/ipaddresses";
  const address = (name: string, parentRef: unknown) => post(`${addresses}?dryRun=All`, { metadata: { name }, spec: { parentRef } });
  for (const name of ["10.0.0.1", "fd00::1", "fd00:0::1", "FD00::1", "::ffff:10.0.0.1", "10.0.0.01", "10.0.0.0/8", "x"])
    yield alone(`IPAddress ${name}`, address(name, { resource: "services", name: "s", namespace: "n" }));
  for (const [name, parent] of Object.entries({
    none: null,
    empty: {},
    "without name": { resource: "services" },
    "without resource": { name: "s" },
    "of a bad group": { group: "A B", resource: "services", name: "s" },
    "of a bad resource": { resource: "a/b", name: "s" },
    "of a bad name": { resource: "services", name: "a/b", namespace: ".." },
  })) {
    yield alone(`IPAddress, parent ${name}`, address("10.0.0.1", parent));
  }
  const leases = "/apis/coordination.k8s.io/v1/namespaces/$NS/leases";
  for (const [name, spec] of Object.entries({
    "duration 0": { leaseDurationSeconds: 0 },
    "duration negative": { leaseDurationSeconds: -1 },
    "transitions negative": { leaseTransitions: -1 },
    "holder empty": { holderIdentity: "" },
    "time without fraction": { renewTime: "2020-01-01T00:00:00Z" },
    "time with nanoseconds": { renewTime: "2020-01-01T00:00:00.123456789Z" },
    "time of a zone": { renewTime: "2020-01-01T00:00:00.5+02:00" },
    "time a day": { renewTime: "2020-01-01" },
    "time empty": { renewTime: "" },
    strategy: { strategy: "OldestEmulationVersion" },
    "strategy with a holder": { strategy: "Other", holderIdentity: "h", preferredHolder: "p" },
  })) {
    yield alone(`Lease, ${name}`, post(`${leases}?dryRun=All`, { metadata: { name: "l" }, spec }));
  }
}

export const pathGroups: readonly Group[] = [
  { name: "discovery", cases: [...discoveryCases()] },
  { name: "nowhere", cases: [...nowhereCases()] },
  { name: "others", cases: [...otherCases()] },
  { name: "contents", cases: [...columnCases()] },
];
