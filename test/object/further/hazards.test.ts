/**
 * The hazards of the protocol on real Durable Objects: what decides is in their tables, and many have died in between. test/sim/hazards plays all
 * twenty; other tests of real objects that show one have its number in their title.
 */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { Controller } from "../../../durable-objects/controller";
import type { Env } from "../../../durable-objects/platform/env";
import { IPAddressesStore } from "../../../durable-objects/ip-addresses-store";
import { controller } from "../../../durable-objects/peers/peers";
import { ServiceCIDR } from "../../../durable-objects/service-cidr";
import { sqlRepairStorage } from "../../../durable-objects/sql/repair-sql";
import { sqlStoreStorage } from "../../../durable-objects/sql/store-sql";
import type { Service } from "../../../src/api/meta/kubernetes";
import type { IPAddressWrite } from "../../../src/addresses/rpc/ip-addresses";
import type { StoreCursor } from "../../../src/api/rpc/object-links";
import type { OwnerConfig } from "../../../src/addresses/rpc/service-cidr";
import type { WriteRequest } from "../../../src/api/rpc/store";
import { RETIRED, type OwnerContent } from "../../../src/addresses/topology/owner-content";
import { holdAnswer } from "../../support/objects/held-call";
import { intercept } from "../../support/objects/intercept";
import { addressOf, messageOf, ObjectCluster } from "../../support/objects/object-cluster";
import { eventually } from "../../support/objects/object-ranges";
import { createAddress } from "../../support/objects/range-requests";
import { forgetHistory, newestStored } from "../../support/worlds/stored-history";
import { DELETE } from "../../support/worlds/store-world";
import { platformStub } from "../../support/objects/every-object";

const bindings = env as unknown as Env;
const RANGE = "10.97.0.0/24";
const NINE = "10.97.0.9";

/** A cluster with 10.97.0.0/24 beside the default range. */
async function withRange(): Promise<{ cluster: ObjectCluster; uid: string }> {
  const cluster = await new ObjectCluster().ready();
  return { cluster, uid: await cluster.ranges.created("extra", RANGE) };
}

/** Who holds the address at the owner. */
async function rowOf(cluster: ObjectCluster, uid: string, address: string): Promise<{ name: string; token: string } | undefined> {
  const { rows } = await cluster.ranges.owner(uid).rowsSince(0, 1_000);
  const row = rows.find((each) => each.address === address);
  return row && { name: row.holder.name, token: row.token };
}

/** What the Coordinator told the owner last. */
async function toldTo(cluster: ObjectCluster, uid: string): Promise<OwnerConfig> {
  const row = (await cluster.ranges.state()).owners.find((owner) => owner.uid === uid);
  return { epoch: row?.epoch ?? 0, ...(JSON.parse(row?.content ?? "{}") as OwnerContent) };
}

/** Of an IPAddress. */
function removal(name: string): WriteRequest {
  return { verb: "delete", key: { namespace: "", name }, options: DELETE };
}

afterEach(() => {
  vi.restoreAllMocks();
});

it("hazard 1: a repeated release: frees nothing of the present holder", async () => {
  const { cluster, uid } = await withRange();
  expect(messageOf(await cluster.create("s", { clusterIP: NINE }))).toBe("");
  const before = await rowOf(cluster, uid, NINE);
  expect(messageOf(await cluster.patch("s", { spec: { type: "ExternalName", externalName: "a.example.com", clusterIP: null } }))).toBe("");
  expect(messageOf(await cluster.create("t", { clusterIP: NINE }))).toBe("");
  await abortAllDurableObjects();
  expect(await cluster.ranges.owner(uid).release([{ address: NINE, token: before?.token ?? "" }])).toEqual(["released"]);
  expect((await rowOf(cluster, uid, NINE))?.name).toBe("t");
  expect(messageOf(await cluster.create("v", { clusterIP: NINE }))).toContain("already allocated");
});

it("hazard 2: audit and repair while the owner's answer to a create is on its way: leave its address", async () => {
  const { cluster, uid } = await withRange();
  const allocate = holdAnswer(ServiceCIDR.prototype, "allocate");
  const create = cluster.create("s", { clusterIP: NINE });
  await eventually(() => Promise.resolve(allocate.isWaiting));
  const before = await rowOf(cluster, uid, NINE);
  expect(before?.name).toBe("s");
  await cluster.maintain();
  await cluster.repair();
  expect(await rowOf(cluster, uid, NINE)).toEqual(before);
  allocate.letGo();
  expect(addressOf(await create)).toBe(NINE);
  await cluster.check();
});

