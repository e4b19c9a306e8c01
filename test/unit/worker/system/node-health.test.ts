import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { serviceHealthAnswer } from "../../../../src/proxy-health/rules/health-answer";
import { notFound } from "../../../../src/api/meta/status";
import type { GetResult } from "../../../../src/api/rpc/store";
import { NOTHING_KNOWN } from "../../../../src/proxy-health/rpc";
import { CLUSTER_GONE } from "../../../../src/tenancy/rpc";
import { send } from "../client";
import { type Answers, fakeEnv } from "../fake-env";

/** Answers of the node's object by method; a text is an error. */
function objects(byMethod: Record<string, unknown>): Answers {
  return {
    other: (method) => (typeof byMethod[method] === "string" ? Promise.reject(new Error(byMethod[method])) : byMethod[method]),
  };
}

const AWAY = "Network connection lost.";
const node = (code: 200 | 503, isOfNode = true) => ({ code, headers: {}, body: "{}", isOfNode });
const service = (localEndpoints: number, isOfNode = true) => ({
  ...serviceHealthAnswer({ namespace: "default", name: "web", localEndpoints }, true),
  isOfNode,
});

function answerOf(path: string, answers: Record<string, unknown>): Promise<Response> {
  return Promise.resolve(send(`http://localhost${path}`, {}, fakeEnv(objects(answers)).env));
}

async function codeOf(path: string, answers: Record<string, unknown>): Promise<number> {
  return (await answerOf(path, answers)).status;
}

beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

describe("an object that does not answer", () => {
  const away = { health: AWAY, serviceHealth: AWAY };

  it("a node that drains, and the check of a Service: the last answer goes on; without one: 200, and no endpoint", async () => {
    expect([await codeOf("/nodes/o1/healthz", away), await codeOf("/nodes/o1/services/default/web", away)]).toEqual([200, 503]);
    expect(await codeOf("/nodes/o1/healthz", { health: node(503) })).toBe(503);
    expect(await codeOf("/nodes/o1/services/default/web", { serviceHealth: service(1) })).toBe(200);
    expect([await codeOf("/nodes/o1/healthz", away), await codeOf("/nodes/o1/services/default/web", away)]).toEqual([503, 200]);
  });

  it("a Node that was removed before: stays so; a name that never had one: 200", async () => {
    await codeOf("/nodes/o2/healthz", { health: node(200) });
    await codeOf("/nodes/o2/healthz", { health: node(503, false) });
    await codeOf("/nodes/made-up/healthz", { health: node(503, false) });
    expect([await codeOf("/nodes/o2/healthz", away), await codeOf("/nodes/made-up/healthz", away)]).toEqual([503, 200]);
  });

  it("an answer from memory: says its age, however old it is; one of today and one without memory have none", async () => {
    const begun = Date.now();
    const clock = vi.spyOn(Date, "now").mockReturnValue(begun);
    const ages = async (answers: Record<string, unknown>) => {
      const told = [await answerOf("/nodes/a1/healthz", answers), await answerOf("/nodes/a1/services/default/web", answers)];
      return told.map(({ status, headers }) => `${status} ${headers.get("Age") ?? "-"}`);
    };
    expect(await ages({ health: node(200), serviceHealth: service(1) })).toEqual(["200 -", "200 -"]);
    for (const [laterMs, age] of [
      [0, 0],
      [2_900, 2],
      [86_400_000, 86_400],
      // The clock was set back.
      [-5_000, 0],
    ] as const) {
      clock.mockReturnValue(begun + laterMs);
      expect(await ages(away)).toEqual([`200 ${age}`, `200 ${age}`]);
    }
    expect((await answerOf("/nodes/a2/livez", away)).headers.has("Age")).toBe(false);
    clock.mockReturnValue(begun + 10_000);
    expect(await ages({ health: node(503), serviceHealth: service(0) })).toEqual(["503 -", "503 -"]);
  });

  it("a cluster that was made anew: has no answer of the cluster that had its name", async () => {
    const path = "/clusters/again/nodes/o5/healthz";
    expect(await codeOf(path, { health: node(503) })).toBe(503);
    expect(await codeOf(path, away)).toBe(503);
    const gone = fakeEnv(objects({ health: CLUSTER_GONE }));
    gone.records.states.set("again", { phase: "active", id: "again~2", createdAt: 0, controllers: null });
    await send(`http://localhost${path}`, {}, gone.env);
    expect(await codeOf(path, away)).toBe(200);
  });

  it("an object that knows nothing of the node yet: is as one that does not answer, and no error of the server", async () => {
    const error = vi.spyOn(console, "error");
    await codeOf("/nodes/o3/livez", { health: node(503) });
    // The second text is that of an object of the release before.
    for (const text of [`${NOTHING_KNOWN}: …`, "nothing is known of the node yet"]) {
      const knowsNothing = { health: text };
      expect([await codeOf("/nodes/o3/livez", knowsNothing), await codeOf("/nodes/o4/livez", knowsNothing)]).toEqual([503, 200]);
    }
    expect(error).not.toHaveBeenCalled();
  });
});

