import { expect, it } from "vitest";
import { rowHolder, rowMetadata } from "../../../src/api/registry/ipam/fleet-rows";
import type { AddressClaim, AddressPool, PoolAddress } from "../../../src/api/registry/ipam/ipam";
import { CLUSTER, FleetWorld } from "../../support/pools/fleet-world";

const TWO = { addresses: ["192.0.2.1-192.0.2.2"], gateway: "192.0.2.254" };
const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const GLOBAL = { kind: "GlobalInClusterIPPool" };

async function worldOfTwo(...claims: string[]): Promise<FleetWorld> {
  const world = new FleetWorld();
  world.pool("p", TWO);
  for (const name of claims) await world.claim(name);
  await world.pass(3 * SECOND);
  return world;
}

function conditions(world: FleetWorld, claim: string): string[] {
  const { status } = world.cluster.objectOf<AddressClaim>("claims", `ns/${claim}`) ?? {};
  return (status?.conditions ?? []).map(({ type, reason, message }) => `${type} ${reason}: ${message}`).toSorted();
}

const AT_ROOT = "PoolFound AtRoot: the pool is one of the root, which serves this cluster";
const HERE = "PoolFound InThisCluster: the pool is one of this cluster";

it("a claim of a pool that only the root has: an address of it, with a row there, and a condition that says so", async () => {
  const world = await worldOfTwo("a");
  expect(world.held).toEqual([`${CLUSTER} ns/a 192.0.2.1`]);
  expect(world.rows).toEqual(world.held);
  const address = world.cluster.objectOf<PoolAddress>("addresses", "ns/a");
  expect(address?.spec).toMatchObject({ address: "192.0.2.1", prefix: 24, gateway: "192.0.2.254" });
  expect(address?.metadata?.ownerReferences).toHaveLength(1);
  expect(conditions(world, "a")).toEqual([AT_ROOT, "Ready Ready: "]);
});

it("a global pool of the cluster comes before that of the root, whose addresses stay where they are", async () => {
  const world = await worldOfTwo("a");
  await world.cluster.pool("p", { addresses: ["10.0.0.1-10.0.0.9"] }, {});
  await world.pass(2 * SECOND);
  await world.claim("b");
  await world.pass(2 * SECOND);
  expect(world.cluster.given).toEqual(["a 192.0.2.1", "b 10.0.0.1"]);
  expect(conditions(world, "b")).toEqual([HERE, "Ready Ready: "]);
  for (let i = 0; i < 9; i++) await world.claim(`c${i}`);
  await world.pass(3 * SECOND);
  const full = 'Ready PoolExhausted: no address available in GlobalInClusterIPPool "p"';
  expect(conditions(world, "c8")).toEqual([HERE, full]);
  for (let i = 0; i < 9; i++) await world.cluster.remove("claims", `ns/c${i}`);
  await world.pass(3 * SECOND);
  // Those of the root are no use of the pool of the cluster.
  expect(world.cluster.objectOf<AddressPool>("globalPools", "p")?.status?.ipAddresses?.used).toBe(1);
  await world.cluster.remove("claims", "ns/a");
  await world.pass(2 * SECOND);
  expect(world.rows).toEqual([]);
  expect(world.cluster.given).toEqual(["b 10.0.0.1"]);
});

it("the release of a claim: the object goes first, then the row", async () => {
  const world = await worldOfTwo("a");
  world.fault = ({ does }) => (does === "release" ? new Error("no way") : undefined);
  await world.cluster.remove("claims", "ns/a");
  await world.pass(2 * SECOND);
  expect([world.held, world.rows, world.cluster.claims]).toEqual([[], [`${CLUSTER} ns/a 192.0.2.1`], []]);
  world.fault = () => undefined;
  await world.pass(20 * SECOND);
  expect(world.rows).toEqual([]);
});

