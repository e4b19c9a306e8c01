/** Quotas on real Durable Objects: limits reach every store, hold in the turn that creates, and their status follows. */
import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ControllerName } from "../../../durable-objects/platform/controllers";
import { ResourceStore } from "../../../durable-objects/resource-store";
import { ServicesStore } from "../../../durable-objects/services-store";
import type { CoreEvent, ResourceQuota } from "../../../src/api/meta/kubernetes";
import { PUSH_WAIT_MS } from "../../../src/controllers/quotas/quota-pushes";
import { directoryKey } from "../../../src/tenancy/directory-keys";
import { type AppAnswer, AppCluster, bindings } from "../../support/access/app-cluster";
import { countedCalls } from "../../support/objects/counted-calls";
import { storeStubOf } from "../../support/objects/store-stubs";
import { PATIENCE } from "../../support/objects/patience";
import { neverTimeOut } from "../../support/objects/quick-timers";

const now = Date.now;
/** Longer than the pauses between the first tries. */
const PAUSE_MS = 5_000;

// The answer to a new limit comes when every store has it.
beforeEach(() => neverTimeOut(PUSH_WAIT_MS));
afterEach(() => {
  vi.restoreAllMocks();
});

type Answer = AppAnswer & { status?: ResourceQuota["status"] };

class Cluster extends AppCluster<Answer> {
  /** A request to a path of the namespace `default`. */
  override send(method: string, path: string, body?: object): Promise<{ code: number; body: Answer }> {
    return super.send(method, `/api/v1/namespaces/default${path}`, body);
  }

  create(resource: string, name: string, more: object = {}): Promise<{ code: number; body: Answer }> {
    return this.send("POST", `/${resource}`, { metadata: { name }, ...more });
  }

  async limit(hard: Record<string, string>, name = "q"): Promise<void> {
    expect((await this.create("resourcequotas", name, { spec: { hard } })).code).toBe(201);
  }

  async used(name = "q"): Promise<Record<string, string> | undefined> {
    return (await this.send("GET", `/resourcequotas/${name}`)).body.status?.used;
  }

  /** The alarm of a controller that has left work rings without its pause. */
  async triesAgain(name: ControllerName): Promise<void> {
    const laterMs = Date.now() - now() + PAUSE_MS;
    await vi.waitFor(
      async () => expect(await runInDurableObject(this.object(name), (_, { storage }) => storage.getAlarm())).not.toBeNull(),
      PATIENCE,
    );
    vi.spyOn(Date, "now").mockImplementation(() => now() + laterMs);
    await runDurableObjectAlarm(this.object(name));
  }
}

