import { describe, expect, it } from "vitest";
import { attributesOf } from "../../../../src/access/authorization/request-attributes";
import { nodeHealthQuestion } from "../../../../src/proxy-health/rules/health-question";
import {
  clustersAsked,
  isForAnybody,
  isServers,
  LISTED_PATHS,
  METHODS,
  PATH_ROUTES,
  type PathRoute,
  patternsOf,
  type Right,
  type RouteClusters,
  TARGET_ROUTES,
  type TargetRoute,
  verbOn,
} from "../../../../src/worker/routing/routes";

const ROUTES: readonly PathRoute[] = PATH_ROUTES;
const TARGETS: readonly (readonly [string, TargetRoute])[] = Object.entries(TARGET_ROUTES);

function pathsWith(wanted: { right?: Right; clusters?: RouteClusters }): string[] {
  return ROUTES.filter((route) => Object.entries(wanted).every(([key, value]) => route[key as keyof PathRoute] === value)).map(
    ({ path }) => path,
  );
}

describe("the table of paths", () => {
  it("each pattern: stands there once, in both forms", () => {
    const patterns = ROUTES.flatMap(patternsOf);
    expect(patterns.filter((pattern, index) => patterns.indexOf(pattern) !== index)).toEqual([]);
    expect(patterns).toEqual(expect.arrayContaining(["/version", "/version/", "/metrics", "/check/owners/:uid"]));
    expect(patterns).not.toContain("/metrics/");
  });

  it("each route: has methods that the server knows, each once", () => {
    for (const { path, methods } of ROUTES) {
      expect(methods.length, path).toBeGreaterThan(0);
      expect(
        [...new Set(methods)].filter((method) => METHODS.includes(method)),
        path,
      ).toEqual(methods);
    }
  });

  it("rights: who asks without the right to a path is named here", () => {
    expect(pathsWith({ right: "anybody" })).toEqual(["/healthz", "/livez", "/readyz"]);
    expect(pathsWith({ right: "server" })).toEqual(["/admin/tokens", "/admin/tokens/*"]);
    expect(pathsWith({ right: "clusters" })).toEqual(["/clusters", "/clusters/:name"]);
    expect(pathsWith({ right: "balancer" })).toEqual(["/nodes/*"]);
    expect(pathsWith({ right: "resource" })).toEqual(["/api/:version/*", "/apis/:group/:version/*"]);
  });

  it("scopes: what is not below the prefix of each cluster is named here", () => {
    expect(pathsWith({ clusters: "default" })).toEqual(["/admin/tokens", "/admin/tokens/*", "/clusters"]);
    expect(pathsWith({ clusters: "itself" })).toEqual(["/nodes/targets", "/nodes/*"]);
    expect(pathsWith({ clusters: "none" })).toEqual(["/clusters/:name"]);
    expect(pathsWith({ clusters: "existing" })).toEqual(expect.arrayContaining(["/metrics", "/ranges", "/check"]));
    expect(pathsWith({ clusters: "probed" })).toEqual(["/readyz", "/readyz/*"]);
    expect(pathsWith({ clusters: "existing" })).not.toContain("/healthz");
  });

  it("what a load balancer may ask without a credential: the paths behind the route, and no other route", () => {
    const [route] = ROUTES.filter(({ right }) => right === "balancer");
    const asked = route?.behind?.map((path) => `/nodes${path.replaceAll(":", "")}`) ?? [];
    expect(asked.map((path) => [path, nodeHealthQuestion(path) !== undefined])).toEqual(asked.map((path) => [path, true]));
    for (const other of ROUTES) if (other !== route) expect(nodeHealthQuestion(other.path.replaceAll(":", "")), other.path).toBeUndefined();
  });

  it("GET / names: the routes that are listed", () => {
    expect([...LISTED_PATHS].sort()).toEqual([
      "/api",
      "/apis",
      "/metrics",
      "/metrics/slis",
      "/openapi/v2",
      "/openapi/v3",
      "/ranges",
      "/version",
    ]);
  });
});

it.each([
  ["/healthz", true],
  ["/healthz/", false],
  ["/healthz/ping", false],
  ["/readyz/../metrics", false],
  ["/metrics", false],
  ["", false],
])("isForAnybody %s: %s", (path, want) => {
  expect(isForAnybody(path)).toBe(want);
});

it.each([
  ["GET", "default", "/clusters", "list", ""],
  ["HEAD", "default", "/clusters", "list", ""],
  ["GET", "", "/clusters/blue", "get", "blue"],
  ["POST", "default", "/clusters", undefined, undefined],
  ["PUT", "", "/clusters/blue", undefined, undefined],
  ["DELETE", "", "/clusters/blue", undefined, undefined],
  ["GET", "blue", "/clusters", undefined, undefined],
  ["GET", "default", "/clusters/blue", undefined, undefined],
  ["GET", "default", "/clusters/", undefined, undefined],
  ["GET", "", "/clusters/", undefined, undefined],
  ["GET", "", "/clusters/blue/api", undefined, undefined],
  ["GET", "", "/clusters/a%2Fb", undefined, undefined],
])("clustersAsked %s %j %s: %s", (method, cluster, path, verb, name) => {
  const asked = clustersAsked(method, cluster, path);
  expect([asked?.verb, asked?.name]).toEqual([verb, name]);
  if (asked) expect([asked.group, asked.resource, asked.namespace, asked.subresource]).toEqual(["servicenet.dev", "clusters", "", ""]);
});

it.each([
  ["/admin/tokens", true],
  ["/admin/tokens/", true],
  ["/admin/tokens/x/rotate", true],
  ["/admin/tokensx", false],
  ["/admin", false],
  ["/metrics", false],
])("isServers %s: %s", (path, want) => {
  expect(isServers(path)).toBe(want);
});

describe("the table of targets", () => {
  const SAMPLES: Readonly<Record<keyof typeof TARGET_ROUTES, string>> = {
    collection: "/api/v1/namespaces/x/services",
    object: "/api/v1/namespaces/x/services/a/status",
    action: "/api/v1/namespaces/x/pods/a/eviction",
    connect: "/api/v1/nodes/a/proxy/healthz",
    view: "/api/v1/nodes/a/proxy-config",
    report: "/api/v1/nodes/a/proxy-health",
    review: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    empty: "/apis/apps/v1/namespaces/x/deployments",
  };

  it("the verb of each method: is the one that the right names", () => {
    for (const [kind, { verbs }] of TARGETS) {
      for (const [method, verb] of Object.entries(verbs)) {
        // Upstream's authorizers know no verb for it.
        const want = method === "OPTIONS" ? "" : verb;
        const { verb: asked } = attributesOf(method, SAMPLES[kind as keyof typeof TARGET_ROUTES], new URLSearchParams());
        expect([kind, method, asked]).toEqual([kind, method, want]);
      }
    }
  });

  it.each<[keyof typeof TARGET_ROUTES, string]>([
    ["collection", "DELETE GET HEAD POST"],
    ["object", "DELETE GET HEAD PATCH PUT"],
    ["action", "POST"],
    ["connect", "DELETE GET HEAD OPTIONS PATCH POST PUT"],
    ["view", "GET HEAD"],
    ["report", "POST PUT"],
    ["review", "POST"],
    ["empty", "GET HEAD"],
  ])("%s: has the methods %s, and no other", (kind, methods) => {
    const asked = [...METHODS, "TRACE", "get", ""].filter((method) => verbOn(kind, method));
    expect(asked.sort().join(" ")).toBe(methods);
  });
});