it("a full pool: the claim says so, and has the address that another cluster gives back", async () => {
  const world = await worldOfTwo();
  for (const row of ["r1", "r2"]) await world.take("red", 1, { row, uid: row, claim: `ns/of-${row}` });
  await world.claim("a");
  await world.claim("b");
  await world.pass(5 * SECOND);
  const full = 'Ready PoolExhausted: no address available in GlobalInClusterIPPool "p" of the root';
  expect([conditions(world, "a"), conditions(world, "b")]).toEqual([
    [AT_ROOT, full],
    [AT_ROOT, full],
  ]);
  const asked = world.asked.length;
  await world.pass(MINUTE);
  expect(world.asked).toHaveLength(asked);
  await world.ask({ does: "release", cluster: "red", rows: ["r2"] });
  await world.pass(2 * SECOND);
  expect(world.held).toEqual([`${CLUSTER} ns/a 192.0.2.2`]);
  expect(conditions(world, "b")).toEqual([AT_ROOT, full]);
});

it("a waiting claim whose cluster is not woken: it asks again by itself", async () => {
  const world = await worldOfTwo();
  for (const row of ["r1", "r2"]) await world.take("red", 1, { row, uid: row, claim: `ns/of-${row}` });
  await world.claim("a");
  await world.pass(5 * SECOND);
  world.kept.clear();
  world.restartRoot();
  await world.ask({ does: "release", cluster: "red", rows: ["r1"] });
  expect(world.woken).toEqual([]);
  await world.pass(6 * MINUTE);
  expect(world.held).toEqual([`${CLUSTER} ns/a 192.0.2.1`]);
});

it("room wakes the clusters that have waited longest, sixteen at most, and each once", async () => {
  const world = await worldOfTwo();
  for (const row of ["r1", "r2"]) await world.take("red", 1, { row, uid: row, claim: `ns/of-${row}` });
  for (let i = 0; i < 20; i++) await world.take(`c${i}`, 1, { row: `w${i}`, since: 100 - i });
  await world.ask({ does: "release", cluster: "red", rows: ["r1"] });
  expect(world.woken).toEqual(Array.from({ length: 16 }, (_, i) => `c${19 - i}`));
  await world.ask({ does: "release", cluster: "red", rows: ["r2"] });
  expect(world.woken.slice(16)).toEqual(["c3", "c2", "c1", "c0"]);
});

it("no pool of the name anywhere: the claim says so, and the root wakes its cluster when there is one", async () => {
  const world = new FleetWorld();
  await world.claim("a");
  await world.pass(2 * SECOND);
  expect(conditions(world, "a")).toEqual(['Ready PoolNotReady: GlobalInClusterIPPool "p" does not exist']);
  world.pool("p", TWO);
  await world.pass(2 * SECOND);
  expect(world.held).toEqual([`${CLUSTER} ns/a 192.0.2.1`]);
});

it("a pool for other clusters: as if it did not exist; labels of the Cluster decide, and only of this life", async () => {
  const world = new FleetWorld();
  world.pool("p", TWO, { "servicenet.dev/clusters": "tier in (edge)" });
  await world.claim("a");
  await world.pass(2 * SECOND);
  const none = ['Ready PoolNotReady: GlobalInClusterIPPool "p" does not exist'];
  expect(conditions(world, "a")).toEqual(none);
  world.objects.set("blue", { metadata: { name: "blue", labels: { tier: "edge" } }, status: { id: "blue~1" } });
  await world.pass(6 * MINUTE);
  expect(conditions(world, "a")).toEqual(none);
  world.objects.set("blue", { metadata: { name: "blue", labels: { tier: "edge" } }, status: { id: CLUSTER } });
  await world.pass(6 * MINUTE);
  expect(conditions(world, "a")).toEqual([AT_ROOT, "Ready Ready: "]);
});

it("a paused pool gives nothing, and a claim is told nothing", async () => {
  const world = new FleetWorld();
  world.pool("p", TWO, { "cluster.x-k8s.io/paused": "" });
  await world.claim("a");
  await world.pass(2 * SECOND);
  expect([conditions(world, "a"), world.rows]).toEqual([[], []]);
});

it("an address that a pool or a range of the cluster has: another one is taken, and the first goes back", async () => {
  const world = new FleetWorld();
  world.pool("p", { addresses: ["192.0.2.1-192.0.2.9"] });
  await world.cluster.pool("own", { addresses: ["192.0.2.1"] });
  world.cluster.serviceRanges = [{ name: "services", natDomain: "", cidrs: ["192.0.2.2/31"] }];
  await world.pass(2 * SECOND);
  await world.claim("a");
  await world.pass(3 * SECOND);
  expect(world.held).toEqual([`${CLUSTER} ns/a 192.0.2.4`]);
  expect(world.rows).toEqual(world.held);
  // What is held keeps pools of the cluster away.
  const answer = await world.cluster.pool("late", { addresses: ["192.0.2.4"] });
  expect(answer.ok ? "" : answer.status.message).toContain('IPAddress "ns/a" of GlobalInClusterIPPool "p" of the root has 192.0.2.4');
});

