/** Which controllers run in a cluster, on real Durable Objects: off means that nothing wakes them, on that they catch up. */
import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ControllerName, CONTROLLERS } from "../../../durable-objects/platform/controllers";
import { namespacesStore, repairStub, servicesStore } from "../../../durable-objects/peers/peers";
import { ResourceStore } from "../../../durable-objects/resource-store";
import { ServicesStore } from "../../../durable-objects/services-store";
import type { KubeObject, Lease, Namespace } from "../../../src/api/meta/kubernetes";
import { qualifiedResource } from "../../../src/api/meta/status";
import type { ControllerRpc } from "../../../src/api/rpc/store";
import { storedDefinitions } from "../../../src/api/registry/all";
import { CLOSE_WAIT_MS } from "../../../src/controllers/namespaces/namespace-closing";
import { directoryKey } from "../../../src/tenancy/directory-keys";
import type { ControllersView } from "../../../src/worker/system/controller-statuses";
import { type AppAnswer, AppCluster, bindings } from "../../support/access/app-cluster";
import { type Call, countedCalls } from "../../support/objects/counted-calls";
import { neverTimeOut } from "../../support/objects/quick-timers";
import { type StoreStub, storeStubOf } from "../../support/objects/store-stubs";
import { PATIENCE } from "../../support/objects/patience";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces";
const OFF: Readonly<Record<"namespaces" | "garbage-collection", readonly string[]>> = {
  namespaces: ["*", "-namespace-controller"],
  "garbage-collection": ["*", "-garbage-collector-controller"],
};
const OTHERS = [
  "node-lifecycle-controller",
  "pod-garbage-collector-controller",
  "resourcequota-controller",
  "service-cidr-controller",
  "taint-eviction-controller",
];
const ENDPOINTS = ["endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller"];

// The answer to a deletion comes when every store has closed the namespace.
beforeEach(() => neverTimeOut(CLOSE_WAIT_MS));
afterEach(() => {
  vi.restoreAllMocks();
});

type Answer = AppAnswer & { running?: string[]; details?: { causes?: { reason: string }[] } };

class Cluster extends AppCluster<Answer> {
  async must(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await this.send(method, path, body);
    expect(answer.code, `${method} ${path}: ${answer.body.message ?? ""}`).toBeLessThan(300);
    return answer.body;
  }

  run(controllers: readonly string[] | null): Promise<Answer> {
    return this.must("PUT", "", { controllers });
  }

  async running(): Promise<string[] | undefined> {
    return (await this.must("GET", "")).running;
  }

  async lease(namespace: string, name: string, metadata: object = {}): Promise<string> {
    const made = await this.must("POST", `${LEASES}/${namespace}/leases`, { metadata: { name, ...metadata }, spec: {} });
    return made.metadata?.uid ?? "";
  }

  async find<T extends KubeObject>(path: string): Promise<T | undefined> {
    const { code, body } = await this.send("GET", path);
    return code === 404 ? undefined : (body as T);
  }

