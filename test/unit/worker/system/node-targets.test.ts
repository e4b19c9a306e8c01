import { afterEach, describe, expect, it, vi } from "vitest";
import { nodeTarget } from "../../../../src/proxy-health/pushed/node-target";
import { CLUSTER_GONE } from "../../../../src/tenancy/rpc";
import { get, send } from "../client";
import { type Answers, fakeEnv } from "../fake-env";

const NODES = ["b", "a"].map((name) =>
  nodeTarget({ metadata: { name }, status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } }),
);
const DRAINING = nodeTarget({
  metadata: { name: "c" },
  spec: { taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }] },
});

const answering = (nodes: unknown): Answers => ({ other: (method) => (method === "targets" ? nodes : undefined) });
const failing: Answers = { other: () => Promise.reject(new Error("Network connection lost.")) };

async function names(response: Response): Promise<string[]> {
  const { targets } = await response.json<{ targets: { node: string }[] }>();
  return targets.map(({ node }) => node);
}

afterEach(() => vi.restoreAllMocks());

describe("/nodes/targets", () => {
  it("the eligible Nodes; with ?draining=true those that drain, too", async () => {
    const answers = answering([...NODES, DRAINING]);
    const response = await get("/clusters/east/nodes/targets", {}, answers);
    expect([response.status, response.headers.get("Content-Type"), response.headers.get("Cache-Control")]).toEqual([
      200,
      "application/json",
      "no-cache",
    ]);
    expect(await names(response)).toEqual(["a", "b"]);
    expect(await names(await get("/clusters/east/nodes/targets?draining=true", {}, answers))).toEqual(["a", "b", "c"]);
  });

  it("an ETag of its own for each list: 304 while nothing changes", async () => {
    const tag = async (query: string, nodes: unknown, known = "") => {
      const response = await get(`/nodes/targets${query}`, known ? { "If-None-Match": known } : {}, answering(nodes));
      return [response.status, response.headers.get("ETag") ?? ""] as const;
    };
    const [code, etag] = await tag("", NODES);
    expect([code, etag]).toEqual([200, expect.stringMatching(/^"[0-9A-F]+"$/)]);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) expect(await tag("", [...NODES].reverse(), known)).toEqual([304, etag]);
    expect((await tag("", [...NODES, nodeTarget({ metadata: { name: "d" } })], etag))[0]).toBe(200);
    expect((await tag("?format=http_sd", NODES, etag))[0]).toBe(200);
  });

  it("http_sd: an array, for a cluster without Nodes an empty one", async () => {
    expect(await (await get("/nodes/targets?format=http_sd", {}, answering(NODES))).json()).toMatchObject([
      { targets: ["10.0.0.1:10256"], labels: { __meta_kubernetes_node_name: "a" } },
      { targets: ["10.0.0.1:10256"], labels: { __meta_kubernetes_node_name: "b" } },
    ]);
    expect(await (await get("/nodes/targets?format=http_sd", {}, answering([]))).text()).toBe("[]");
  });

  it("an outage: the last list goes on; without one, and in another cluster: 503", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { env } = fakeEnv(failing);
    expect((await send("http://localhost/clusters/never/nodes/targets", {}, env)).status).toBe(503);
    const start = Date.now();
    const now = vi.spyOn(Date, "now").mockReturnValue(start);
    const current = await get("/clusters/out/nodes/targets", {}, answering(NODES));
    now.mockReturnValue(start + 90_500);
    const path = "http://localhost/clusters/out/nodes/targets?draining=true";
    const response = await send(path, {}, env);
    expect([response.status, await names(response)]).toEqual([200, ["a", "b"]]);
    const unchanged = await send(path, { headers: { "If-None-Match": response.headers.get("ETag") ?? "" } }, env);
    now.mockReturnValue(start - 5_000);
    const setBack = await send(path, {}, env);
    const ages = [current, response, unchanged, setBack].map(({ status, headers }) => [status, headers.get("Age")]);
    expect(ages).toEqual([
      [200, null],
      [200, "90"],
      [304, "90"],
      [200, "0"],
    ]);
  });

  it("a cluster that was made anew: no list of the cluster that had its name, whatever answers", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    await get("/clusters/renewed/nodes/targets", {}, answering(NODES));
    const gone = fakeEnv({ other: () => Promise.reject(new Error(CLUSTER_GONE)) });
    gone.records.states.set("renewed", { phase: "active", id: "renewed~2", createdAt: 0, controllers: null });
    expect((await send("http://localhost/clusters/renewed/nodes/targets", {}, gone.env)).status).toBe(503);
    expect((await send("http://localhost/clusters/renewed/nodes/targets", {}, fakeEnv(failing).env)).status).toBe(503);
  });

  it("Nodes that could never be read: 503, not a list without Nodes", async () => {
    const response = await get("/clusters/unread/nodes/targets", {}, answering(null));
    expect([response.status, response.headers.has("Retry-After")]).toEqual([503, true]);
  });

  it("an unknown format: 400; a POST: 405", async () => {
    const response = await get("/nodes/targets?format=xml", {}, answering(NODES));
    expect([response.status, (await response.json<{ message: string }>()).message]).toEqual([
      400,
      'unknown format "xml": there are json and http_sd',
    ]);
    expect((await send("http://localhost/nodes/targets", { method: "POST" }, fakeEnv(answering(NODES)).env)).status).toBe(405);
  });
});