it("many addresses that a range of the cluster has: the claim gets the first one behind them, and none of them waits for a grace", async () => {
  const world = new FleetWorld();
  world.pool("p", { addresses: ["192.0.2.1-192.0.2.40"], addressReuseGracePeriodSeconds: 3_600 });
  world.cluster.serviceRanges = [{ name: "services", natDomain: "", cidrs: ["192.0.2.0/28"] }];
  await world.claim("a");
  await world.pass(12 * MINUTE);
  expect(world.held).toEqual([`${CLUSTER} ns/a 192.0.2.16`]);
  const kept = [...world.root.storage.objectScan("", "")].map(({ data }) => (JSON.parse(data) as PoolAddress).spec?.address);
  expect(kept).toEqual(["192.0.2.16"]);
});

it("an object at the root that looks as a row, of a pool of somebody else: is none", () => {
  const spec = { claimRef: { name: "other" }, poolRef: { apiGroup: "ipam.cluster.x-k8s.io", ...GLOBAL, name: "p" }, address: "192.0.2.1" };
  const row = { metadata: { namespace: "kube-system", name: "r", ...rowMetadata({ cluster: "c", claim: "ns/a", uid: "u" }) }, spec };
  expect(rowHolder(row)).toEqual({ cluster: "c", claim: "ns/a", uid: "u" });
  for (const poolRef of [
    { ...spec.poolRef, apiGroup: "example.com" },
    { ...spec.poolRef, kind: "InClusterIPPool" },
  ])
    expect(rowHolder({ ...row, spec: { ...spec, poolRef } })).toBeUndefined();
});

it("an address of a pool of the root that a client makes: refused without a row, and the claim's with one", async () => {
  const world = await worldOfTwo("a");
  const forged = await world.cluster.address("b", "192.0.2.2", "p", {
    poolRef: { apiGroup: "ipam.cluster.x-k8s.io", ...GLOBAL, name: "p" },
  });
  expect(forged.ok ? "" : forged.status.message).toContain("has not given it to the claim of this name");
  expect(forged.ok ? 0 : forged.status.code).toBe(422);
  // As a restore: the object is gone, the row is there.
  const object = world.cluster.objectOf<PoolAddress>("addresses", "ns/a");
  world.cluster.world.stores.addresses.storage.objectDelete("ns/a");
  world.restartStore();
  const restored = await world.cluster.address("a", "192.0.2.1", "p", { poolRef: object?.spec?.poolRef ?? {} });
  expect(restored.ok).toBe(true);
  await world.pass(5 * SECOND);
  expect([world.held, world.rows]).toEqual([[`${CLUSTER} ns/a 192.0.2.1`], [`${CLUSTER} ns/a 192.0.2.1`]]);
});

it("an address that a client makes while its row is given back: 503, and the row goes", async () => {
  const world = await worldOfTwo("a");
  const { poolRef } = world.cluster.objectOf<PoolAddress>("addresses", "ns/a")?.spec ?? {};
  world.fault = ({ does }, when) => (does === "release" && when === "before" ? new Error("no way") : undefined);
  await world.cluster.remove("claims", "ns/a");
  await world.pass(2 * SECOND);
  const early = await world.cluster.address("a", "192.0.2.1", "p", { poolRef: poolRef ?? {} });
  expect(early.ok ? 0 : early.status.code).toBe(503);
  world.fault = () => undefined;
  await world.pass(20 * SECOND);
  const late = await world.cluster.address("a", "192.0.2.1", "p", { poolRef: poolRef ?? {} });
  expect([late.ok ? 0 : late.status.code, world.rows]).toEqual([422, []]);
});