  /** A namespace in deletion, with a Lease. */
  async terminating(): Promise<void> {
    await this.must("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await this.lease("ns", "inside");
    await this.must("DELETE", "/api/v1/namespaces/ns");
  }

  namespace(): Promise<Namespace | undefined> {
    return this.find("/api/v1/namespaces/ns");
  }

  /** What kube-controller-manager does when it has found the namespace empty. After a conflict it reads the namespace again (its retryOnConflictError). */
  async finalize(): Promise<{ code: number; body: Answer }> {
    for (;;) {
      const stored = await this.namespace();
      const answer = await this.send("PUT", "/api/v1/namespaces/ns/finalize", { ...stored, spec: { finalizers: [] } });
      if (answer.code !== 409) return answer;
    }
  }

  /** Whether a call is one to this controller of the cluster. */
  wakes(name: ControllerName): (call: Call) => boolean {
    return ({ object }) => object === `${this.name}/controllers/${name}`;
  }
}

describe("with the namespace controller off", () => {
  it("a namespace in deletion: waits, and neither poke, cron nor alarm wakes the controller; on again it goes", async () => {
    const cluster = new Cluster();
    await cluster.run(OFF.namespaces);
    expect(await cluster.running()).toEqual([...ENDPOINTS, "garbage-collector-controller", ...OTHERS]);
    const calls = await countedCalls(async () => {
      await cluster.terminating();
      await cluster.tick();
    });
    expect(calls.filter(cluster.wakes("namespaces"))).toEqual([]);
    expect(calls.filter(cluster.wakes("garbage-collection"))).not.toEqual([]);
    expect(await runDurableObjectAlarm(cluster.object("namespaces"))).toBe(false);
    await abortAllDurableObjects();
    expect((await cluster.namespace())?.status?.phase).toBe("Terminating");
    expect(await cluster.find(`${LEASES}/ns/leases/inside`)).toBeDefined();
    await cluster.run(null);
    await vi.waitFor(async () => expect(await cluster.namespace()).toBeUndefined(), PATIENCE);
    expect(await cluster.find(`${LEASES}/ns/leases/inside`)).toBeUndefined();
  });

  it("hazard 16: the controller of somebody else finalizes: no store takes anything afterwards, and nothing is left behind", async () => {
    const cluster = new Cluster();
    await cluster.run(OFF.namespaces);
    await cluster.must("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await cluster.lease("ns", "early");
    // The answer to the DELETE closes the stores, but for those that do not answer in time: here none does.
    const late = [ResourceStore, ServicesStore].map(({ prototype }) =>
      vi.spyOn(prototype, "closeNamespace").mockRejectedValue(new Error("late")),
    );
    await cluster.must("DELETE", "/api/v1/namespaces/ns");
    await cluster.must("DELETE", `${LEASES}/ns/leases/early`);
    for (const spy of late) spy.mockRestore();
    // Behind the last list of the other controller.
    await cluster.lease("ns", "late");
    expect(await cluster.finalize()).toMatchObject({ code: 200 });
    expect(await cluster.namespace()).toBeUndefined();
    expect(await cluster.find(`${LEASES}/ns/leases/late`)).toBeUndefined();
    const entered = await repairStub(bindings, cluster.name).entered();
    for (const { group, resource, namespaced } of storedDefinitions) {
      if (!namespaced) continue;
      const isUsed = entered?.includes(qualifiedResource({ group, resource }));
      const stub = (resource === "services" ? bindings.SERVICES_STORE : bindings.RESOURCE_STORE).getByName(
        `${cluster.name}/${group ? `${resource}.${group}` : resource}`,
      );
      const rows = await runInDurableObject(stub, (_, { storage }) => storage.sql.exec("SELECT name FROM closed_namespaces").toArray());
      expect(rows, resource).toEqual(isUsed ? [{ name: "ns" }] : []);
    }
    expect(entered).toContain("leases.coordination.k8s.io");
    // A store that nobody used before has not heard of the end.
    expect((await cluster.send("POST", "/api/v1/namespaces/ns/configmaps", { metadata: { name: "x" } })).code).toBe(404);
    const refused = await cluster.send("POST", `${LEASES}/ns/leases`, { metadata: { name: "x" }, spec: {} });
    expect(refused).toMatchObject({ code: 404, body: { message: 'namespaces "ns" not found' } });
    await cluster.must("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await cluster.lease("ns", "of-the-successor");
  });

  it("on again, and somebody finalizes before it wakes: no store takes anything, and a successor can be deleted", async () => {
    const cluster = new Cluster();
    await cluster.run(OFF.namespaces);
    await cluster.must("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await cluster.lease("ns", "held", { finalizers: ["example.com/x"] });
    const late = [ResourceStore, ServicesStore].map(({ prototype }) =>
      vi.spyOn(prototype, "closeNamespace").mockRejectedValue(new Error("late")),
    );
    await cluster.must("DELETE", "/api/v1/namespaces/ns");
    // The controller is on, and cannot close anything either.
    await cluster.run(null);
    expect(await cluster.finalize()).toMatchObject({ code: 503, body: { message: expect.stringContaining("late") as string } });
    for (const spy of late) spy.mockRestore();
    expect(await cluster.finalize()).toMatchObject({ code: 200 });
    expect(await cluster.namespace()).toBeUndefined();
    expect(await cluster.send("POST", `${LEASES}/ns/leases`, { metadata: { name: "x" }, spec: {} })).toMatchObject({ code: 404 });
    await cluster.must("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await cluster.lease("ns", "of-the-successor");
    const held = await cluster.find<Lease>(`${LEASES}/ns/leases/held`);
    await cluster.must("PUT", `${LEASES}/ns/leases/held`, { ...held, metadata: { ...held?.metadata, finalizers: [] } });
    await cluster.must("DELETE", "/api/v1/namespaces/ns");
    await vi.waitFor(async () => expect(await cluster.namespace()).toBeUndefined(), PATIENCE);
  });

  it("a create between the deletion and the finalize: 403 in every store; an object behind a finalizer: the namespace stays with it", async () => {
    const cluster = new Cluster();
    await cluster.run(OFF.namespaces);
    await cluster.must("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await cluster.lease("ns", "held", { finalizers: ["example.com/x"] });
    await cluster.must("DELETE", "/api/v1/namespaces/ns");
    for (const [path, object] of [
      [`${LEASES}/ns/leases`, { spec: {} }],
      ["/api/v1/namespaces/ns/services", { spec: { ports: [{ port: 80 }] } }],
      ["/api/v1/namespaces/ns/configmaps", {}],
      ["/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices", { addressType: "IPv4", endpoints: [] }],
    ] as const) {
      const refused = await cluster.send("POST", path, { metadata: { name: "x" }, ...object });
      expect([refused.code, refused.body.details?.causes?.[0]?.reason], path).toEqual([403, "NamespaceTerminating"]);
    }
    const kept = await cluster.finalize();
    expect(kept).toMatchObject({
      code: 403,
      body: { message: expect.stringContaining("leases.coordination.k8s.io has 1 resource instances") as string },
    });
    const lease = await cluster.find<Lease>(`${LEASES}/ns/leases/held`);
    await cluster.must("PUT", `${LEASES}/ns/leases/held`, { ...lease, metadata: { ...lease?.metadata, finalizers: [] } });
    expect(await cluster.finalize()).toMatchObject({ code: 200 });
    expect(await cluster.namespace()).toBeUndefined();
  });

  it("an alarm from before: is gone, also when it rings all the same it begins nothing", async () => {
    const cluster = new Cluster();
    await cluster.must("POST", "/api/v1/namespaces", { metadata: { name: "ns" } });
    await cluster.lease("ns", "held", { finalizers: ["example.com/x"] });
    await cluster.must("DELETE", "/api/v1/namespaces/ns");
    const alarm = () => runInDurableObject(cluster.object("namespaces"), (_, { storage }) => storage.getAlarm());
    await vi.waitFor(async () => expect(await alarm()).not.toBeNull(), PATIENCE);
    await cluster.run(OFF.namespaces);
    await vi.waitFor(async () => expect(await alarm()).toBeNull(), PATIENCE);
    await runInDurableObject(cluster.object("namespaces"), (_, { storage }) => storage.setAlarm(Date.now() + 60_000));
    const calls = await countedCalls(() => runDurableObjectAlarm(cluster.object("namespaces")));
    // A pass begins with a list of the namespaces. One from before the switch goes on to its end.
    expect(calls.filter(({ object, method }) => object === `${cluster.name}/namespaces` && method === "fetch")).toEqual([]);
    expect(await alarm()).toBeNull();
  });
});

describe("GET /check/controllers", () => {
  it("what the controllers of a cluster have done: without waking one that is off, or making a pass", async () => {
    const cluster = new Cluster();
    await cluster.run(OFF["garbage-collection"]);
    await cluster.terminating();
    await vi.waitFor(async () => expect(await cluster.namespace()).toBeUndefined(), PATIENCE);
    const view = async (name: ControllerName): Promise<unknown> => {
      const { controllers } = (await cluster.must("GET", "/check/controllers")) as unknown as ControllersView;
      return controllers.find((one) => one.name === name);
    };
    expect(await view("garbage-collection")).toEqual({ name: "garbage-collection", state: "off" });
    // Passes that were asked for before may come late. A look that made one would never find the same twice.
    await vi.waitFor(async () => {
      const first = await view("namespaces");
      expect(first).toMatchObject({ state: "on", last: { left: false }, totals: { done: 1 } });
      expect(first).not.toHaveProperty("runningSinceMs");
      expect(await view("namespaces")).toEqual(first);
    }, PATIENCE);
  });
});

describe("with the garbage collector off", () => {
  it("a dependent of a deleted owner: stays, and nothing wakes the collector; on again it goes", async () => {
    const cluster = new Cluster();
    await cluster.run(OFF["garbage-collection"]);
    const calls = await countedCalls(async () => {
      const uid = await cluster.lease("default", "owner");
      await cluster.lease("default", "dependent", {
        ownerReferences: [{ apiVersion: "coordination.k8s.io/v1", kind: "Lease", name: "owner", uid }],
      });
      await cluster.must("DELETE", `${LEASES}/default/leases/owner`);
      await cluster.tick();
    });
    expect(calls.filter(cluster.wakes("garbage-collection"))).toEqual([]);
    expect(await cluster.find(`${LEASES}/default/leases/dependent`)).toBeDefined();
    await cluster.run(["*"]);
    await vi.waitFor(async () => expect(await cluster.find(`${LEASES}/default/leases/dependent`)).toBeUndefined(), PATIENCE);
  });
});

describe("the list of a cluster and the variable", () => {
  it("clusters with lists of their own beside one without: each runs its own controllers", async () => {
    const [own, other] = [new Cluster(), new Cluster()];
    await own.run(OFF.namespaces);
    for (const cluster of [own, other]) await cluster.terminating();
    await vi.waitFor(async () => expect(await other.namespace()).toBeUndefined(), PATIENCE);
    expect((await own.namespace())?.status?.phase).toBe("Terminating");
    expect(await other.running()).toContain("namespace-controller");
  });

  it("the cluster default: has a list of its own, too", async () => {
    const cluster = new Cluster("default");
    await cluster.run(OFF["garbage-collection"]);
    expect(await cluster.running()).toEqual([...ENDPOINTS, "namespace-controller", ...OTHERS]);
    expect(await cluster.send("DELETE", "")).toMatchObject({ code: 403 });
    // To the end of what follows: other tests have a cluster of this name, too.
    await countedCalls(() => cluster.run(null));
    expect(await cluster.running()).toContain("garbage-collector-controller");
  });

  it("a list at the beginning of a cluster: every object has it before the first write, and keeps it through a restart of all", async () => {
    const cluster = new Cluster();
    // To the end of what follows the answer: a call of an object that is made to die would never end, and be counted below.
    await countedCalls(async () => expect((await cluster.send("PUT", "", { controllers: OFF.namespaces })).code).toBe(201));
    await abortAllDurableObjects();
    const calls = await countedCalls(() => cluster.terminating());
    expect(calls.filter(cluster.wakes("namespaces"))).toEqual([]);
    const stored = await namespacesStore(bindings, cluster.name).get({ namespace: "", name: "ns" }, "");
    expect(stored.ok).toBe(true);
  });

  it("a directory that does not show the cluster's key: it is entered again with the controllers that are off", async () => {
    const cluster = new Cluster();
    await cluster.run(OFF.namespaces);
    await bindings.DIRECTORY.delete(directoryKey(cluster.name));
    await abortAllDurableObjects();
    await servicesStore(bindings, cluster.name).ensureBootstrapped();
    const entered = async () => (await bindings.DIRECTORY.getWithMetadata(directoryKey(cluster.name))).metadata;
    const on = CONTROLLERS.names.filter((name) => name !== "namespaces");
    await vi.waitFor(async () => expect(await entered()).toEqual({ off: ["namespaces"], on }), PATIENCE);
  });

  it("an object of the release before versions that calls a controller: from then on each store may be used", async () => {
    for (const called of ["namespaces", "repair"] as const) {
      const cluster = new Cluster();
      await countedCalls(() => cluster.must("PUT", ""));
      const repair = repairStub(bindings, cluster.name);
      expect(await repair.entered()).not.toBeNull();
      // A call that names no version.
      await (cluster.object(called) as unknown as ControllerRpc).poke();
      await vi.waitFor(async () => expect(await repair.entered()).toBeNull(), PATIENCE);
    }
  });

  it("a store that a release before has written unknown to anybody: is known when it starts, and its controllers hear of it with the next tick", async () => {
    const cluster = new Cluster();
    await countedCalls(async () => {
      await cluster.must("PUT", "");
      await cluster.lease("default", "a");
    });
    const repair = () => repairStub(bindings, cluster.name);
    const ofLeases = () => bindings.RESOURCE_STORE.getByName(`${cluster.name}/leases.coordination.k8s.io`);
    const isNoted = () => runInDurableObject(ofLeases(), (_, { storage }) => storage.kv.get("entered"));
    expect([await isNoted(), await repair().entered()]).toEqual([true, expect.arrayContaining(["leases.coordination.k8s.io"])]);
    await runInDurableObject(cluster.object("repair"), (_, { storage }) => {
      storage.sql.exec("DELETE FROM followed_rows WHERE kind IN ('entered', 'visits') AND key = 'leases.coordination.k8s.io'");
    });
    await runInDurableObject(ofLeases(), (_, { storage }) => void storage.kv.delete("entered"));
    await abortAllDurableObjects();
    expect(await repair().entered()).toEqual(expect.not.arrayContaining(["leases.coordination.k8s.io"]));
    expect((await cluster.must("GET", `${LEASES}/default/leases/a`)).metadata?.name).toBe("a");
    await vi.waitFor(async () => expect(await repair().entered()).toContain("leases.coordination.k8s.io"), PATIENCE);
    await vi.waitFor(async () => expect(await isNoted()).toBe(true), PATIENCE);
    const calls = await countedCalls(() => cluster.tick());
    expect(calls.filter(cluster.wakes("garbage-collection"))).not.toEqual([]);
  });

  it("an object that does not answer: 503, and the record tells it by its alarm", async () => {
    const cluster = new Cluster();
    await cluster.must("PUT", "");
    const stub: StoreStub = storeStubOf(cluster.name, "leases.coordination.k8s.io");
    vi.spyOn(ResourceStore.prototype, "setControllers").mockRejectedValueOnce(new Error("no answer"));
    expect(await cluster.send("PUT", "", { controllers: OFF.namespaces })).toMatchObject({ code: 503 });
    const record = bindings.CLUSTER_RECORD.getByName(`${cluster.name}/record`);
    await vi.waitFor(async () => {
      // It rings by itself, too.
      await runDurableObjectAlarm(record);
      const kept = await runInDurableObject(stub, (_, { storage }) => storage.kv.get("controllers"));
      expect(kept).toEqual({ version: expect.any(Number) as number, list: OFF.namespaces });
    }, PATIENCE);
    expect((await cluster.send("PUT", "", { controllers: OFF.namespaces })).code).toBe(200);
  });
});