describe("a quota", () => {
  it("concurrent creates at the limit: exactly as many as it allows; the status follows; its deletion lifts it everywhere", async () => {
    const cluster = new Cluster();
    await cluster.limit({ "count/configmaps": "5", pods: "0", resourcequotas: "1" });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => cluster.create("configmaps", `c${i}`)));
    expect(answers.filter(({ code }) => code === 201)).toHaveLength(5);
    const refused = answers.filter(({ code }) => code === 403);
    expect(refused).toHaveLength(35);
    expect(refused[0]?.body.message).toMatch(
      / is forbidden: exceeded quota: q, requested: count\/configmaps=1, used: count\/configmaps=5, limited: count\/configmaps=5$/,
    );
    expect((await cluster.send("GET", "/configmaps")).body.items).toHaveLength(5);
    await vi.waitFor(
      async () => expect(await cluster.used()).toEqual({ "count/configmaps": "5", pods: "0", resourcequotas: "1" }),
      PATIENCE,
    );
    expect((await cluster.create("resourcequotas", "second", { spec: {} })).code).toBe(403);
    await cluster.send("DELETE", `/configmaps/${answers.find(({ code }) => code === 201)?.body.metadata?.name ?? ""}`);
    await vi.waitFor(async () => expect((await cluster.used())?.["count/configmaps"]).toBe("4"), PATIENCE);
    await cluster.send("DELETE", "/resourcequotas/q");
    expect((await cluster.create("configmaps", "free")).code).toBe(201);
    expect((await cluster.create("pods", "p", { spec: { containers: [{ name: "c", image: "i" }] } })).code).toBe(201);
  });

  it("a new quota: its status says what is used, although nobody writes anything else", async () => {
    const cluster = new Cluster();
    expect((await cluster.create("configmaps", "a")).code).toBe(201);
    await cluster.limit({ "count/configmaps": "5" });
    await vi.waitFor(async () => expect(await cluster.used()).toEqual({ "count/configmaps": "1" }), PATIENCE);
  });

  it("Services beyond the limit: take no address; concurrent ones never exceed it", async () => {
    const cluster = new Cluster();
    const service = (type: string) => ({ spec: { type, ports: [{ port: 80 }] } });
    expect((await cluster.create("services", "first", service("ClusterIP"))).code).toBe(201);
    await cluster.limit({ services: "3", "services.nodeports": "1" });
    const { calls } = await callsOf(() =>
      cluster.create("services", "many", service("NodePort")).then(() => cluster.create("services", "more", service("NodePort"))),
    );
    expect(calls.filter((method) => method === "allocate").length).toBeLessThanOrEqual(1);
    // default/kubernetes, first, many
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => cluster.create("services", `s${i}`, service("ClusterIP"))));
    expect(answers.map(({ code }) => code)).toEqual(Array<number>(10).fill(403));
    const dry = await cluster.send("POST", "/services?dryRun=All", { metadata: { name: "dry" }, ...service("ClusterIP") });
    expect(dry.body.message).toContain("exceeded quota: q, requested: services=1, used: services=3, limited: services=3");
    const typed = await cluster.send("PATCH", "/services/first", { spec: { type: "NodePort" } });
    expect(typed.body.message).toContain("requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1");
    await vi.waitFor(async () => expect(await cluster.used()).toEqual({ services: "3", "services.nodeports": "1" }), PATIENCE);
    await cluster.send("DELETE", "/services/many");
    expect((await cluster.send("PATCH", "/services/first", { spec: { type: "NodePort" } })).code).toBe(200);
    const addresses = (await cluster.send("GET", "/services")).body.items ?? [];
    expect(addresses).toHaveLength(2);
  });

  it("a slice of the built-in controller beyond the limit: one event, tried again, and made once the quota is gone", async () => {
    const cluster = new Cluster();
    await cluster.limit({ "count/endpointslices.discovery.k8s.io": "0" });
    const spec = { selector: { app: "web" }, ports: [{ port: 80 }] };
    expect((await cluster.create("services", "web", { spec })).code).toBe(201);
    const refusals = async () => {
      const { items = [] } = (await cluster.send("GET", "/events")).body;
      return (items as CoreEvent[]).filter(({ reason }) => reason === "FailedToUpdateEndpointSlices");
    };
    await vi.waitFor(async () => expect(await refusals()).toHaveLength(1), PATIENCE);
    await cluster.triesAgain("endpointslice-controller");
    // The first attempt, and one after a second.
    await vi.waitFor(async () => expect((await refusals())[0]?.series?.count).toBeGreaterThanOrEqual(2), PATIENCE);
    const [event, ...others] = await refusals();
    expect(others).toEqual([]);
    expect(event?.message).toContain('"web-" is forbidden: exceeded quota: q, requested: count/endpointslices.discovery.k8s.io=1');
    expect(event?.series?.count).toBeLessThanOrEqual(5);
    await cluster.send("DELETE", "/resourcequotas/q");
    await cluster.triesAgain("endpointslice-controller");
    const slices = storeStubOf(cluster.name, "endpointslices.discovery.k8s.io");
    await vi.waitFor(async () => expect((await slices.objectsAfter("", 10)).objects.join()).toContain('"generateName":"web-"'), PATIENCE);
  });

  it("a restart of all objects: the limit holds", async () => {
    const cluster = new Cluster();
    await cluster.limit({ "count/configmaps": "1", services: "2" });
    expect((await cluster.create("configmaps", "a")).code).toBe(201);
    await abortAllDurableObjects();
    expect((await cluster.create("configmaps", "b")).code).toBe(403);
    expect((await cluster.create("services", "s", { spec: { ports: [{ port: 80 }] } })).code).toBe(201);
    expect((await cluster.create("services", "t", { spec: { ports: [{ port: 80 }] } })).code).toBe(403);
  });

  it("a store that missed the limits: the client is answered all the same, and cron tells the store", async () => {
    const cluster = new Cluster();
    await bindings.DIRECTORY.put(directoryKey(cluster.name), "");
    expect((await cluster.create("configmaps", "a")).code).toBe(201);
    const isMine = (id: DurableObjectId): boolean => id.name?.startsWith(`${cluster.name}/`) ?? false;
    const missing = [
      vi.spyOn(ResourceStore.prototype, "takeQuotas").mockImplementation(function (this: ResourceStore) {
        return isMine((this as unknown as { ctx: DurableObjectState }).ctx.id) ? Promise.reject(new Error("missed")) : Promise.resolve(0);
      }),
      vi.spyOn(ServicesStore.prototype, "takeQuotas").mockRejectedValue(new Error("missed")),
    ];
    await cluster.limit({ "count/configmaps": "1" });
    expect((await cluster.create("configmaps", "b")).code).toBe(201);
    for (const one of missing) one.mockRestore();
    await abortAllDurableObjects();
    await cluster.tick();
    expect((await cluster.create("configmaps", "c")).body.message).toContain("used: count/configmaps=2, limited: count/configmaps=1");
  });

  it("a store is brought back in time, before it knew a limit: cron tells it; a limit that is none any more: its first refusal does", async () => {
    const cluster = new Cluster();
    await bindings.DIRECTORY.put(directoryKey(cluster.name), "");
    await cluster.limit({ "count/configmaps": "1" });
    expect((await cluster.create("configmaps", "a")).code).toBe(201);
    const stub = () => storeStubOf(cluster.name, "configmaps");
    // The controller, which the creates have called, would tell it as well.
    const unheard = vi.spyOn(ResourceStore.prototype, "limitsHeld").mockResolvedValue(undefined);
    await runInDurableObject(stub(), (_, { storage: { kv } }) => {
      for (const [key] of [...kv.list({ prefix: "quota-" })]) kv.delete(key);
    });
    await abortAllDurableObjects();
    expect((await cluster.create("configmaps", "b")).code).toBe(201);
    unheard.mockRestore();
    let tries = 0;
    const refused = async (): Promise<void> => {
      await cluster.tick();
      expect((await cluster.create("configmaps", `c${tries++}`)).code).toBe(403);
    };
    await vi.waitFor(refused, PATIENCE);

    const old = await runInDurableObject(stub(), (_, { storage: { kv } }) => [...kv.list<object>({ prefix: "quota-" })]);
    await cluster.send("DELETE", "/resourcequotas/q");
    await runInDurableObject(stub(), (_, { storage: { kv } }) => {
      for (const [key, value] of old) kv.put(key, value);
    });
    await abortAllDurableObjects();
    expect((await cluster.create("configmaps", "d")).code).toBe(403);
    await vi.waitFor(async () => expect((await cluster.create("configmaps", "e")).code).toBe(201), PATIENCE);
  });

  it("a create: no message about limits goes round, and the store says what is used", async () => {
    const cluster = new Cluster();
    await cluster.limit({ "count/configmaps": "100" });
    expect((await cluster.create("configmaps", "a")).code).toBe(201);
    const { calls } = await callsOf(() => cluster.create("configmaps", "b"));
    expect(calls).not.toContain("takeQuotas");
    const stub = storeStubOf(cluster.name, "configmaps");
    const questions = [{ namespace: "default", names: ["configmaps"] }];
    expect(await stub.quotaReport(questions)).toMatchObject({ amounts: [[2]] });
    expect(await stub.quotaUsage(questions)).toEqual([[2]]);
  });
});

/** The methods that were called while the work was done. */
async function callsOf(work: () => Promise<unknown>): Promise<{ calls: string[] }> {
  return { calls: (await countedCalls(work)).map(({ method }) => method) };
}