it("a client cannot write which row an address has", async () => {
  const world = await worldOfTwo("a");
  const address = world.cluster.objectOf<PoolAddress>("addresses", "ns/a");
  const annotations = { "servicenet.dev/root-row": "another" };
  await world.cluster.world.stores.addresses.update(
    { ...address, metadata: { ...address?.metadata, annotations } },
    { group: "ipam.cluster.x-k8s.io" },
  );
  expect(world.cluster.objectOf<PoolAddress>("addresses", "ns/a")?.metadata?.annotations).toEqual(address?.metadata?.annotations);
  const other = { metadata: { namespace: "ns", name: "c", annotations }, spec: { ...address?.spec, claimRef: { name: "c" } } };
  const made = await world.cluster.world.stores.addresses.create(other, { group: "ipam.cluster.x-k8s.io" });
  expect(made.ok).toBe(false);
});

it("a cluster whose claims name pools of its own never calls the root", async () => {
  const world = new FleetWorld();
  await world.cluster.pool("own", { addresses: ["10.0.0.1-10.0.0.9"] });
  await world.cluster.pool("everybodys", { addresses: ["10.0.1.1-10.0.1.9"] }, {});
  await world.pass(2 * SECOND);
  await world.cluster.claim("a", "own");
  await world.claim("b", "everybodys");
  await world.pass(HOUR);
  await world.maintain();
  expect(world.cluster.claims).toEqual(["a Ready a", "b Ready b"]);
  expect(world.asked).toEqual([]);
});

it("claims at once share the calls, and one of the root takes one call more than one of the cluster", async () => {
  const world = new FleetWorld();
  world.pool("p", { addresses: ["192.0.2.0/24"] });
  const names = Array.from({ length: 40 }, (_, i) => `c${String(i).padStart(2, "0")}`);
  for (const name of names) await world.claim(name);
  await world.pass(5 * SECOND);
  expect(world.held).toHaveLength(40);
  expect(world.problems).toEqual([]);
  const [one] = [new FleetWorld()];
  one.pool("p", TWO);
  await one.claim("a");
  await one.pass(3 * SECOND);
  expect(one.asked.map(({ does }) => does)).toEqual(["take"]);
});

it("an answer that is lost: its row is released, behind a late take as well", async () => {
  const world = await worldOfTwo();
  let lost = 1;
  world.fault = ({ does }, when) => (does === "take" && when === "after" && lost-- > 0 ? new Error("lost") : undefined);
  await world.claim("a");
  await world.pass(2 * MINUTE);
  expect([world.held.length, world.leaks, world.problems]).toEqual([1, [], []]);
});

it("a root of the release before, which has no pools for others: claims wait, and what a client makes is an address as before", async () => {
  const world = await worldOfTwo();
  world.fault = () => new TypeError('The RPC receiver does not implement the method "askFleet".');
  await world.claim("a");
  await world.pass(10 * SECOND);
  expect(conditions(world, "a")).toEqual([]);
  const made = await world.cluster.address("b", "192.0.2.9", "p", { poolRef: { apiGroup: "ipam.cluster.x-k8s.io", ...GLOBAL, name: "p" } });
  expect([made.ok, world.held]).toEqual([true, []]);
  world.fault = () => undefined;
  await world.pass(MINUTE);
  expect(world.held).toEqual([`${CLUSTER} ns/a 192.0.2.1`]);
});

it("an address that was made when nobody had a pool of the name: its claim says that it is in the way", async () => {
  const world = new FleetWorld();
  await world.cluster.address("a", "192.0.2.9", "p", { poolRef: { apiGroup: "ipam.cluster.x-k8s.io", ...GLOBAL, name: "p" } });
  world.pool("p", TWO);
  await world.claim("a");
  await world.pass(10 * SECOND);
  expect(conditions(world, "a")).toEqual([
    'Ready AllocationFailed: IPAddress "ns/a" is of no pool of this cluster, and the root has not given it',
  ]);
  expect(world.rows).toEqual([]);
});

it("a take of an earlier life of the store that comes late takes nothing", async () => {
  const world = await worldOfTwo("a");
  world.restartStore();
  await world.claim("b");
  await world.pass(3 * SECOND);
  expect(await world.take(CLUSTER, 1, { row: "late" })).toEqual({ kind: "outdated", session: 2 });
  expect(world.leaks).toEqual([]);
});

