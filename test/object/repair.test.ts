import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../durable-objects/env";
import { eventsStore, ipAddressesStore, owner, coordinator, repairController, servicesStore, storeStub } from "../../durable-objects/peers";
import type { CoreEvent, IPAddress, KubeObject, Service } from "../../src/meta/kubernetes";
import type { ObjectFeed } from "../../src/rpc/object-feed";
import { checkPaired, checkUnique } from "../support/checkers";
import { createRequest, DELETE, WRITE } from "../support/store-world";

const bindings = env as unknown as Env;
const PATIENCE = { timeout: 10_000, interval: 50 };

let clusters = 0;

async function freshCluster(): Promise<string> {
  const cluster = `repair-test-${++clusters}`;
  await servicesStore(bindings, cluster).ensureBootstrapped();
  return cluster;
}

async function createService(cluster: string, name: string): Promise<string> {
  const object = { metadata: { namespace: "default", name }, spec: { ports: [{ port: 80 }] } };
  const result = await servicesStore(bindings, cluster).write(createRequest(object, { ...WRITE, group: "" }));
  if (!result.ok) throw new Error(result.status.message);
  return (JSON.parse(result.object) as Service).spec?.clusterIP ?? "";
}

async function objectsIn<T>(cluster: string, resource: "services" | "ipaddresses" | "events"): Promise<T[]> {
  const group = resource === "ipaddresses" ? "networking.k8s.io" : "";
  const { objects } = await storeStub<ObjectFeed>(bindings, cluster, { group, resource }).objectsAfter("", 10_000);
  return objects.map((text) => JSON.parse(text) as T);
}

async function heldRows(cluster: string): Promise<string[]> {
  const { claims } = await coordinator(bindings, cluster).topology();
  const uids = new Set(claims.map(({ ownerUid }) => ownerUid));
  const answers = await Promise.all([...uids].map((uid) => owner(bindings, cluster, uid).rowsSince(0, 10_000)));
  return answers.flatMap(({ rows }) => rows.map(({ address }) => address)).sort();
}

async function expectWhole(cluster: string): Promise<void> {
  const [services, ipAddresses] = [await objectsIn<Service>(cluster, "services"), await objectsIn<IPAddress>(cluster, "ipaddresses")];
  expect([...checkUnique({ services }), ...checkPaired({ services, ipAddresses })]).toEqual([]);
  expect(await heldRows(cluster)).toEqual(ipAddresses.map(({ metadata }) => metadata?.name ?? "").sort());
}

describe("repair on real objects", () => {
  it("a force-deleted IPAddress comes back without cron, with an event that counts on", async () => {
    const cluster = await freshCluster();
    const address = await createService(cluster, "web");
    const rows = await heldRows(cluster);
    for (let round = 1; round <= 2; round++) {
      const removed = await ipAddressesStore(bindings, cluster).write({
        verb: "delete",
        key: { namespace: "", name: address },
        options: DELETE,
      });
      expect(removed.ok).toBe(true);
      await vi.waitFor(() => expectWhole(cluster), PATIENCE);
      await vi.waitFor(async () => {
        const events = await objectsIn<CoreEvent>(cluster, "events");
        expect(events.map(({ reason, series }) => [reason, series?.count ?? 1])).toEqual([["ClusterIPNotAllocated", round]]);
      }, PATIENCE);
    }
    expect(await heldRows(cluster)).toEqual(rows);
    expect(await repairController(bindings, cluster).repairCounts()).toEqual({ ipErrors: { repair: 2 }, reconcileErrors: 0 });
    expect(await eventsStore(bindings, cluster).expire()).toBe(0);
  });

  it("Services stored without row and IPAddress get both, also through a restart of everything", async () => {
    const cluster = await freshCluster();
    const services = bindings.SERVICES_STORE.getByName(`${cluster}/services`);
    const planted = Array.from({ length: 300 }, (_, i): KubeObject & Service => ({
      metadata: {
        namespace: "default",
        name: `web-${i}`,
        uid: `uid-${i}`,
        creationTimestamp: "2026-01-01T00:00:00Z",
        resourceVersion: "1",
      },
      spec: {
        type: "ClusterIP",
        clusterIP: `10.96.${1 + (i >> 8)}.${i & 255}`,
        clusterIPs: [`10.96.${1 + (i >> 8)}.${i & 255}`],
        ports: [{ port: 80 }],
      },
    }));
    await runInDurableObject(services, (_, { storage }) => {
      storage.transactionSync(() => {
        for (const object of planted) {
          const { name = "", uid = "" } = object.metadata ?? {};
          const row = [`default/${name}`, uid, 1, JSON.stringify(object)] as const;
          storage.sql.exec("INSERT INTO objects (key, uid, revision, data) VALUES (?, ?, ?, ?)", ...row);
        }
      });
    });
    await repairController(bindings, cluster).poke();
    await abortAllDurableObjects();
    await repairController(bindings, cluster).poke();
    await vi.waitFor(() => expectWhole(cluster), PATIENCE);
    expect(await objectsIn(cluster, "services")).toHaveLength(301);
  });
});
