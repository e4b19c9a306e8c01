/** The end of a cluster on real Durable Objects, every object dying at each step of it in turn, and the next cluster of the same name. */
import { abortAllDurableObjects, createExecutionContext, env, listDurableObjectIds } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Controller } from "../../../durable-objects/controller";
import { Coordinator } from "../../../durable-objects/coordinator";
import { CredentialStore } from "../../../durable-objects/credential-store";
import type { Env } from "../../../durable-objects/platform/env";
import { IPAddressesStore } from "../../../durable-objects/ip-addresses-store";
import { clusterObjects } from "../../../src/tenancy/cluster-objects";
import { CONTROLLERS, objectsIn } from "../../../durable-objects/platform/controllers";
import { clusterRecord, coordinator, ipAddressesStore, owner, recordedObject } from "../../../durable-objects/peers/peers";
import { NodeProxy } from "../../../durable-objects/node-proxy";
import { ProxyView } from "../../../durable-objects/proxy-view";
import { ResourceStore } from "../../../durable-objects/resource-store";
import { ServiceCIDR } from "../../../durable-objects/service-cidr";
import { ServicesStore } from "../../../durable-objects/services-store";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { CLUSTER_GONE, type Wipeable } from "../../../src/tenancy/rpc";
import { app } from "../../../src/worker/app";
import { everyObject, OBJECT_BINDINGS } from "../../support/objects/every-object";
import { freshCluster } from "../../support/objects/store-stubs";
import { className } from "../../support/runtime/class-name";

const bindings = env as unknown as Env;
const SERVICES = "/api/v1/namespaces/default/services";
const LOOK_MS = 5;

afterEach(() => {
  vi.restoreAllMocks();
});

class Cluster {
  constructor(readonly name = freshCluster()) {}

  async send(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ code: number; body: KubeObject & { items?: KubeObject[]; status?: object } }> {
    const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
    const response = await app.request(`http://h/clusters/${this.name}${path}`, init, bindings, createExecutionContext());
    return { code: response.status, body: await response.json() };
  }