it("hazard 3: a late configuration: opens nothing again, and no epoch is used twice", async () => {
  const { cluster, uid } = await withRange();
  await cluster.create("s", { clusterIP: NINE });
  const open = await toldTo(cluster, uid);
  await cluster.ranges.remove("extra");
  await abortAllDurableObjects();
  const fenced = await toldTo(cluster, uid);
  expect([open.ranges, fenced.ranges]).toEqual([[RANGE], []]);
  expect(fenced.epoch).toBeGreaterThan(open.epoch);
  const late = await cluster.ranges.owner(uid).configure(open);
  expect(late).toMatchObject({ ok: false, reason: "superseded" });
  const twice = await cluster.ranges.owner(uid).configure({ ...open, epoch: fenced.epoch });
  expect(twice).toMatchObject({ ok: false, reason: "contentDiffers" });
  expect(await cluster.ranges.allocate(uid, "10.97.0.10", "late")).toBe(false);
});

it("hazard 4: late calls for a deleted ServiceCIDR: do nothing to its successor of the same name", async () => {
  const { cluster, uid: old } = await withRange();
  const told = await toldTo(cluster, old);
  await cluster.ranges.remove("extra");
  await eventually(async () => (await cluster.ranges.get("extra")) === undefined);
  const uid = await cluster.ranges.created("extra", RANGE);
  await cluster.create("s", { clusterIP: NINE });
  await eventually(async () => (await cluster.ranges.owner(old).allocate([])).epoch > told.epoch);
  await abortAllDurableObjects();
  expect(await cluster.ranges.owner(old).configure({ ...RETIRED, epoch: told.epoch + 1_000 })).toMatchObject({ ok: true });
  expect(await cluster.ranges.owner(old).configure({ ...told, epoch: told.epoch + 2_000 })).toMatchObject({ ok: false, reason: "retired" });
  expect(await cluster.ranges.allocate(old, "10.97.0.10", "late")).toBe(false);
  expect((await rowOf(cluster, uid, NINE))?.name).toBe("s");
});

it("hazard 5: rows of an abandoned attempt: not taken by a later one", async () => {
  const { cluster, uid } = await withRange();
  const target = await cluster.ranges.created("wide", "10.97.0.0/16");
  const config = await toldTo(cluster, target);
  const first = { ...config, epoch: config.epoch + 100, receiving: [{ handoff: config.epoch + 100, prefixes: [RANGE] }] };
  const second = { ...config, epoch: config.epoch + 200, receiving: [{ handoff: config.epoch + 200, prefixes: [RANGE] }] };
  const holder = { kind: "service", namespace: "default", name: "s", uid: "s" } as const;
  const row = { address: NINE, token: "old", gen: { epoch: 1, counter: 1 }, holder, scope: "dynamic" } as const;
  const chunk = { after: "", through: "40a610009", rows: [row] };
  const owner = () => cluster.ranges.owner(target);
  expect(await owner().configure(first)).toEqual({ ok: true });
  expect(await owner().receive(first.epoch, chunk)).toMatchObject({ ok: true, sealed: false });
  expect(await owner().configure(second)).toEqual({ ok: true });
  await abortAllDurableObjects();
  expect(await owner().receive(first.epoch, chunk)).toEqual({ ok: false, reason: "stale" });
  expect(await rowOf(cluster, target, NINE)).toBeUndefined();
  const unsealed = await owner().configure({ ...config, epoch: second.epoch + 1, owned: [...config.owned, RANGE] });
  expect(unsealed).toMatchObject({ ok: false, reason: "unsealed" });
  expect(await cluster.ranges.allocate(uid, NINE, "at its owner")).toBe(true);
});

it("hazard 7: IPAddresses made and deleted while a ServiceCIDR around them is seeded: its rows are right, although the list is old", async () => {
  const cluster = await new ObjectCluster().ready();
  const { ipAddresses, ranges } = cluster;
  expect(await ipAddresses.write(createAddress("10.97.0.3"))).toMatchObject({ ok: true });
  const list = holdAnswer(IPAddressesStore.prototype, "claimPrefixes");
  expect(await ranges.create("extra", RANGE)).toMatchObject({ ok: true });
  await eventually(() => Promise.resolve(list.isWaiting));
  // 10.97.0.3 is on the list, and 10.97.0.9 is not.
  const meanwhile = [ipAddresses.write(removal("10.97.0.3")), ipAddresses.write(createAddress(NINE))];
  expect(await ranges.condition("extra")).toBe("");
  expect(await meanwhile[0]).toMatchObject({ ok: true });
  list.letGo();
  expect(await meanwhile[1]).toMatchObject({ ok: true });
  const uid = await ranges.ready("extra");
  await cluster.maintain();
  await eventually(async () => (await ranges.held(uid)).join() === NINE);
  await abortAllDurableObjects();
  expect(messageOf(await cluster.create("s", { clusterIP: NINE }))).toContain("already allocated");
  expect(addressOf(await cluster.create("t", { clusterIP: "10.97.0.3" })), "deleted after it was listed").toBe("10.97.0.3");
  await cluster.check();
});

