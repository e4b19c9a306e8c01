/** Pools of the root and claims of other clusters on real Durable Objects, which die now and then. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import type { AddressClaim, AddressPool, PoolAddress } from "../../../../src/api/registry/ipam/ipam";
import { type AppAnswer, AppCluster, bindings } from "../../../support/access/app-cluster";
import { freshCluster } from "../../../support/objects/store-stubs";
import type { ResourceStore } from "../../../../durable-objects/resource-store";
import { PATIENCE } from "../../../support/objects/patience";

type Answer = AppAnswer & { status?: AddressClaim["status"] & AddressPool["status"] };

const IPAM = "/apis/ipam.cluster.x-k8s.io";
const CLAIMS = `${IPAM}/v1beta2/namespaces/default/ipaddressclaims`;
const ADDRESSES = `${IPAM}/v1beta2/namespaces/default/ipaddresses`;
const POOLS = `${IPAM}/v1alpha2/globalinclusterippools`;
const root = new AppCluster<Answer>("default");

function poolRef(pool: string): object {
  return { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterIPPool", name: pool };
}

async function claim(cluster: AppCluster<Answer>, name: string, pool: string): Promise<void> {
  expect((await cluster.send("POST", CLAIMS, { metadata: { name }, spec: { poolRef: poolRef(pool) } })).code).toBe(201);
}

async function pool(name: string, addresses: string[], annotations: Record<string, string> = {}): Promise<void> {
  const { code, body } = await root.send("POST", POOLS, { metadata: { name, annotations }, spec: { addresses, prefix: 22 } });
  expect(code, body.message).toBe(201);
}

async function given(cluster: AppCluster<Answer>): Promise<string[]> {
  const { body } = await cluster.send("GET", ADDRESSES);
  return ((body.items ?? []) as PoolAddress[]).map(({ metadata, spec }) => `${metadata?.name ?? ""} ${spec?.address ?? ""}`);
}

async function reasons(cluster: AppCluster<Answer>, name: string): Promise<string[]> {
  const { body } = await cluster.send("GET", `${CLAIMS}/${name}`);
  return (body.status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`).toSorted();
}

async function used(name: string): Promise<unknown> {
  return (await root.send("GET", `${POOLS}/${name}`)).body.status?.ipAddresses?.used;
}

it("two clusters on one pool: its addresses differ, it counts them, and what one gives back the other has", async () => {
  const [blue, red] = [new AppCluster<Answer>(), new AppCluster<Answer>()];
  await pool("shared", ["192.0.2.1-192.0.2.2"]);
  await claim(blue, "a", "shared");
  await vi.waitFor(async () => expect(await reasons(blue, "a")).toEqual(["PoolFound AtRoot", "Ready Ready"]), PATIENCE);
  await claim(red, "b", "shared");
  await vi.waitFor(async () => expect(await given(red)).toEqual(["b 192.0.2.2"]), PATIENCE);
  await claim(red, "c", "shared");
  await vi.waitFor(async () => expect(await reasons(red, "c")).toEqual(["PoolFound AtRoot", "Ready PoolExhausted"]), PATIENCE);
  await vi.waitFor(async () => expect(await used("shared")).toBe(2), PATIENCE);
  const deleted = await root.send("DELETE", `${POOLS}/shared`);
  expect([deleted.code, deleted.body.message]).toEqual([400, expect.stringContaining("Pool has IPAddresses allocated.")]);
  const shrunk = await root.send("PATCH", `${POOLS}/shared`, { spec: { addresses: ["192.0.2.1"] } });
  expect([shrunk.code, shrunk.body.message]).toEqual([400, expect.stringContaining("[192.0.2.2-192.0.2.2]")]);
  await blue.send("DELETE", `${CLAIMS}/a`);
  await vi.waitFor(async () => expect(await given(red)).toEqual(["b 192.0.2.2", "c 192.0.2.1"]), PATIENCE);
  expect(await given(blue)).toEqual([]);
});

it("the grace of a pool: its address stays used for so long, and comes back by itself", async () => {
  const blue = new AppCluster<Answer>();
  const spec = { addresses: ["203.0.113.250"], prefix: 24, addressReuseGracePeriodSeconds: 2 };
  expect((await root.send("POST", POOLS, { metadata: { name: "late" }, spec })).code).toBe(201);
  await claim(blue, "a", "late");
  await vi.waitFor(async () => expect(await given(blue)).toEqual(["a 203.0.113.250"]), PATIENCE);
  await blue.send("DELETE", `${CLAIMS}/a`);
  await vi.waitFor(async () => expect(await given(blue)).toEqual([]), PATIENCE);
  expect(await used("late")).toBe(1);
  await vi.waitFor(async () => expect(await used("late")).toBe(0), PATIENCE);
});

it("rows at the root are nobody's to make or delete; an address that a client of a cluster makes up is refused", async () => {
  const blue = new AppCluster<Answer>();
  await pool("guarded", ["198.51.100.1-198.51.100.9"]);
  await claim(blue, "a", "guarded");
  await vi.waitFor(async () => expect(await given(blue)).toEqual(["a 198.51.100.1"]), PATIENCE);
  const spec = { claimRef: { name: "b" }, poolRef: poolRef("guarded"), address: "198.51.100.2", prefix: 24 };
  const forged = await blue.send("POST", ADDRESSES, { metadata: { name: "b" }, spec });
  expect([forged.code, forged.body.message]).toEqual([422, expect.stringContaining("the pool of this name is the root's")]);
  const path = `${IPAM}/v1beta2/namespaces/kube-system/ipaddresses`;
  const rows = ((await root.send("GET", path)).body.items ?? []) as PoolAddress[];
  const [row] = rows.filter((one) => one.spec?.address === "198.51.100.1");
  await root.send("DELETE", `${path}/${row?.metadata?.name ?? ""}`);
  const kept = await root.send("PATCH", `${path}/${row?.metadata?.name ?? ""}`, { metadata: { finalizers: null } });
  expect([kept.code, kept.body.metadata?.finalizers]).toEqual([200, ["servicenet.dev/cluster-claim"]]);
});

it("a pool for clusters with a label, and a selector that is none", async () => {
  const wrong = await root.send("POST", POOLS, {
    metadata: { name: "wrong", annotations: { "servicenet.dev/clusters": "a in" } },
    spec: { addresses: ["203.0.113.200"], prefix: 24 },
  });
  expect(wrong.code).toBe(422);
  const [edge, core] = [freshCluster(), freshCluster()];
  const make = async (name: string, tier: string): Promise<AppCluster<Answer>> => {
    const object = { metadata: { name, labels: { tier } }, spec: {} };
    expect((await root.send("POST", "/apis/servicenet.dev/v1alpha1/clusters", object)).code).toBe(201);
    await vi.waitFor(async () => {
      const { body } = await root.send("GET", `/apis/servicenet.dev/v1alpha1/clusters/${name}`);
      expect((body.status as { phase?: string } | undefined)?.phase).toBe("Active");
    }, PATIENCE);
    return new AppCluster<Answer>(name);
  };
  await pool("edge", ["203.0.113.1-203.0.113.9"], { "servicenet.dev/clusters": "tier=edge" });
  const [at, apart] = [await make(edge, "edge"), await make(core, "core")];
  await claim(at, "a", "edge");
  await claim(apart, "a", "edge");
  await vi.waitFor(async () => expect(await given(at)).toEqual(["a 203.0.113.1"]), PATIENCE);
  await vi.waitFor(async () => expect(await reasons(apart, "a")).toEqual(["Ready PoolNotReady"]), PATIENCE);
});

it("a cluster that is deleted with its claims gives all back, and one of its name begins without them", async () => {
  const name = freshCluster();
  const object = { metadata: { name }, spec: {} };
  const clusters = "/apis/servicenet.dev/v1alpha1/clusters";
  expect((await root.send("POST", clusters, object)).code).toBe(201);
  const cluster = new AppCluster<Answer>(name);
  await pool("ended", ["203.0.113.101-203.0.113.102"]);
  await vi.waitFor(async () => expect((await cluster.send("GET", CLAIMS)).code).toBe(200), PATIENCE);
  await claim(cluster, "a", "ended");
  await claim(cluster, "b", "ended");
  await vi.waitFor(async () => expect(await given(cluster)).toHaveLength(2), PATIENCE);
  expect((await root.send("DELETE", `${clusters}/${name}`)).code).toBe(200);
  await vi.waitFor(async () => expect((await root.send("GET", `${clusters}/${name}`)).code).toBe(404), PATIENCE);
  await vi.waitFor(async () => expect(await used("ended")).toBe(0), PATIENCE);
  expect((await root.send("POST", clusters, object)).code).toBe(201);
  await vi.waitFor(async () => expect((await cluster.send("GET", CLAIMS)).code).toBe(200), PATIENCE);
  await claim(cluster, "c", "ended");
  await vi.waitFor(async () => expect(await given(cluster)).toEqual(["c 203.0.113.101"]), PATIENCE);
});

it("the store of the root comes back without its rows: they are taken again before it gives anything", async () => {
  const [blue, red] = [new AppCluster<Answer>(), new AppCluster<Answer>()];
  await pool("recovered", ["203.0.113.60-203.0.113.69"]);
  await claim(blue, "a", "recovered");
  await vi.waitFor(async () => expect(await given(blue)).toEqual(["a 203.0.113.60"]), PATIENCE);
  const store = (): DurableObjectStub<ResourceStore> =>
    bindings.RESOURCE_STORE.getByName("default/ipaddresses.ipam.cluster.x-k8s.io") as DurableObjectStub<ResourceStore>;
  await runInDurableObject(store(), (_, { storage }) => {
    storage.sql.exec("DELETE FROM objects WHERE data LIKE '%203.0.113.60%'");
    for (const [key] of storage.kv.list({ prefix: "fleet/" })) storage.kv.delete(key);
  });
  await abortAllDurableObjects();
  expect(await store().beginAbove({ asOf: Date.now() })).not.toBeNull();
  await claim(red, "b", "recovered");
  await vi.waitFor(async () => expect(await given(red)).toEqual(["b 203.0.113.61"]), PATIENCE);
  expect(await given(blue)).toEqual(["a 203.0.113.60"]);
  await vi.waitFor(async () => expect(await used("recovered")).toBe(2), PATIENCE);
});

it("200 claims of two clusters at once, while every object dies: all addresses differ, and all come back", async () => {
  const both = [new AppCluster<Answer>(), new AppCluster<Answer>()];
  await pool("many", ["100.64.0.0/23"]);
  for (let batch = 0; batch < 4; batch++) {
    const names = Array.from({ length: 25 }, (_, i) => `c-${batch}-${i}`);
    await Promise.all(both.flatMap((cluster) => names.map((one) => claim(cluster, one, "many"))));
    if (batch % 2 === 1) await abortAllDurableObjects();
  }
  const all = async (): Promise<string[]> => (await Promise.all(both.map(given))).flat().map((text) => text.split(" ")[1] ?? "");
  const patience = { ...PATIENCE, interval: 500 };
  await vi.waitFor(async () => {
    for (const cluster of both) await cluster.tick();
    const addresses = await all();
    expect([addresses.length, new Set(addresses).size]).toEqual([200, 200]);
  }, patience);
  await Promise.all(both.map((cluster) => cluster.send("DELETE", CLAIMS)));
  await vi.waitFor(async () => {
    for (const cluster of [root, ...both]) await cluster.tick();
    expect([await all(), await used("many")]).toEqual([[], 0]);
  }, patience);
});
