/** Objects of kinds that nobody ever used: neither the end of a namespace nor a look at the cluster makes one. */
import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { repairStub } from "../../../../durable-objects/peers/peers";
import type { ResourceStore } from "../../../../durable-objects/resource-store";
import { CLOSE_WAIT_MS } from "../../../../src/controllers/namespaces/namespace-closing";
import type { ResourceQuota } from "../../../../src/api/meta/kubernetes";
import { app } from "../../../../src/worker/app";
import { RpcSource } from "../../../../src/worker/system/check-source";
import { AppCluster, bindings } from "../../../support/access/app-cluster";
import { countedCalls } from "../../../support/objects/counted-calls";
import { PATIENCE } from "../../../support/objects/patience";
import { neverTimeOut } from "../../../support/objects/quick-timers";

/** What every cluster has: these are no kinds, or each cluster uses them from its beginning. */
const ALWAYS = ["coordinator", "controllers/repair", "namespaces", "services", "ipaddresses.networking.k8s.io"];

// The answer to a deletion comes when every store has closed the namespace.
beforeEach(() => neverTimeOut(CLOSE_WAIT_MS));
afterEach(() => {
  vi.restoreAllMocks();
});

class Cluster extends AppCluster {
  /** The stores and controllers that `work` calls and that nobody ever used; owners of addresses and shards of nodes are neither. */
  async unusedIn(work: () => Promise<unknown>): Promise<string[]> {
    const calls = await countedCalls(work);
    const entered = await repairStub(bindings, this.name).entered();
    const known = [...ALWAYS, ...(entered ?? [])];
    const called = new Set(
      calls.filter(({ object }) => object.startsWith(`${this.name}/`)).map(({ object }) => object.slice(this.name.length + 1)),
    );
    return [...called].filter((name) => !known.includes(name) && !/^([0-9a-f-]{36}|record|nodes.*|proxy.*)$/.test(name));
  }

  async get(path: string): Promise<string> {
    const response = await app.request(`http://h/clusters/${this.name}${path}`, {}, bindings, createExecutionContext());
    expect(response.status, path).toBe(200);
    return response.text();
  }

  async gone(namespace: string): Promise<void> {
    await vi.waitFor(async () => expect((await this.send("GET", `/api/v1/namespaces/${namespace}`)).code).toBe(404), PATIENCE);
  }
}

/** A cluster with a namespace, in which there is a ConfigMap. */
async function begun(): Promise<Cluster> {
  const cluster = new Cluster();
  expect((await cluster.send("PUT", "")).code).toBe(201);
  for (const [path, name] of [
    ["/api/v1/namespaces", "ns"],
    ["/api/v1/namespaces/ns/configmaps", "inside"],
  ] as const)
    expect((await cluster.send("POST", path, { metadata: { name } })).code).toBe(201);
  await countedCalls(() => cluster.tick());
  return cluster;
}

describe("in a cluster that uses few kinds", () => {
  it("the deletion of a namespace: makes no store, and leaves nothing behind", async () => {
    const cluster = await begun();
    const unused = await cluster.unusedIn(async () => {
      expect((await cluster.send("DELETE", "/api/v1/namespaces/ns")).code).toBe(200);
      await cluster.gone("ns");
    });
    expect(unused).toEqual([]);
    expect((await cluster.send("GET", "/api/v1/configmaps")).body.items?.filter(({ metadata }) => metadata?.namespace === "ns")).toEqual(
      [],
    );
  });

  it("a quota of what nobody has, its status and its change: make no store, and limit what is made later", async () => {
    const cluster = await begun();
    const path = "/api/v1/namespaces/ns/resourcequotas";
    const quota = (leases: string) => ({
      metadata: { name: "q" },
      spec: { hard: { pods: "1", "count/leases.coordination.k8s.io": leases, configmaps: "1" } },
    });
    const used = (leases: string) => ({
      hard: quota(leases).spec.hard,
      used: { pods: "0", "count/leases.coordination.k8s.io": "0", configmaps: "1" },
    });
    const status = async () => ((await cluster.send("GET", `${path}/q`)).body as ResourceQuota).status;
    const unused = await cluster.unusedIn(async () => {
      expect((await cluster.send("POST", path, quota("5"))).code).toBe(201);
      await vi.waitFor(async () => expect(await status()).toEqual(used("5")), PATIENCE);
      expect((await cluster.send("PATCH", `${path}/q`, quota("0"))).code).toBe(200);
      await vi.waitFor(async () => expect(await status()).toEqual(used("0")), PATIENCE);
    });
    expect(unused).toEqual([]);
    const lease = { metadata: { name: "a" }, spec: {} };
    const leases = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";
    const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "i" }] } });
    const codes = [];
    for (const [at, object] of [
      [`${leases}?dryRun=All`, lease],
      [leases, lease],
      ["/api/v1/namespaces/ns/pods", pod("one")],
      ["/api/v1/namespaces/ns/pods", pod("two")],
    ] as const)
      codes.push((await cluster.send("POST", at, object)).code);
    expect(codes).toEqual([403, 403, 201, 403]);
  });

  it("the first write of a store in a cluster without quotas: makes no store of quotas", async () => {
    const cluster = await begun();
    const leases = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";
    const unused = await cluster.unusedIn(async () => {
      expect((await cluster.send("POST", leases, { metadata: { name: "a" }, spec: {} })).code).toBe(201);
    });
    expect(unused).toEqual([]);
  });

  it.each(["/metrics", "/check", "/check/controllers", "/check/slices"])("GET %s: makes no store and no controller", async (path) => {
    const cluster = await begun();
    expect(await cluster.unusedIn(() => cluster.get(path))).toEqual([]);
  });

  it("a store that gets its first object between two looks of a check: the second one sees it", async () => {
    const cluster = await begun();
    const source = new RpcSource(bindings, cluster.name);
    const seen = () => source.endpointSlices(({ metadata }) => [{ service: `default/${metadata?.name ?? ""}`, text: "" }]);
    const slice = { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] };
    expect(await seen()).toMatchObject({ objects: [] });
    const path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    expect((await cluster.send("POST", path, { metadata: { name: "web" }, ...slice })).code).toBe(201);
    expect(await seen()).toMatchObject({ objects: [{ service: "default/web" }] });
  });

  it("hazard 16 at the first write of a store, which knows the namespace from a dry run before its deletion: refused", async () => {
    const cluster = await begun();
    const leases = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";
    const lease = (name: string) => ({ metadata: { name }, spec: {} });
    expect((await cluster.send("POST", `${leases}?dryRun=All`, lease("dry"))).code).toBe(201);
    expect((await cluster.send("DELETE", "/api/v1/namespaces/ns")).code).toBe(200);
    expect([403, 404]).toContain((await cluster.send("POST", leases, lease("late"))).code);
    await cluster.gone("ns");
    expect((await cluster.send("POST", leases, lease("later"))).code).toBe(404);
    const stub = bindings.RESOURCE_STORE.getByName(`${cluster.name}/leases.coordination.k8s.io`);
    expect(await runInDurableObject(stub, (store) => (store as ResourceStore).objectsAfter("", 10))).toMatchObject({ objects: [] });
  });
});