it("hazard 8: late IPAddress writes and deletes of a former holder: change nothing of its successor", async () => {
  const { cluster, uid } = await withRange();
  await cluster.create("s", { clusterIP: NINE });
  const { rows } = await cluster.ranges.owner(uid).rowsSince(0, 1_000);
  const { token = "", gen = { epoch: 0, counter: 0 } } = rows.find(({ address }) => address === NINE) ?? {};
  await cluster.remove("s");
  await cluster.create("t", { clusterIP: NINE });
  const before = (await cluster.stored()).ipAddresses;
  await abortAllDurableObjects();
  const late: IPAddressWrite = { address: NINE, family: "IPv4", token, gen, namespace: "default", name: "s" };
  await cluster.ipAddresses.createMany([late]);
  await cluster.ipAddresses.deleteMany([late]);
  expect((await cluster.stored()).ipAddresses).toEqual(before);
  await cluster.check();
});

it("hazard 10: two ServiceCIDRs that cover each other, both deleted: both wait for the address", async () => {
  const { cluster } = await withRange();
  await cluster.ranges.created("twin", RANGE);
  await cluster.create("s", { clusterIP: NINE });
  // The one that owns the segment is deleted first, and hands nothing over before the other one is deleted too.
  const removed = { both: false };
  intercept(ServiceCIDR.prototype, "partition", async (call) => {
    while (!removed.both) await scheduler.wait(5);
    return call();
  });
  for (const name of ["extra", "twin"]) expect(await cluster.ranges.remove(name)).toMatchObject({ ok: true });
  removed.both = true;
  for (const name of ["extra", "twin"]) await eventually(async () => (await cluster.ranges.condition(name)) === "False Terminating");
  await abortAllDurableObjects();
  await cluster.maintain();
  for (const name of ["extra", "twin"]) expect(await cluster.ranges.get(name)).toBeDefined();
  expect(messageOf(await cluster.remove("s"))).toBe("");
  await cluster.maintain();
  for (const name of ["extra", "twin"]) await eventually(async () => (await cluster.ranges.get(name)) === undefined);
});

it("hazard 10: a row that a Service takes again while a deletion is counted: the ServiceCIDR stays", async () => {
  const { cluster, uid } = await withRange();
  await cluster.create("s", { clusterIP: NINE });
  const { token = "" } = (await rowOf(cluster, uid, NINE)) ?? {};
  await cluster.ranges.owner(uid).release([{ address: NINE, token }]);
  const count = holdAnswer(ServiceCIDR.prototype, "countTaken");
  await cluster.ranges.remove("extra");
  await eventually(() => Promise.resolve(count.isWaiting));
  const service = (await cluster.stored()).services.find(({ metadata }) => metadata?.name === "s");
  const item = { namespace: "default", name: "s", uid: service?.metadata?.uid ?? "", address: NINE, object: "", isRight: true };
  expect(await cluster.services.makeWhole([item])).toEqual(["restored"]);
  count.letGo();
  await eventually(async () => (await cluster.ranges.condition("extra")) === "False Terminating");
  expect((await rowOf(cluster, uid, NINE))?.name).toBe("s");
});

it("hazard 11: finalizers removed while an address is held: nothing is given out, releases succeed, then the owner retires", async () => {
  const { cluster, uid } = await withRange();
  await cluster.create("s", { clusterIP: NINE });
  await cluster.ranges.remove("extra");
  await cluster.ranges.patch("extra", { metadata: { finalizers: null } });
  expect(await cluster.ranges.get("extra")).toBeUndefined();
  await abortAllDurableObjects();
  expect(await cluster.ranges.allocate(uid, "10.97.0.10", "new")).toBe(false);
  expect(messageOf(await cluster.remove("s"))).toBe("");
  // An answer waits for its release no longer than 2 s.
  await eventually(async () => (await rowOf(cluster, uid, NINE)) === undefined);
  await cluster.maintain();
  await eventually(async () => !(await cluster.ranges.state()).owners.some((owner) => owner.uid === uid));
});

it("hazard 15: an allocation for a Service that was changed meanwhile: undoes nothing of that change", async () => {
  const { cluster } = await withRange();
  await cluster.create("s", { type: "ExternalName", externalName: "a.example.com" });
  const allocate = holdAnswer(ServiceCIDR.prototype, "allocate");
  const retype = cluster.patch("s", { spec: { type: "ClusterIP", externalName: null, clusterIP: NINE } });
  await eventually(() => Promise.resolve(allocate.isWaiting));
  await cluster.patch("s", { metadata: { labels: { new: "label" } } });
  allocate.letGo();
  expect(addressOf(await retype)).toBe(NINE);
  const stored = (await cluster.stored()).services.find((service: Service) => service.metadata?.name === "s");
  expect(stored?.metadata).toMatchObject({ labels: { new: "label" } });
  await cluster.check();
});