describe("an answer of any path and code", () => {
  it.each<[path: string, answers: Record<string, unknown>, code: number]>([
    ["/nodes/c1/healthz", { health: node(200) }, 200],
    ["/clusters/blue/nodes/c1/livez", { health: node(503) }, 503],
    ["/nodes/c1/services/default/web", { serviceHealth: service(1) }, 200],
    ["/nodes/c1/services/default/web?family=IPv6", { serviceHealth: null }, 503],
    ["/nodes/C1/healthz", {}, 503],
    ["/nodes/c2/healthz", { health: AWAY }, 200],
    ["/api/v1/nodes/c1:10256/proxy/healthz", { health: node(503) }, 503],
    ["/api/v1/nodes/c1:30001/proxy/", { serviceHealth: service(0) }, 503],
    ["/nodes/c1/services/default/web?family=4", {}, 400],
    ["/api/v1/nodes/c1:30001/proxy/?family=4", {}, 400],
    ["/api/v1/nodes/c1:10256/proxy/metrics", {}, 404],
    ["/api/v1/nodes/c1:http/proxy/", {}, 400],
    ["/api/v1/nodes/https:c1:10256/proxy/healthz", {}, 503],
  ])("%s: no cache may keep it, with GET and HEAD", async (path, answers, code) => {
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await send(`http://localhost${path}`, { method }, fakeEnv(objects(answers)).env);
      expect([method, status, headers.get("Cache-Control")]).toEqual([method, code, "no-store"]);
    }
  });

  it.each(["/api/v1/nodes/gone:10256/proxy/healthz", "/api/v1/nodes/gone:30001/proxy/", "/api/v1/nodes/gone/proxy"])(
    "%s of a Node that is not there: no cache may keep it",
    async (path) => {
      const get = { ok: false, status: notFound({ group: "", resource: "nodes", kind: "Node" }, "gone") };
      const { status, headers } = await send(`http://localhost${path}`, {}, fakeEnv({ get: () => get as GetResult }).env);
      expect([status, headers.get("Cache-Control")]).toEqual([404, "no-store"]);
    },
  );

  it.each(["/nodes/c1/healthz", "/nodes/c1/livez", "/nodes/c1/services/default/web"])("POST %s: 405", async (path) => {
    expect((await send(`http://localhost${path}`, { method: "POST" }, fakeEnv().env)).status).toBe(405);
  });
});

