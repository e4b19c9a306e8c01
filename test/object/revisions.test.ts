/** Stores of a real cluster that begin above what clients can have seen (rule 32), and all that follows them. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import type { Env } from "../../durable-objects/env";
import { allStores } from "../../durable-objects/peers";
import { sqlStoreStorage } from "../../durable-objects/sql/store-sql";
import type { EndpointSlice, KubeObject } from "../../src/api/meta/kubernetes";
import { qualifiedResource } from "../../src/api/meta/status";
import { countedStatements } from "../support/objects/counted-rows";
import { addressOf, createRequest, messageOf, ObjectCluster } from "../support/objects/object-cluster";
import { eventually } from "../support/objects/object-ranges";
import { PATIENCE } from "../support/objects/patience";
import { createIn, freshCluster, storedIn, storeStubOf } from "../support/objects/store-stubs";
import { aLease } from "../support/worlds/store-world";

const bindings = env as unknown as Env;
const HEAD = 4_711;
const ABOVE = HEAD + 1_000_000_000;

/** Every store of the cluster. */
async function beginAbove(cluster: string, head?: number): Promise<Map<string, number | null>> {
  const data = { asOf: Date.now(), ...(head === undefined ? {} : { head }) };
  const begun = allStores(bindings, cluster).map(
    async ({ definition, store }) => [qualifiedResource(definition), await store().beginAbove(data)] as const,
  );
  return new Map(await Promise.all(begun));
}

it("a whole cluster that begins above: addresses, ranges and controllers go on, over a restart too", async () => {
  const cluster = await new ObjectCluster().ready();
  await cluster.ranges.ready("kubernetes");
  const address = addressOf(await cluster.create("before"));
  await cluster.ranges.created("extra", "10.97.0.0/24");
  for (const begun of (await beginAbove(cluster.name, HEAD)).values()) expect(begun).toBe(ABOVE);
  const { services, ipAddresses } = await cluster.stored();
  for (const { metadata } of [...services, ...ipAddresses]) expect(Number(metadata?.resourceVersion)).toBeGreaterThan(ABOVE);
  await cluster.check();

  expect(messageOf(await cluster.create("taken", { clusterIP: address }))).toMatch(/^422 .*provided IP is already allocated/);
  const other = addressOf(await cluster.create("other", { clusterIP: "10.97.0.9" }));
  expect(messageOf(await cluster.patch("before", { metadata: { labels: { changed: "yes" } } }))).toBe("");
  await cluster.remove("before");
  await eventually(async () => messageOf(await cluster.create("heir", { clusterIP: address })) === "");
  await abortAllDurableObjects();
  await cluster.ranges.ready("extra");
  expect(addressOf(await cluster.create("after"))).not.toBe(other);
  await cluster.repair();
  await cluster.check();
  expect(await cluster.ranges.condition("kubernetes")).toBe("True ");
});

it("controllers whose cursors are of the life before: list again, and keep what they make", async () => {
  const cluster = await new ObjectCluster().ready();
  const slices = storeStubOf(cluster.name, "endpointslices.discovery.k8s.io");
  const endpoints = async (): Promise<string[]> => {
    const rows = await runInDurableObject(slices, (_, { storage }) => [...sqlStoreStorage(storage).objectScan("", "")]);
    return rows
      .map(({ data }) => JSON.parse(data) as EndpointSlice)
      .flatMap(({ metadata, endpoints: all }) => (metadata?.labels?.["app"] === "web" ? all.flatMap(({ addresses }) => addresses) : []))
      .sort();
  };
  const pod = async (name: string, podIP: string): Promise<void> => {
    const pods = storeStubOf(cluster.name, "pods");
    const metadata = { name, namespace: "default", labels: { app: "web" } };
    const object = { metadata, spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] } } as KubeObject;
    expect(messageOf(await createIn(pods, object))).toBe("");
    const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }], conditions: [{ type: "Ready", status: "True" }] };
    const request = { verb: "patch", key: { namespace: "default", name }, subresource: "status", patchType: "merge" } as const;
    const { options } = createRequest(name, {}) as Extract<ReturnType<typeof createRequest>, { verb: "create" }>;
    expect(messageOf(await pods.write({ ...request, patch: JSON.stringify({ status }), options }))).toBe("");
  };
  const web = createRequest("web", { selector: { app: "web" } }, { metadata: { labels: { app: "web" } } });
  expect(messageOf(await cluster.services.write(web))).toBe("");
  await pod("one", "10.1.0.1");
  await expect.poll(endpoints, PATIENCE).toEqual(["10.1.0.1"]);
  await beginAbove(cluster.name, HEAD);
  await pod("two", "10.1.0.2");
  await expect.poll(endpoints, PATIENCE).toEqual(["10.1.0.1", "10.1.0.2"]);
  // The stores were brought back once more, with all that they hold.
  await beginAbove(cluster.name);
  await pod("three", "10.1.0.3");
  await expect.poll(endpoints, PATIENCE).toEqual(["10.1.0.1", "10.1.0.2", "10.1.0.3"]);
});

it("a store that begins above: is above after an abort at once, with revisions up to 2^53", async () => {
  const cluster = freshCluster();
  const leases = () => storeStubOf(cluster, "leases.coordination.k8s.io");
  await createIn(leases(), aLease("a", {}, { namespace: "default" }));
  const head = 2 ** 52 + 1;
  expect(await leases().beginAbove({ head, asOf: Date.now() })).toBe(head + 1_000_000_000);
  await abortAllDurableObjects();
  await createIn(leases(), aLease("b", {}, { namespace: "default" }));
  const stored = await Promise.all(["a", "b"].map((name) => storedIn(leases(), "default", name)));
  expect(stored.map((one) => one?.metadata?.resourceVersion)).toEqual([2, 3].map((more) => String(head + 999_999_999 + more)));
  expect(await leases().beginAbove({ head: 2 ** 53 - 1, asOf: Date.now() })).toBeNull();
});

it("a start of an object: reads one row more for its gaps, and writes none", async () => {
  const cluster = freshCluster();
  const leases = () => storeStubOf(cluster, "leases.coordination.k8s.io");
  await createIn(leases(), aLease("a", {}, { namespace: "default" }));
  await abortAllDurableObjects();
  const statements = await countedStatements(storeStubOf(freshCluster(), "nodes"), async () => {
    await leases().get({ namespace: "default", name: "a" }, "");
  });
  expect(statements.filter(({ written }) => written > 0)).toEqual([]);
});
