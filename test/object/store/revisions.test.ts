/** Stores of a real cluster that begin above what clients can have seen (rule 32), and all that follows them. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { allStores } from "../../../durable-objects/peers/peers";
import { sqlStoreStorage } from "../../../durable-objects/sql/store-sql";
import { qualifiedResource } from "../../../src/api/meta/status";
import { countedStatements } from "../../support/objects/counted-rows";
import { addressOf, messageOf, ObjectCluster } from "../../support/objects/object-cluster";
import { eventually } from "../../support/objects/object-ranges";
import { createIn, freshCluster, storedIn, storeStubOf } from "../../support/objects/store-stubs";
import { aLease } from "../../support/worlds/store-world";

const bindings = env as unknown as Env;
const HEAD = 4_711;
const ABOVE = HEAD + 1_000_000_000;

/** Every store of the cluster. */
async function beginAbove(cluster: string, head: number): Promise<Map<string, number | null>> {
  const data = { asOf: Date.now(), head };
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

it("hazard 14: a store that begins above: is above after an abort at once, with revisions up to 2^53", async () => {
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

it("a start of an object of a deployed server: writes nothing", async () => {
  const cluster = freshCluster();
  const leases = () => storeStubOf(cluster, "leases.coordination.k8s.io");
  await createIn(leases(), aLease("a", {}, { namespace: "default" }));
  await abortAllDurableObjects();
  const statements = await countedStatements(storeStubOf(freshCluster(), "nodes"), async () => {
    await leases().get({ namespace: "default", name: "a" }, "");
  });
  const own = statements.filter(({ object }) => object === leases().name);
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter(({ written }) => written > 0)).toEqual([]);
  expect(await runInDurableObject(leases(), (_, { storage }) => sqlStoreStorage(storage).gapsLoad())).toBeUndefined();
});
