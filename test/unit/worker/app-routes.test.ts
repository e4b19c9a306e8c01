/** The table of routes as the app serves it. */
import { describe, expect, it } from "vitest";
import { app } from "../../../src/worker/app";
import { METHODS, PATH_ROUTES, type PathRoute, patternsOf } from "../../../src/worker/routing/routes";
import { everyPattern } from "../../support/access/every-request";
import { send } from "./client";
import { fakeEnv } from "./fake-env";

const ROUTES: readonly PathRoute[] = PATH_ROUTES;
const PAGE = "404 page not found\n";
/** The gate shows the documents of RangeAllocations. */
const VARS = { FEATURE_GATES: "DisableAllocatorDualWrite=false" };

/** What patterns stand for, so that each path is one that there is. */
const SAMPLES: Readonly<Record<string, string>> = {
  "/apis/:group": "/apis/networking.k8s.io",
  "/api/:version/*": "/api/v1",
  "/apis/:group/:version/*": "/apis/networking.k8s.io/v1",
  "/openapi/v3/*": "/openapi/v3/api/v1",
  "/admin/tokens/*": "/admin/tokens/x",
  "/admin/rangeallocations/:name": "/admin/rangeallocations/serviceips",
  "/healthz/*": "/healthz/ping",
  "/livez/*": "/livez/ping",
  "/readyz/*": "/readyz/ping",
  "/nodes/*": "/nodes/n/healthz",
};

/** A path of the route. */
function pathOf({ path }: PathRoute): string {
  return SAMPLES[path] ?? path.replaceAll(":", "");
}

function ask(method: string, path: string, env = fakeEnv({}, VARS).env): Promise<Response> {
  return send(`http://h${path}`, { method }, env);
}

it("routes of the app: those of the table, and no other", () => {
  const patterns = app.routes.map(({ path }) => path).filter((path) => path !== "/*" && path !== "*");
  expect(patterns).toEqual(ROUTES.flatMap(patternsOf));
});

it("the router: the one with one expression for all routes", async () => {
  await ask("GET", "/version");
  expect(app.router.name).toBe("SmartRouter + RegExpRouter");
});

describe("methods that a route does not have", () => {
  const others = ROUTES.flatMap((route) => METHODS.filter((method) => !route.methods.includes(method)).map((method) => ({ method, route })))
    // A server without credentials refuses every request for tokens.
    .filter(({ route }) => route.right !== "server" || route.clusters === "none")
    // Inside a version a resource has methods of its own.
    .filter(({ route }) => route.right !== "resource");

  it.each(others.map(({ method, route }) => `${method} ${pathOf(route)}`))("%s: 405", async (asked) => {
    const [method = "", path = ""] = asked.split(" ");
    expect((await ask(method, path)).status).toBe(405);
  });

  it.each(["/nodes/n/livez", "/nodes/n/services/x/a", "/api/v1", "/apis/networking.k8s.io/v1/"])("POST %s: 405", async (path) => {
    expect((await ask("POST", path)).status).toBe(405);
  });

  it("a path that nobody has: 404 for each method", async () => {
    for (const path of ["/nothing", "/nodes/n/nothing", "/check/nothing", "/admin", "/metrics/", "/openapi", "/api//v1"]) {
      for (const method of METHODS) {
        const response = await ask(method, path);
        expect([path, response.status, await response.text()]).toEqual([path, 404, method === "HEAD" ? "" : PAGE]);
      }
    }
  });
});

describe("below the prefix of a cluster", () => {
  const rows = ROUTES.map((route) => ({ path: pathOf(route), clusters: route.clusters, method: route.methods[0] ?? "" }));

  async function answerOf(method: string, path: string): Promise<string> {
    const { env, records } = fakeEnv({}, VARS);
    records.states.set("absent", { phase: "absent" });
    const response = await ask(method, path, env);
    const text = await response.text();
    if (response.status !== 404) return "there";
    return text === PAGE ? "no path" : text.includes('clusters \\"absent\\" not found') ? "no cluster" : text;
  }

  it.each(rows)("$path, of the clusters $clusters: is there, or not", async ({ path, clusters, method }) => {
    const inAbsent = {
      every: "there",
      existing: "no cluster",
      probed: "no cluster",
      itself: "no cluster",
      default: "no path",
      none: "no path",
    }[clusters];
    expect(await answerOf(method, `/clusters/absent${path}`)).toBe(inAbsent);
    expect(await answerOf(method, `/clusters/default${path}`)).toBe(clusters === "none" ? "no path" : "there");
    expect(await answerOf(method, path)).toBe("there");
  });
});

it("a path with a line separator, where a wildcard of a regular expression may end: passes the guards", async () => {
  // As the socket of the local runner passes it: a Request would encode it.
  const path = "/nothing\u2028/x";
  const request = new Proxy(new Request("http://h/"), {
    get(target, member) {
      const value: unknown = member === "url" ? `http://h${path}` : Reflect.get(target, member, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
  const response = await app.fetch(request, fakeEnv().env, context as unknown as ExecutionContext);
  expect(response.status).toBe(404);
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
});

it("patterns that the access tests ask for: have no wildcard left", () => {
  expect(everyPattern().filter((pattern) => pattern.includes("*"))).toEqual([]);
});