it("the audit: rows that nobody has go, and lost ones are taken again, unless somebody else has the address", async () => {
  const world = await worldOfTwo("a");
  await world.take(CLUSTER, 1, { row: "leaked" });
  world.restartStore();
  await world.maintain();
  expect(world.rows).toEqual(world.held);
  // The root came back without the row.
  const [key] = world.root.storage.objectKeysAfter("", 1);
  world.root.storage.objectDelete(key ?? "");
  world.restartRoot();
  await world.pass(2 * HOUR);
  await world.maintain();
  expect(world.rows).toEqual([`${CLUSTER} ns/a 192.0.2.1`]);
  world.root.storage.objectDelete(key ?? "");
  world.restartRoot();
  await world.take("red", 1, { row: "theirs" });
  await world.pass(2 * HOUR);
  await world.maintain();
  await world.pass(5 * SECOND);
  expect(world.rows).toEqual([`${CLUSTER} ns/a 192.0.2.2`, "red ns/other 192.0.2.1"]);
  expect(world.held).toEqual([`${CLUSTER} ns/a 192.0.2.2`]);
});

it("the grace of a pool of the root: the address stays used, without a holder", async () => {
  const world = new FleetWorld();
  world.pool("p", { ...TWO, addressReuseGracePeriodSeconds: 60 });
  await world.claim("a");
  await world.pass(2 * SECOND);
  await world.cluster.remove("claims", "ns/a");
  await world.pass(2 * SECOND);
  expect([world.rows, world.held]).toEqual([[], []]);
  const [left] = [...world.root.storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as PoolAddress);
  expect(left?.metadata).toMatchObject({
    finalizers: ["ipam.cluster.x-k8s.io/ProtectAddress"],
    deletionTimestamp: expect.any(String) as string,
  });
  expect(left?.metadata?.annotations).toBeUndefined();
});

it("a cluster that has ended gives all back; one that does not answer keeps what it has", async () => {
  const world = await worldOfTwo("a");
  await world.take("red", 1, { row: "theirs" });
  world.others.set("red", { askFleet: () => Promise.reject(new Error("silent")) });
  await world.maintainRoot();
  expect(world.rows).toEqual([`${CLUSTER} ns/a 192.0.2.1`, "red ns/other 192.0.2.2"]);
  await world.ask({ does: "ended", cluster: "red" });
  expect(world.rows).toHaveLength(2);
  world.others.set("red", undefined);
  await world.pass(2 * HOUR);
  await world.maintainRoot();
  expect(world.rows).toEqual([`${CLUSTER} ns/a 192.0.2.1`]);
  expect([...world.kept.keys()]).toEqual([CLUSTER]);
});

it("all clusters are asked once a day, some at a time, and those that may have ended each hour", async () => {
  const world = await worldOfTwo();
  const asked: string[] = [];
  for (let i = 0; i < 150; i++) {
    const id = `c${String(i).padStart(3, "0")}`;
    await world.take(id, 1, { row: `row-${id}` });
    world.others.set(id, { askFleet: () => (asked.push(id), Promise.resolve({ kind: "audited" as const })) });
  }
  await world.maintainRoot();
  expect(asked).toHaveLength(64);
  await world.pass(10 * SECOND);
  expect([asked.length, new Set(asked).size]).toEqual([150, 150]);
  await world.pass(2 * HOUR);
  await world.maintainRoot();
  await world.pass(10 * SECOND);
  // The world says of all of them that they may have ended.
  expect(asked).toHaveLength(300);
  await world.maintainRoot();
  expect(asked).toHaveLength(300);
});

it("the root after a recovery: it gives nothing until the clusters have taken again what they have", async () => {
  const world = await worldOfTwo("a");
  const [key] = world.root.storage.objectKeysAfter("", 1);
  world.root.storage.objectDelete(key ?? "");
  world.kept.clear();
  world.restartRoot();
  world.book.beginAnew();
  const answer = await world.take("red", 1, { row: "theirs" });
  expect(answer).toEqual({ kind: "taken", answers: [{ kind: "comparing" }] });
  const silent = { askFleet: () => Promise.reject(new Error("silent")) };
  world.others.set(CLUSTER, silent);
  await world.maintainRoot();
  expect(world.comparing).toBe("");
  world.others.delete(CLUSTER);
  await world.pass(MINUTE);
  expect(world.comparing).toBeUndefined();
  expect(world.rows).toEqual([`${CLUSTER} ns/a 192.0.2.1`]);
  expect(await world.take("red", 1, { row: "now" })).toMatchObject({ kind: "taken", answers: [{ kind: "given", address: "192.0.2.2" }] });
});