it("hazard 17: a release that reaches the former owner of a segment: sent on to the new owner", async () => {
  const { cluster, uid } = await withRange();
  await cluster.create("s", { clusterIP: NINE });
  const { token = "" } = (await rowOf(cluster, uid, NINE)) ?? {};
  const heir = await cluster.ranges.created("heir", RANGE);
  await cluster.ranges.remove("extra");
  await eventually(async () => (await cluster.ranges.held(heir)).includes(NINE) && (await cluster.ranges.held(uid)).length === 0);
  await abortAllDurableObjects();
  expect(await cluster.ranges.owner(uid).release([{ address: NINE, token }])).toEqual(["stale"]);
  expect(messageOf(await cluster.remove("s"))).toBe("");
  await eventually(async () => (await rowOf(cluster, heir, NINE)) === undefined);
});

it("hazard 18: a store without news of a new ServiceCIDR: asks before it refuses", async () => {
  const cluster = await new ObjectCluster().ready();
  await cluster.create("first");
  await cluster.ranges.created("extra", RANGE);
  expect(addressOf(await cluster.create("s", { clusterIP: NINE }))).toBe(NINE);
});

it("hazard 19: an owner that does not answer: holds up neither another ServiceCIDR nor a create", async () => {
  const cluster = await new ObjectCluster().ready();
  const configure = holdAnswer(ServiceCIDR.prototype, "configure");
  await cluster.ranges.create("stuck", "10.98.0.0/24");
  await eventually(() => Promise.resolve(configure.isWaiting));
  await cluster.ranges.created("extra", RANGE);
  expect(addressOf(await cluster.create("s", { clusterIP: NINE }))).toBe(NINE);
  expect(await cluster.ranges.condition("stuck")).toBe("");
  configure.letGo();
  await cluster.ranges.ready("stuck");
});

/** What repair has read of the IPAddresses, and what there is. */
async function readUpTo({ name, ipAddressesObject }: ObjectCluster): Promise<{ cursor: StoreCursor; head: number }> {
  const stub = platformStub(controller(bindings, name, "repair"));
  const cursor = await runInDurableObject(stub, (_, { storage }) => sqlRepairStorage(storage).progressLoad("ipaddresses").cursor);
  const head = await runInDurableObject(ipAddressesObject, (_, { storage }) => newestStored(sqlStoreStorage(storage)));
  return { cursor: cursor ?? { incarnation: "", revision: 0 }, head };
}

/** A cluster that repair has looked at as a whole, so that for a minute only changes tell it of something; pokes for these are lost. */
async function lookedAt(): Promise<{ cluster: ObjectCluster; address: string }> {
  const cluster = await new ObjectCluster().ready();
  const address = addressOf(await cluster.create("s"));
  await cluster.repair();
  intercept(Controller.prototype, "poke", () => Promise.resolve());
  const { cursor, head } = await readUpTo(cluster);
  expect(cursor.revision).toBe(head);
  return { cluster, address };
}

const isRestored = async (cluster: ObjectCluster, address: string): Promise<boolean> => {
  await cluster.repair();
  return (await cluster.stored()).ipAddresses.some(({ metadata }) => metadata?.name === address);
};

it("hazard 20: a deletion during a pass: left to the next pass, because a pass judges what it has read", async () => {
  const { cluster, address } = await lookedAt();
  const read = holdAnswer(IPAddressesStore.prototype, "objectsSince");
  const pass = cluster.repair();
  await eventually(() => Promise.resolve(read.isWaiting));
  expect(await cluster.ipAddresses.write(removal(address))).toMatchObject({ ok: true });
  read.letGo();
  await pass;
  const { cursor, head } = await readUpTo(cluster);
  expect(cursor.revision).toBeLessThan(head);
  await abortAllDurableObjects();
  await eventually(() => isRestored(cluster, address));
  await cluster.check();
});

it("hazard 20: a deletion that the history has forgotten: found, because everything is read again", async () => {
  const { cluster, address } = await lookedAt();
  expect(await cluster.ipAddresses.write(removal(address))).toMatchObject({ ok: true });
  const { cursor, head } = await readUpTo(cluster);
  expect(cursor.revision).toBeLessThan(head);
  await runInDurableObject(cluster.ipAddressesObject, (_, { storage }) => {
    forgetHistory(sqlStoreStorage(storage), head);
  });
  await abortAllDurableObjects();
  expect(await cluster.ipAddresses.objectsSince(cursor, 10)).toMatchObject({ kind: "expired" });
  await eventually(() => isRestored(cluster, address));
  await cluster.check();
  const after = await readUpTo(cluster);
  expect(after.cursor.revision).toBeGreaterThanOrEqual(head);
});
