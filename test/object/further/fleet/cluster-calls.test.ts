/** What the objects of the fleet tell each other, with the whole Worker and real objects: a call that comes late has to be known as such. */
import { env, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { ResourceStore } from "../../../../durable-objects/resource-store";
import type { ControllersRow, EndedObject, QuotasRow } from "../../../../src/tenancy/record-storage";
import { AccessWorld } from "../../../support/access/access-world";
import { intercept } from "../../../support/objects/intercept";
import { PATIENCE } from "../../../support/objects/patience";
import { restart } from "../../../support/objects/repair-paths";

const OBJECTS = "/clusters/default/apis/servicenet.dev/v1alpha1/clusters";
const PATCH = { "Content-Type": "application/merge-patch+json" };
const bindings = env as unknown as Env;

let world: AccessWorld;
let name: string;
beforeEach(() => {
  world = new AccessWorld();
  name = `${world.cluster}-a`;
});

afterEach(() => vi.restoreAllMocks());

interface Shown {
  metadata: { uid: string; generation: number; creationTimestamp: string };
  status: { phase: string; id?: string; observedGeneration?: number };
}

/** The object once its cluster is as its spec says. */
async function settled(): Promise<Shown> {
  return vi.waitFor(async () => {
    const shown = (await world.ask("GET", `${OBJECTS}/${name}`)).body as unknown as Shown;
    expect([shown.status.phase, shown.status.observedGeneration]).toEqual(["Active", shown.metadata.generation]);
    return shown;
  }, PATIENCE);
}

/** What the record keeps under these keys. */
async function kept(): Promise<{ controllers: ControllersRow | undefined; quotas: QuotasRow | undefined; ended: string[] }> {
  return runInDurableObject(bindings.CLUSTER_RECORD.getByName(`${name}/record`) as DurableObjectStub, (_, { storage: { kv } }) => ({
    controllers: kv.get<ControllersRow>("controllers"),
    quotas: kv.get<QuotasRow>("quotas"),
    ended: (kv.get<EndedObject[]>("ended-objects") ?? []).map(({ uid }) => uid),
  }));
}

function namespaces(id: string): DurableObjectStub {
  return bindings.RESOURCE_STORE.getByName(`${id}/namespaces`) as DurableObjectStub;
}

/** Whether a namespace that is made now has its quota behind the answer. */
async function startsWithQuota(namespace: string): Promise<boolean> {
  const path = `/clusters/${name}/api/v1/namespaces`;
  expect((await world.ask("POST", path, { body: { metadata: { name: namespace } } })).code).toBe(201);
  return (await world.ask("GET", `${path}/${namespace}/resourcequotas/initial`)).code === 200;
}

describe("the record of a cluster", () => {
  it("hears from the controller which object says something, in which generation and of which life; and that it has ended", async () => {
    await world.make(OBJECTS, { metadata: { name }, spec: { controllers: ["*"], quotas: { pods: "5" } } });
    const made = await settled();
    const { uid } = made.metadata;
    const life = made.status.id;
    const createdAt = Date.parse(made.metadata.creationTimestamp);
    const { quotas } = await kept();
    expect(quotas, "it has begun with them").toMatchObject({ source: { uid, generation: 1 }, isTold: true });
    expect(quotas).not.toHaveProperty("isFirst");
    expect((await kept()).controllers?.source).toEqual({ uid, generation: 1, createdAt, life });
    await world.ask("PATCH", `${OBJECTS}/${name}`, { body: { spec: { quotas: { pods: "6" } } }, headers: PATCH });
    await settled();
    expect((await kept()).quotas?.source).toEqual({ uid, generation: 2, createdAt, life });
    await world.ask("DELETE", `${OBJECTS}/${name}`);
    await vi.waitFor(async () => expect((await world.ask("GET", `${OBJECTS}/${name}`)).code).toBe(404), PATIENCE);
    expect((await kept()).ended).toEqual([uid]);
  });

  it("hears the same from PUT and DELETE of /clusters/{name}", async () => {
    await world.ask("PUT", `/clusters/${name}`, { body: { controllers: ["*"] } });
    const { metadata, status } = await settled();
    const { uid } = metadata;
    const createdAt = Date.parse(metadata.creationTimestamp);
    await world.ask("PUT", `/clusters/${name}`, { body: { controllers: ["*", "-namespace-controller"] } });
    expect((await kept()).controllers?.source).toEqual({ uid, generation: 2, createdAt, life: status.id });
    expect((await world.ask("DELETE", `/clusters/${name}`)).code).toBe(202);
    expect((await kept()).ended).toEqual([uid]);
  });
});

describe("quotas of a cluster", () => {
  it("a namespace that is made as soon as somebody learns of the cluster: has its quota", async () => {
    await world.make(OBJECTS, { metadata: { name }, spec: { quotas: { pods: "5" } } });
    await vi.waitFor(async () => expect((await world.ask("GET", `/clusters/${name}`)).code).toBe(200), { ...PATIENCE, interval: 1 });
    expect(await startsWithQuota("first")).toBe(true);
  });

  it("the store of ResourceQuotas does not answer: the namespace is there, and its quota comes by the alarm of its own store", async () => {
    await world.make(OBJECTS, { metadata: { name }, spec: { quotas: { pods: "5" } } });
    await settled();
    let isSilent = true;
    intercept(ResourceStore.prototype, "write", (call, object) => {
      const isQuotas = (object as { ctx: DurableObjectState }).ctx.id.name === `${name}/resourcequotas`;
      return isQuotas && isSilent ? Promise.reject(new Error("silent")) : call();
    });
    expect(await startsWithQuota("first")).toBe(false);
    isSilent = false;
    const quota = `/clusters/${name}/api/v1/namespaces/first/resourcequotas/initial`;
    await vi.waitFor(async () => expect((await world.ask("GET", quota)).code).toBe(200), PATIENCE);
  });

  it("a store of Namespaces that was brought back to a time before them: is told again", async () => {
    await world.make(OBJECTS, { metadata: { name }, spec: { quotas: { pods: "5" } } });
    const { status } = await settled();
    const store = namespaces(status.id ?? "");
    await runInDurableObject(store, (_, { storage }) => void storage.kv.delete("namespace-quotas"));
    await restart(store);
    expect(await startsWithQuota("lost")).toBe(false);
    const asked = { asOf: new Date().toISOString(), resources: ["namespaces"] };
    expect((await world.ask("POST", `/clusters/${name}/revisions`, { body: asked })).code).toBe(200);
    let made = 0;
    await vi.waitFor(async () => expect(await startsWithQuota(`n${++made}`)).toBe(true), PATIENCE);
  });
});
