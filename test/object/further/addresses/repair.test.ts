import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import {
  eventsStore,
  ipAddressesStore,
  owner,
  coordinator,
  repairStub,
  servicesStore,
  storeStub,
} from "../../../../durable-objects/peers/peers";
import type { CoreEvent, IPAddress, KubeObject, Service } from "../../../../src/api/meta/kubernetes";
import type { ObjectFeed } from "../../../../src/api/rpc/object-feed";
import { clusterName } from "../../../../src/tenancy/cluster-id";
import { checkPaired, checkUnique } from "../../../support/checks/checkers";
import { countedCalls } from "../../../support/objects/counted-calls";
import { createRequest, DELETE, WRITE } from "../../../support/worlds/store-world";
import { freshCluster } from "../../../support/objects/store-stubs";
import { PATIENCE } from "../../../support/objects/patience";

const bindings = env as unknown as Env;

async function begunCluster(): Promise<string> {
  const cluster = freshCluster();
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

/** Three waits, one after the other. */
const SWEPT_MS_MAX = 90_000;

describe("repair on real objects", () => {
  it("hazard 13: a force-deleted IPAddress frees nothing and comes back without cron, with an event that counts on", async () => {
    const cluster = await begunCluster();
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
    expect(await repairStub(bindings, cluster).repairCounts()).toMatchObject({ ipErrors: { repair: 2 }, reconcileErrors: 0 });
    expect(await eventsStore(bindings, cluster).expire()).toMatchObject({ deleted: 0 });
  });

  it("events of repair: name the cluster as clients know it, in every life of the name", async () => {
    const cluster = `${await begunCluster()}~2`;
    await servicesStore(bindings, cluster).ensureBootstrapped();
    const address = await createService(cluster, "web");
    await ipAddressesStore(bindings, cluster).write({ verb: "delete", key: { namespace: "", name: address }, options: DELETE });
    await vi.waitFor(async () => {
      const events = await objectsIn<CoreEvent>(cluster, "events");
      expect(events.map(({ reportingInstance }) => reportingInstance)).toEqual([`ipallocator-repair-controller-${clusterName(cluster)}`]);
    }, PATIENCE);
    expect(clusterName(cluster)).not.toContain("~");
  });

  it("a row lost while its range is Terminating: taken again, and the range stays", { timeout: SWEPT_MS_MAX }, async () => {
    const cluster = await begunCluster();
    const ranges = () => coordinator(bindings, cluster);
    const options = { ...WRITE, group: "networking.k8s.io" };
    const object = { metadata: { name: "extra" }, spec: { cidrs: ["10.97.0.0/24"] } };
    expect(await ranges().write(createRequest(object, options))).toMatchObject({ ok: true });
    await vi.waitFor(async () => expect((await ranges().topology()).ranges).toHaveLength(2), PATIENCE);
    for (const [name, clusterIP] of Object.entries({ lost: "10.97.0.9", other: "10.97.0.10" })) {
      const service = { metadata: { namespace: "default", name }, spec: { clusterIP, ports: [{ port: 80 }] } };
      const made = await servicesStore(bindings, cluster).write(createRequest(service, { ...WRITE, group: "" }));
      expect(made).toMatchObject({ ok: true });
    }
    await ranges().write({ verb: "delete", key: { namespace: "", name: "extra" }, options: DELETE });
    const { claims } = await ranges().topology();
    const uid = claims.find(({ prefix }) => prefix === "10.97.0.0/24")?.ownerUid ?? "";
    await runInDurableObject(bindings.SERVICE_CIDR.getByName(`${cluster}/${uid}`), (_, { storage }) => {
      expect(storage.sql.exec("DELETE FROM address WHERE name = 'lost'").rowsWritten).toBeGreaterThan(0);
    });
    await abortAllDurableObjects();
    // The first work of the services store sends the newest IPAddresses again. The one that goes behind that is repair's.
    await countedCalls(() => servicesStore(bindings, cluster).maintain());
    await ipAddressesStore(bindings, cluster).write({ verb: "delete", key: { namespace: "", name: "10.97.0.9" }, options: DELETE });
    await vi.waitFor(() => expectWhole(cluster), PATIENCE);
    expect(await heldRows(cluster)).toContain("10.97.0.9");
    await servicesStore(bindings, cluster).write({ verb: "delete", key: { namespace: "default", name: "other" }, options: DELETE });
    await ranges().maintain();
    const condition = async (): Promise<string> => {
      const found = await ranges().get({ namespace: "", name: "extra" }, "");
      return found.ok ? found.object : "gone";
    };
    await vi.waitFor(async () => expect(await condition()).toContain('"Terminating"'), PATIENCE);
  });

  it("Services stored without row and IPAddress: get both, also through a restart of all objects", async () => {
    const cluster = await begunCluster();
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
    await repairStub(bindings, cluster).sweep();
    await abortAllDurableObjects();
    await repairStub(bindings, cluster).poke();
    // Reading everything over and over would take the thread that the sweep works on: the counter says when to look.
    await vi.waitFor(async () => expect((await repairStub(bindings, cluster).repairCounts()).sweeps).toBeGreaterThan(0), PATIENCE);
    await vi.waitFor(() => expectWhole(cluster), PATIENCE);
    expect(await objectsIn(cluster, "services")).toHaveLength(301);
  });
});