describe("what no Node or Service can have", () => {
  it("names and ports: 503, and no object is asked", async () => {
    const object = JSON.stringify({ status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } });
    const { env, calls } = fakeEnv({ get: () => ({ ok: true, object }) });
    const long = "x".repeat(64);
    const paths = [
      "/nodes/N1/healthz",
      `/nodes/n1/services/${long}/web`,
      "/nodes/n1/services/default/Web",
      "/nodes/n1/services/default/a%2Fb",
      "/nodes/n1/services/a.b/web",
      "/api/v1/nodes/n1:70000/proxy/",
    ];
    for (const path of paths) expect([path, (await send(`http://localhost${path}`, {}, env)).status]).toEqual([path, 503]);
    expect(calls.filter(({ object }) => object.startsWith("NODE_PROXY"))).toEqual([]);
  });
});

describe("port of the check of a Service, at nodes/proxy", () => {
  const PATH = "/api/v1/nodes/n1:30001/proxy/";
  const gets = { served: undefined, away: () => Promise.reject(new Error(AWAY)) };

  async function told(path: string, answers: Answers): Promise<string> {
    const response = await send(`http://localhost${path}`, {}, fakeEnv(answers).env);
    const body = await response.json<{ message?: string; localEndpoints?: number }>();
    return `${response.status} ${body.message ?? `${String(body.localEndpoints)} endpoints`}`;
  }

  it("a store of Nodes that fails: the check goes on, also when its object fails then; a port without a check: the store's refusal", async () => {
    const answers = { ...objects({ serviceHealth: service(2) }), get: gets.away };
    expect(await told(PATH, answers)).toBe("200 2 endpoints");
    expect(await told(PATH, { ...objects({ serviceHealth: AWAY }), get: gets.away })).toBe("200 2 endpoints");
    const away = "503 the server is currently unable to handle the request";
    expect(await told("/api/v1/nodes/n1:30002/proxy/", { ...objects({ serviceHealth: null }), get: gets.away })).toBe(away);
    expect(await told("/api/v1/nodes/n1/proxy/", answers)).toBe(away);
  });

  it.each([PATH, "/api/v1/nodes/n1:10256/proxy/healthz"])(
    "%s: the object of the node is asked beside the store of Nodes, whose refusal counts first",
    async (path) => {
      let refuse = (): void => undefined;
      const refused = new Promise<GetResult>((resolve) => {
        refuse = () => resolve({ ok: false, status: notFound({ group: "", resource: "nodes", kind: "Node" }, "n1") });
      });
      // The store does not answer before the object is asked.
      const other = (method: string) => {
        if (method === "serviceHealth" || method === "health") refuse();
        return service(2);
      };
      expect(await told(path, { get: () => refused, other })).toBe('404 nodes "n1" not found');
    },
  );

  it("?family=: the family of the answer, each with a memory of its own; another value: 400", async () => {
    let endpoints = 0;
    const { env, calls } = fakeEnv({ other: () => service(++endpoints) });
    for (const query of ["", "?family=IPv4", "?family=IPv6"])
      expect((await send(`http://localhost/api/v1/nodes/n2:30001/proxy/${query}`, {}, env)).status).toBe(200);
    const asked = calls.flatMap(({ method, argument }) => (method === "serviceHealth" ? [argument] : []));
    expect(asked).toEqual([null, "IPv4", "IPv6"].map((family) => ["n2", { port: 30001 }, family]));
    const later = (query: string) => told(`/api/v1/nodes/n2:30001/proxy/${query}`, objects({ serviceHealth: AWAY }));
    expect([await later(""), await later("?family=IPv6")]).toEqual(["200 1 endpoints", "200 3 endpoints"]);
    expect(await later("?family=6")).toBe("400 family: must be one of IPv4, IPv6");
  });

  it("the scheme https: upstream's error, since the check is plain HTTP", async () => {
    const error = "503 error trying to reach service: http: server gave HTTP response to HTTPS client";
    for (const get of Object.values(gets))
      expect(await told("/api/v1/nodes/https:n1:30001/proxy/", { ...objects({ serviceHealth: service(2) }), ...(get && { get }) })).toBe(
        error,
      );
  });
});