  async service(name: string): Promise<string> {
    const { code, body } = await this.send("POST", SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }] } });
    expect(code, JSON.stringify(body)).toBe(201);
    return (body as { spec: { clusterIP: string } }).spec.clusterIP;
  }

  /** Services, Events, a second range with an address of its own. */
  async filled(): Promise<this> {
    await this.service("web");
    const range = { metadata: { name: "extra" }, spec: { cidrs: ["10.97.0.0/24"] } };
    expect((await this.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", range)).code).toBe(201);
    const lease = { metadata: { name: "l" }, spec: {} };
    expect((await this.send("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", lease)).code).toBe(201);
    return this;
  }

  async ownerUids(): Promise<string[]> {
    const { claims } = await coordinator(bindings, this.name).topology();
    return claims.map(({ ownerUid }) => ownerUid);
  }

  async phase(): Promise<string | undefined> {
    return ((await this.send("GET", "")).body.status as { phase?: string } | undefined)?.phase;
  }

  async gone(): Promise<void> {
    await vi.waitUntil(async () => (await this.send("GET", "")).code === 404, { timeout: 50_000, interval: 20 });
  }

  async keys(): Promise<string[]> {
    const { keys } = await bindings.DIRECTORY.list();
    return keys.map(({ name }) => name).filter((key) => key.split("/").includes(this.name));
  }
}

/** The objects of the cluster `default`, which keeps the objects of the kind Cluster: one of them may be used for the first time. */
async function rootObjects(): Promise<ReadonlySet<string>> {
  const { claims } = await coordinator(bindings, "default").topology();
  const names = [
    ...objectsIn("default").flatMap(({ name }) => [name, `controllers/${name}`]),
    ...claims.map(({ ownerUid }) => ownerUid),
    "coordinator",
  ];
  return new Set(
    BINDINGS.flatMap((binding) => names.map((name) => `${binding} ${bindings[binding].idFromName(`default/${name}`).toString()}`)),
  );
}

/** Of every object of other clusters that came after `others`, those that still answer. */
async function living(others: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  const root = await rootObjects();
  for (const binding of BINDINGS) {
    const namespace = bindings[binding];
    const method = ALIVE[binding];
    for (const id of await listDurableObjectIds(namespace)) {
      if ([others, root].some((known) => known.has(`${binding} ${id.toString()}`))) continue;
      const stub = namespace.get(id) as unknown as Record<string, () => Promise<unknown>>;
      const answer = await (stub[method]?.() ?? Promise.reject(new Error(method))).then(
        () => "answers",
        (error: unknown) => String(error),
      );
      if (!answer.includes(CLUSTER_GONE)) found.push(`${binding} ${id.name ?? id.toString()}: ${answer}`);
    }
  }
  return found;
}

/** Every class of objects that hold a cluster's state, and a method without arguments. */
const ALIVE = {
  COORDINATOR: "counters",
  SERVICE_CIDR: "counters",
  RESOURCE_STORE: "counters",
  SERVICES_STORE: "counters",
  IP_ADDRESSES_STORE: "counters",
  CONTROLLER: "repairCounts",
  PROXY_VIEW: "counters",
  // Without arguments it asks for the health of a node that was never seen.
  NODE_PROXY: "health",
  CREDENTIAL_STORE: "publicKeys",
} as const;
const BINDINGS = Object.keys(ALIVE) as (keyof typeof ALIVE)[];

it("classes of objects: all are part of this test", () => {
  expect([...OBJECT_BINDINGS].sort()).toEqual([...BINDINGS, "CLUSTER_RECORD", "CLUSTER_NAMES"].sort());
});

describe("deleting a cluster", () => {
  it("a deleted cluster: only tombstones are left, no object answers, reads are 404", async () => {
    const others = await everyObject();
    const cluster = await new Cluster().filled();
    expect((await living(others)).length).toBeGreaterThan(5);
    expect((await cluster.keys()).length).toBeGreaterThan(1);
    const { code, body } = await cluster.send("DELETE", "");
    expect([code, body.status]).toMatchObject([
      202,
      { phase: "Terminating", objects: clusterObjects(CONTROLLERS.namesIn(false)).length, wiped: 0 },
    ]);
    await cluster.gone();
    expect(await living(others)).toEqual([]);
    expect(await cluster.keys()).toEqual([]);
    expect((await cluster.send("GET", SERVICES)).code).toBe(404);
    await abortAllDurableObjects();
    expect(await living(others), "after a restart").toEqual([]);
  });

  it("the next cluster of the name: starts fresh, and late calls for the former one do not reach it", async () => {
    const cluster = await new Cluster().filled();
    const [uid = ""] = await cluster.ownerUids();
    await cluster.send("DELETE", "");
    await cluster.gone();
    const address = await cluster.service("web");
    const { body } = await cluster.send("GET", SERVICES);
    expect(body.items?.map(({ metadata }) => metadata?.name).sort()).toEqual(["kubernetes", "web"]);
    // What the former life's objects may still have had on the way.
    const late = [
      ipAddressesStore(bindings, cluster.name).createMany([]),
      ipAddressesStore(bindings, cluster.name).deleteMany([]),
      owner(bindings, cluster.name, uid).configure({
        epoch: 99,
        owned: ["10.96.0.0/16"],
        allocatable: ["10.96.0.0/16"],
        bands: [],
      } as never),
      owner(bindings, cluster.name, uid).release([{ address, token: "any" }]),
      coordinator(bindings, cluster.name).topology(),
    ];
    for (const call of late) await expect(call).rejects.toThrow(CLUSTER_GONE);
    expect((await cluster.send("GET", `${SERVICES}/web`)).code).toBe(200);
    expect((await cluster.send("GET", `/apis/networking.k8s.io/v1/ipaddresses/${address}`)).code).toBe(200);
  });

  it("writes after the answer: refused", async () => {
    const cluster = await new Cluster().filled();
    await cluster.send("DELETE", "");
    const { code } = await cluster.send("POST", SERVICES, { metadata: { name: "late" }, spec: { ports: [{ port: 80 }] } });
    // 201 would be right only if the deletion was over and the cluster is the next one.
    if (code === 201) expect((await cluster.send("GET", `${SERVICES}/web`)).code).toBe(404);
    else expect(code).toBe(409);
    await vi.waitUntil(async () => (await cluster.phase()) !== "Terminating", { timeout: 20_000 });
  });

  it("creates under way: fail, or were before the deletion; the next cluster has none of them", async () => {
    const others = await everyObject();
    const cluster = await new Cluster().filled();
    const creates = Array.from({ length: 30 }, (_, i) =>
      cluster.send("POST", SERVICES, { metadata: { name: `s-${i}` }, spec: { ports: [{ port: 80 }] } }),
    );
    await cluster.send("DELETE", "");
    const codes = new Set((await Promise.all(creates)).map(({ code }) => code));
    for (const code of codes) expect([201, 404, 409, 503]).toContain(code);
    await cluster.gone();
    expect(await living(others)).toEqual([]);
  });
});

/** Classes by the calls of `wipe` that one deletion makes to them: to all objects of a class the same is done. */
const STEPS = [
  { object: "CredentialStore", nth: 1 },
  { object: "ProxyView", nth: 1 },
  { object: "NodeProxy", nth: 1 },
  { object: "Controller", nth: 1 },
  { object: "ServicesStore", nth: 1 },
  { object: "ResourceStore", nth: 1 },
  { object: "IPAddressesStore", nth: 1 },
  // It answers that there are owners, and is asked again.
  { object: "Coordinator", nth: 1 },
  { object: "Coordinator", nth: 2 },
  { object: "ServiceCIDR", nth: 1 },
] as const;

/** The n-th call of `wipe` to objects of a class: lost before its effect, or after it with its answer. */
function lostWipe(object: string, nth: number, when: "before" | "after"): { happened: boolean } {
  const seen = { calls: 0, happened: false };
  for (const type of [
    Coordinator,
    ServicesStore,
    IPAddressesStore,
    ResourceStore,
    ServiceCIDR,
    Controller,
    ProxyView,
    NodeProxy,
    CredentialStore,
  ]) {
    const prototype: Wipeable = type.prototype;
    const real = prototype.wipe;
    vi.spyOn(prototype, "wipe").mockImplementation(async function (this: Wipeable, listed: string[]) {
      if (className(this.constructor) !== object || ++seen.calls !== nth) return real.call(this, listed);
      if (when === "before") {
        seen.happened = true;
        throw new Error("lost before");
      }
      const { ctx } = this as unknown as { ctx: DurableObjectState };
      // The last thing that it does: wiped it is, and nobody is told.
      Object.defineProperty(ctx, "abort", {
        value: () => {
          seen.happened = true;
          throw new Error("lost after");
        },
      });
      const unlisted = await real.call(this, listed);
      seen.happened = true;
      throw new Error(`lost after: ${unlisted.length} owners`);
    });
  }
  return seen;
}

/**
 * The deletes of a cluster's keys, the last thing before its record says that it is gone: so many of them have their effect, and no answer of any
 * comes.
 */
function withoutAnswer(cluster: Cluster, { effects }: { effects: number }): { calls: number; happened: number } {
  const seen = { calls: 0, happened: 0 };
  const prototype = Object.getPrototypeOf(bindings.DIRECTORY) as Pick<KVNamespace, "delete">;
  const real = Object.getOwnPropertyDescriptor(prototype, "delete")?.value as KVNamespace["delete"];
  const patched = async function (this: KVNamespace, key: string): Promise<void> {
    if (!key.split("/").includes(cluster.name)) return real.call(this, key);
    if (++seen.calls <= effects) await real.call(this, key);
    seen.happened++;
    while (vi.isMockFunction(prototype.delete)) await scheduler.wait(LOOK_MS);
    throw new Error("the test is over");
  };
  vi.spyOn(prototype, "delete").mockImplementation(patched as KVNamespace["delete"]);
  return seen;
}

describe("a deletion that is interrupted", () => {
  it.each([
    { what: "none", effects: 0 },
    { what: "the first", effects: 1 },
    { what: "every one", effects: Infinity },
  ])(
    "all objects die as $what of the cluster's keys is deleted: the deletion ends all the same",
    { timeout: 60_000 },
    async ({ effects }) => {
      const cluster = await new Cluster().filled();
      expect((await cluster.keys()).length).toBeGreaterThan(1);
      const seen = withoutAnswer(cluster, { effects });
      await cluster.send("DELETE", "");
      await vi.waitUntil(() => seen.calls > 0 && seen.happened === seen.calls, { timeout: 30_000, interval: 5 });
      expect((await cluster.keys()).length === 0).toBe(effects === Infinity);
      expect(await clusterRecord(bindings, cluster.name).look()).toMatchObject({ phase: "deleting" });
      vi.restoreAllMocks();
      await abortAllDurableObjects();
      await cluster.gone();
      expect(await cluster.keys()).toEqual([]);
      expect(await clusterRecord(bindings, cluster.name).look()).toEqual({ phase: "absent" });
      await cluster.service("web");
      const { body } = await cluster.send("GET", SERVICES);
      expect(body.items?.map(({ metadata }) => metadata?.name).sort(), "of the next life").toEqual(["kubernetes", "web"]);
    },
  );

  it.each(STEPS.flatMap((step) => (["before", "after"] as const).map((when) => ({ ...step, when }))))(
    "all objects die at call $nth to a $object, $when its effect: the deletion ends all the same",
    { timeout: 60_000 },
    async ({ object, nth, when }) => {
      const cluster = new Cluster();
      await cluster.send("PUT", "");
      const uids = await cluster.ownerUids();
      const lost = lostWipe(object, nth, when);
      await cluster.send("DELETE", "");
      await vi.waitUntil(() => lost.happened, { timeout: 30_000, interval: 5 });
      vi.restoreAllMocks();
      await abortAllDurableObjects();
      await cluster.gone();
      for (const each of [...clusterObjects(CONTROLLERS.namesIn(false)), ...uids.map((name) => ({ kind: "owner" as const, name }))]) {
        await expect(recordedObject(bindings, cluster.name, each).wipe([]), `${each.kind} ${each.name}`).rejects.toThrow(CLUSTER_GONE);
      }
      expect(await cluster.keys()).toEqual([]);
      expect(await clusterRecord(bindings, cluster.name).look()).toEqual({ phase: "absent" });
    },
  );
});
