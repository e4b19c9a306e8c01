/**
 * The interleavings of PROTOCOL that would break the design, one by one: each is played message by message over the code of the product, with
 * the network and the disk of the simulation, and ends with the invariants. Random histories meet them too; here each has its name.
 */
import { describe, expect, it } from "vitest";
import type { HeldAddress } from "../../src/addresses/rpc/repair";
import { ObjectFeedReader } from "../../src/api/store/object-feed-reader";
import { objectOf, statusOf } from "../support/sim/api";
import { checkPaired } from "../support/checks/checkers";
import { ipAddressesOf, servicesOf } from "../support/sim/checks";
import { Scenario } from "../support/sim/scenario";
import { aLease, StoreWorld } from "../support/worlds/store-world";

const FIVE = "10.0.0.5";
const SERVICE_OPTIONS = { dryRun: false, fieldManager: "test", fieldValidation: "Strict", force: false, group: "", version: "v1" } as const;

/** What the owners hold for the address. */
async function rowsOf(scenario: Scenario, address: string): Promise<{ token: string; name: string }[]> {
  const rows: { token: string; name: string }[] = [];
  for (const { node } of scenario.cluster.owners.values()) {
    const answer = await node.brain.rowsSince(0, 10_000);
    rows.push(...answer.rows.filter((row) => row.address === address).map(({ token, holder }) => ({ token, name: holder.name })));
  }
  return rows;
}

/** A Service whose row its owner has lost, as repair proposes it. */
async function withoutRow(scenario: Scenario, name: string, address: string): Promise<HeldAddress> {
  const { uid = "" } = objectOf(await scenario.api.create(name, { clusterIP: address })).metadata ?? {};
  for (const { token } of await rowsOf(scenario, address))
    for (const { node } of scenario.cluster.owners.values()) await scenario.api.run(node.brain.release([{ address, token }]));
  expect(await rowsOf(scenario, address)).toEqual([]);
  return { namespace: "default", name, uid, address, object: "", isRight: true };
}

function configOf(
  scenario: Scenario,
  uid: string,
): { epoch: number; owned: string[]; frozen: string[]; ranges: string[]; retired?: boolean } {
  const stored = scenario.cluster.owner(uid).storage.configLoad();
  if (!stored) throw new Error(`${uid} has no configuration`);
  return { epoch: stored.epoch, ...(JSON.parse(stored.content) as { owned: string[]; frozen: string[]; ranges: string[] }) };
}

function uidOf(scenario: Scenario, name: string): string {
  const stored = scenario.cluster.coordinatorTables.objectGet(name);
  if (!stored) throw new Error(`no ServiceCIDR ${name}`);
  return stored.uid;
}

describe("hazards of PROTOCOL", () => {
  it("hazard 1: a release whose answer was lost is tried again, and does not free what somebody else has got since", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await api.create("s", { clusterIP: FIVE });
    scenario.meet("release", "replyLost");
    const retype = api.start(api.change("s", { spec: { type: "ExternalName", externalName: "a.example.com" } }));
    await scenario.pass(1_000);
    // The owner has freed it, and nobody but the owner knows.
    expect(await rowsOf(scenario, FIVE)).toEqual([]);
    scenario.meet("release", "held", { times: 10 });
    await api.run(retype);
    const created = await api.create("t", { clusterIP: FIVE });
    expect(created.ok, "T takes what is free").toBe(true);
    await scenario.until("release");
    await scenario.deliver("release");
    expect((await rowsOf(scenario, FIVE)).map(({ name }) => name)).toEqual(["t"]);
    expect(statusOf(await api.create("v", { clusterIP: FIVE })).message).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 1: … nor what the very Service has got again by being retyped back", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await api.create("s", { clusterIP: FIVE });
    scenario.meet("release", "late", { times: 3 });
    const retype = api.start(api.change("s", { spec: { type: "ExternalName", externalName: "a.example.com" } }));
    await scenario.until("release");
    await api.run(retype);
    const back = api.start(api.change("s", { spec: { type: "ClusterIP", externalName: null, clusterIP: FIVE } }));
    await scenario.pass(3_000);
    await scenario.deliver("release");
    await scenario.pass(30_000);
    const result = await api.run(back);
    if (!result.ok) expect(statusOf(result).code).toBe(422);
    else expect(await rowsOf(scenario, FIVE)).toHaveLength(1);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 2: repair and audit, their clocks ahead, leave the address of a create that is still under way", async () => {
    const scenario = await Scenario.ready({ isDual: true });
    const { api, cluster } = scenario;
    await scenario.range("c", "fd01::/124");
    // The owner of the other family is slow.
    scenario.meet("allocate", "held", { skip: 1 });
    const create = api.start(api.creation("s", { ipFamilyPolicy: "RequireDualStack", clusterIP: FIVE, clusterIPs: [FIVE, "fd01::5"] }));
    await scenario.until("allocate");
    const held = [...(await rowsOf(scenario, FIVE)), ...(await rowsOf(scenario, "fd01::5"))];
    expect(held).toHaveLength(1);
    for (const { node } of cluster.owners.values()) node.clockOffMs = 70_000;
    cluster.ipAddresses.clockOffMs = 70_000;
    void cluster.services.brain.maintain();
    void scenario.world.pass();
    await scenario.pass(3_000);
    expect([...(await rowsOf(scenario, FIVE)), ...(await rowsOf(scenario, "fd01::5"))]).toEqual(held);
    await scenario.deliver("allocate");
    expect(objectOf(await api.run(create)).spec?.clusterIPs).toEqual([FIVE, "fd01::5"]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 2: past its deadline a create only releases, however late the owner's answer is", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    scenario.meet("allocate", "held", { times: 10 });
    const create = api.start(api.creation("s", { clusterIP: FIVE }));
    await scenario.until("allocate");
    const refused = statusOf(await api.run(create));
    expect(refused.code).toBeGreaterThanOrEqual(500);
    scenario.clear();
    await scenario.deliver("allocate");
    expect(await scenario.rest()).toEqual([]);
    expect(await rowsOf(scenario, FIVE)).toEqual([]);
  });

  it("hazard 3: a Coordinator that dies between acks and record uses no epoch twice, and a late configuration opens nothing again", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    // What lets C give out addresses arrives late, and once more its answer does not.
    scenario.meet("own", "late");
    scenario.meet("allow", "late");
    const created = await api.run(scenario.startRange("c", "10.0.1.0/28"));
    expect(created.ok).toBe(true);
    await scenario.pass(500);
    const uid = uidOf(scenario, "c");
    cluster.coordinator.crash();
    scenario.clear();
    await scenario.pass(30_000);
    const before = configOf(scenario, uid);
    expect(before.ranges).toEqual(["10.0.1.0/28"]);
    await api.create("s", { clusterIP: "10.0.1.5" });
    await api.run(scenario.startRangeRemoval("c"));
    await scenario.pass(5_000);
    const fenced = configOf(scenario, uid);
    expect(fenced.epoch).toBeGreaterThan(before.epoch);
    expect(fenced.ranges).toEqual([]);
    while (cluster.network.held.length > 0) await scenario.deliver(cluster.network.held[0]?.step ?? "own");
    expect(configOf(scenario, uid)).toEqual(fenced);
    expect((await api.create("t", { clusterIP: "10.0.1.6" })).ok).toBe(false);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 4: a wipe that arrives when the name is there again hits nobody but the one it was meant for", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await scenario.range("c", "10.0.1.0/28");
    const old = uidOf(scenario, "c");
    scenario.meet("retire", "held", { times: 2 });
    await api.run(scenario.startRangeRemoval("c"));
    await scenario.until("retire");
    await scenario.range("c", "10.0.1.0/28");
    expect(uidOf(scenario, "c")).not.toBe(old);
    await api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.deliver("retire");
    expect((await rowsOf(scenario, "10.0.1.5")).map(({ name }) => name)).toEqual(["s"]);
    expect(configOf(scenario, old).retired).toBe(true);
    expect(statusOf(await api.create("t", { clusterIP: "10.0.1.5" })).message).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 5: what an abandoned hand-off still sends neither thaws the source of a later one nor overwrites its target", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.range("b", "10.0.1.0/24");
    const [a, b] = [uidOf(scenario, "a"), uidOf(scenario, "b")];
    scenario.meet("chunk", "late");
    scenario.meet("seal", "late", { times: 200 });
    scenario.meet("thaw", "late");
    await api.run(scenario.startRangeRemoval("a"));
    // Beyond the time that a hand-off may take; the next attempts come to their end.
    await scenario.pass(70_000);
    expect(scenario.waiting("seal") + scenario.waiting("chunk")).toBeGreaterThan(0);
    scenario.clear();
    await scenario.pass(400_000);
    expect(scenario.ranges()).not.toContain("a");
    await api.remove("s");
    await scenario.pass(5_000);
    await api.create("t", { clusterIP: "10.0.1.5" });
    const before = configOf(scenario, b);
    while (cluster.network.held.length > 0) await scenario.deliver(cluster.network.held[0]?.step ?? "seal");
    expect((await rowsOf(scenario, "10.0.1.5")).map(({ name }) => name)).toEqual(["t"]);
    expect([configOf(scenario, a).owned ?? [], configOf(scenario, b)]).toEqual([[], before]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 6: two ServiceCIDRs with one prefix, created while the other waits for its owners: one claims it", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    scenario.meet("own", "held", { times: 2 });
    scenario.meet("claimPrefixes", "held", { times: 2 });
    const both = [scenario.startRange("a", "10.0.1.0/28"), scenario.startRange("b", "10.0.1.0/28")];
    await scenario.pass(2_000);
    const claims = Object.values(cluster.coordinatorStorage.contents.claims).filter(({ prefix }) => prefix.startsWith("10.0.1."));
    expect(claims).toHaveLength(1);
    expect(cluster.network.held.length).toBeGreaterThan(0);
    while (cluster.network.held.length > 0) await scenario.deliver(cluster.network.held[0]?.step ?? "own");
    for (const result of await api.run(Promise.all(both))) expect(result.ok).toBe(true);
    await scenario.pass(10_000);
    const owners = [...cluster.owners.keys()].filter((uid) => configOf(scenario, uid).owned.includes("10.0.1.0/28"));
    expect(owners).toEqual([claims[0]?.ownerUid]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 7: an IPAddress made while a ServiceCIDR around it is seeded is nobody's ClusterIP", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    scenario.meet("seed", "held");
    await api.createIPAddress("10.0.1.3");
    await api.run(scenario.startRange("c", "10.0.1.0/29"));
    await scenario.until("seed");
    // The list is taken: this one is not on it.
    const created = api.createIPAddress("10.0.1.5");
    await scenario.deliver("seed");
    await created;
    await scenario.pass(10_000);
    for (const address of ["10.0.1.3", "10.0.1.5"])
      expect(statusOf(await api.create("s", { clusterIP: address })).message, address).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 7: … and one deleted between list and mark is not marked for ever", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await api.createIPAddress("10.0.1.3");
    scenario.meet("seed", "held");
    await api.run(scenario.startRange("c", "10.0.1.0/29"));
    await scenario.until("seed");
    const removed = api.removeIPAddress("10.0.1.3");
    await scenario.deliver("seed");
    expect((await removed).ok).toBe(true);
    expect(await scenario.rest()).toEqual([]);
    expect((await api.create("s", { clusterIP: "10.0.1.3" })).ok).toBe(true);
  });

  it("hazard 7: … and one whose row went with a claim before it was stored is refused, or held by whoever claimed next", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("c", "10.0.1.0/28");
    scenario.meet("allocate", "answerHeld");
    const create = scenario.api.startIPAddress("10.0.1.5");
    await scenario.until("allocate");
    await api.run(scenario.startRangeRemoval("c"));
    await scenario.pass(1_000);
    expect(scenario.ranges(), "IPAddress objects keep nothing").not.toContain("c");
    await api.run(scenario.startRange("d", "10.0.1.0/28"));
    await scenario.pass(1_000);
    await scenario.deliver("allocate");
    expect(statusOf(await api.run(create)).code).toBe(503);
    expect((await api.create("s", { clusterIP: "10.0.1.5" })).ok).toBe(true);
    expect(scenario.parentOf("10.0.1.5")).toBe("services/s");
    expect(cluster.logged).toEqual([]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 7: … and one for which an owner that does not know that its claim is gone is asked", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("c", "10.0.1.0/28");
    // The store's view of the topology is from now, and whom the claim belongs to learns of nothing.
    await api.createIPAddress("10.0.1.9");
    await api.removeIPAddress("10.0.1.9");
    scenario.meet("retire", "held", { times: 10 });
    scenario.meet("topology", "held", { times: 10 });
    await api.run(scenario.startRangeRemoval("c"));
    await scenario.pass(1_000);
    await api.run(scenario.startRange("d", "10.0.1.0/28"));
    await scenario.pass(1_000);
    const create = api.startIPAddress("10.0.1.5");
    await scenario.pass(500);
    scenario.clear();
    while (cluster.network.held.length > 0) await scenario.deliver(cluster.network.held[0]?.step ?? "retire");
    expect((await api.run(create)).ok).toBe(true);
    expect(statusOf(await api.create("s", { clusterIP: "10.0.1.5" })).message).toContain("already allocated");
    expect(scenario.parentOf("10.0.1.5")).toBe("gateways/mine");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 7: … and one whose owner has lost the row: who gets the address keeps it, and the log says so", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await api.createIPAddress(FIVE);
    for (const { token } of await rowsOf(scenario, FIVE))
      for (const { node } of cluster.owners.values()) await api.run(node.brain.release([{ address: FIVE, token }]));
    expect((await api.create("s", { clusterIP: FIVE })).ok).toBe(true);
    expect(scenario.parentOf(FIVE)).toBe("services/s");
    expect(cluster.logged).toEqual([`ipaddress.replaced {"address":"${FIVE}","service":"default/s"}`]);
    expect(await scenario.rest()).toEqual([]);
    expect((await rowsOf(scenario, FIVE)).map(({ name }) => name)).toEqual(["s"]);
  });

  it("hazard 7: … and one whose row a repair took first, and forgot by a crash, keeps that row", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    const { uid } = objectOf(await api.createIPAddress("10.0.1.3")).metadata ?? {};
    scenario.meet("seed", "held");
    await api.run(scenario.startRange("c", "10.0.1.0/29"));
    await scenario.until("seed");
    const holder = { kind: "ipaddress", namespace: "", name: "10.0.1.3", uid: uid ?? "" } as const;
    const owner = uidOf(scenario, "c");
    const row = { address: "10.0.1.3", holder, token: "forgotten" };
    expect(await api.run(cluster.owner(owner).node.brain.seed(configOf(scenario, owner).epoch, [row]))).not.toBe("stale");
    await scenario.deliver("seed");
    await scenario.pass(10_000);
    await api.run(cluster.ipAddresses.brain.maintain());
    await scenario.pass(1_000);
    expect(await rowsOf(scenario, "10.0.1.3")).toEqual([{ token: "forgotten", name: "10.0.1.3" }]);
    await api.run(cluster.ipAddresses.brain.makeHeld([{ address: "10.0.1.3", object: holder.uid }]));
    expect(cluster.tables.ipAddresses.ledger.allocationGet("10.0.1.3")?.token).toBe("forgotten");
    expect(await scenario.rest()).toEqual([]);
    expect((await api.removeIPAddress("10.0.1.3")).ok).toBe(true);
    expect(await rowsOf(scenario, "10.0.1.3")).toEqual([]);
  });

  it("hazard 7: … and one that is listed while repair takes its row keeps it, so that no Service replaces it", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    const { brain } = cluster.ipAddresses;
    const { uid = "" } = objectOf(await api.createIPAddress(FIVE)).metadata ?? {};
    const { ledger } = cluster.tables.ipAddresses;
    const [row] = await rowsOf(scenario, FIVE);
    const owner = uidOf(scenario, "kubernetes");
    await api.run(cluster.owner(owner).node.brain.release([{ address: FIVE, token: row?.token ?? "" }]));
    ledger.allocationDelete(FIVE);
    scenario.meet("allocate", "held");
    const repair = brain.makeHeld([{ address: FIVE, object: uid }]);
    await scenario.until("allocate");
    const { epoch, owned } = configOf(scenario, owner);
    await api.run(brain.claimPrefixes(epoch, owned, { within: owned, after: "" }));
    expect(ledger.allocationGet(FIVE)?.token).toBe(uid);
    await scenario.deliver("allocate");
    expect(await api.run(repair)).toEqual(["busy"]);
    await scenario.pass(10_000);
    expect((await rowsOf(scenario, FIVE)).map(({ name }) => name)).toEqual([FIVE]);
    expect(await api.run(brain.makeHeld([{ address: FIVE, object: uid }]))).toEqual(["restored"]);
    expect(statusOf(await api.create("s", { clusterIP: FIVE })).message).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 8: the IPAddress of a Service that is gone, written late, does not take the place of its successor's", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    scenario.meet("createAddresses", "late");
    const first = api.start(api.creation("s", { clusterIP: FIVE }));
    await scenario.until("createAddresses");
    await api.run(first);
    await api.remove("s");
    await scenario.pass(5_000);
    await api.create("t", { clusterIP: FIVE });
    expect(scenario.parentOf(FIVE)).toBe("services/t");
    await scenario.deliver("createAddresses");
    expect(scenario.parentOf(FIVE)).toBe("services/t");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 8: … nor does a late delete take its successor's away", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await api.create("s", { clusterIP: FIVE });
    scenario.meet("deleteAddresses", "late");
    const removal = api.start(api.removal("s"));
    await scenario.until("deleteAddresses");
    await api.run(removal);
    await scenario.pass(10_000);
    await api.create("t", { clusterIP: FIVE });
    await scenario.deliver("deleteAddresses");
    expect(scenario.parentOf(FIVE)).toBe("services/t");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 9: a watcher hears of nothing that the disk may still lose", async () => {
    const world = new StoreWorld();
    const watch = world.watch();
    world.storage.holdSync();
    void world.create(aLease("a")).catch(() => undefined);
    await world.scheduler.pass(1_000);
    expect(watch.brief, "written, not durable").toEqual([]);
    world.storage.failSync();
    await world.scheduler.pass(1_000);
    expect([watch.brief, watch.state]).toEqual([[], "ended"]);
  });

  it("hazard 10: two that cover each other, both deleted: neither goes while an address needs them", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    await scenario.range("b", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    // A's decision is made on what B was before.
    scenario.meet("countTaken", "held");
    await api.run(scenario.startRangeRemoval("a"));
    await scenario.pass(1_000);
    await api.run(scenario.startRangeRemoval("b"));
    if (scenario.waiting("countTaken") > 0) await scenario.deliver("countTaken");
    await scenario.pass(120_000);
    expect(scenario.ranges().filter((name) => name !== "kubernetes").length).toBeGreaterThan(0);
    expect(await scenario.rest()).toEqual([]);
    await api.remove("s");
    await scenario.pass(120_000);
    expect(scenario.ranges()).toEqual(["kubernetes"]);
  });

  it("hazard 10: a target that is deleted before the commit of a hand-off does not take its rows with it", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.range("b", "10.0.1.0/24");
    scenario.meet("seal", "held");
    await api.run(scenario.startRangeRemoval("a"));
    await scenario.until("seal");
    await api.run(scenario.startRangeRemoval("b"));
    await scenario.pass(2_000);
    await scenario.deliver("seal");
    await scenario.pass(400_000);
    expect((await rowsOf(scenario, "10.0.1.5")).map(({ name }) => name)).toEqual(["s"]);
    expect(await scenario.rest()).toEqual([]);
  });

  it.each([1, 2, 3])("hazard 10: a row that a Service takes again after count %i of a deletion is counted, or not taken", async (nth) => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("c", "10.0.1.0/28");
    const item = await withoutRow(scenario, "s", "10.0.1.5");
    scenario.meet("countTaken", "answerHeld", { skip: nth - 1 });
    await api.run(scenario.startRangeRemoval("c"));
    await scenario.until("countTaken");
    const retaken = cluster.services.brain.repair.makeWhole([item]);
    await scenario.pass(1_000);
    await scenario.deliver("countTaken");
    const [result] = await api.run(retaken);
    await scenario.pass(5_000);
    const isThere = scenario.ranges().includes("c");
    expect([result, (await rowsOf(scenario, item.address)).length]).toEqual(isThere ? ["restored", 1] : ["notReady", 0]);
    expect(isThere, "only before the owner is closed").toBe(nth === 1);
    if (!isThere) await scenario.range("c", "10.0.1.0/28");
    expect(await scenario.rest()).toEqual([]);
    expect((await rowsOf(scenario, item.address)).map(({ name }) => name)).toEqual(["s"]);
  });

  it("hazard 11: finalizers taken away in the middle of a hand-off: it runs on, and releases go through", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.range("b", "10.0.1.0/24");
    scenario.meet("seal", "held");
    await api.run(scenario.startRangeRemoval("a"));
    await scenario.until("seal");
    await api.run(scenario.patchRange("a", { metadata: { finalizers: null } }));
    expect(scenario.ranges()).not.toContain("a");
    await scenario.deliver("seal");
    await scenario.pass(400_000);
    expect(cluster.coordinatorStorage.contents.handoffs).toEqual({});
    await api.remove("s");
    await scenario.pass(10_000);
    expect((await api.create("t", { clusterIP: "10.0.1.5" })).ok).toBe(true);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 12: a second prefix gives out nothing before it is seeded, although the object says Ready", async () => {
    const scenario = await Scenario.ready({ isDual: true });
    const { api } = scenario;
    await scenario.range("c", "10.0.1.0/28");
    await api.createIPAddress("fd01::5");
    scenario.meet("seed", "held", { times: 5 });
    const update = scenario.patchRange("c", { spec: { cidrs: ["10.0.1.0/28", "fd01::/124"] } });
    await scenario.until("seed");
    const create = api.start(api.creation("s", { ipFamilies: ["IPv6"], clusterIP: "fd01::5" }));
    await scenario.pass(2_000);
    expect(await rowsOf(scenario, "fd01::5")).toEqual([]);
    scenario.clear();
    await scenario.deliver("seed");
    await api.run(update);
    expect((await api.run(create)).ok).toBe(false);
    await scenario.pass(10_000);
    expect(statusOf(await api.create("t", { ipFamilies: ["IPv6"], clusterIP: "fd01::5" })).message).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 13: repair that saw the Service before, and its successor's IPAddress after, takes nothing from the successor", async () => {
    const scenario = await Scenario.ready();
    const { api, world } = scenario;
    await api.create("s", { clusterIP: FIVE });
    await world.pass();
    await api.patch("s", { metadata: { labels: { looked: "at" } } });
    // Each of the reads of the pass in turn is the one that waits while everything changes.
    for (let skip = 0; skip < 4; skip++) {
      scenario.meet("feed", "held", { skip });
      const pass = world.repairer.run().catch(() => undefined);
      await scenario.pass(1_000);
      await api.remove("s");
      await scenario.pass(2_000);
      const successor = await api.create("t", { clusterIP: FIVE });
      expect(successor.ok).toBe(true);
      scenario.clear();
      if (scenario.waiting("feed") > 0) await scenario.deliver("feed");
      await api.run(pass);
      expect((await rowsOf(scenario, FIVE)).map(({ name }) => name)).toEqual(["t"]);
      expect(scenario.parentOf(FIVE)).toBe("services/t");
      await api.remove("t");
      await scenario.pass(2_000);
      await api.create("s", { clusterIP: FIVE });
    }
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 14: after the newest object is deleted and the history trimmed, a restart goes on counting; who is too far behind or ahead is told", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const feed = (): ObjectFeedReader => new ObjectFeedReader(world.store);
    const behind = feed().objectsAfter("", 10).cursor;
    await world.create(aLease("b"));
    await world.delete("b");
    const head = world.store.revision;
    world.storage.historyTrim(head);
    const state = world.storage.stateLoad();
    if (state) world.storage.stateSave({ ...state, floor: head });
    world.restart();
    expect([world.store.revision, world.store.floor]).toEqual([head, head]);
    const created = await world.create(aLease("c"));
    expect(Number(objectOf(created).metadata?.resourceVersion)).toBeGreaterThan(head);
    expect(feed().objectsSince(behind, 10).kind).toBe("expired");
    expect(feed().objectsSince({ ...behind, revision: head + 100 }, 10).kind).toBe("expired");
    expect(feed().objectsSince({ incarnation: "another", revision: head }, 10).kind).toBe("expired");
  });

  it.each(["updated", "deleted", "recreated"] as const)(
    "hazard 15: an allocation that comes back to a Service that was %s meanwhile commits nothing over it",
    async (what) => {
      const scenario = await Scenario.ready();
      const { api } = scenario;
      await api.create("s", { type: "ExternalName", externalName: "a.example.com", ports: null });
      scenario.meet("allocate", "held");
      const retype = api.start(
        api.change("s", { spec: { type: "ClusterIP", externalName: null, ports: [{ port: 80 }], clusterIP: FIVE } }),
      );
      await scenario.until("allocate");
      if (what === "updated") await api.patch("s", { metadata: { labels: { new: "label" } } });
      else await api.remove("s");
      if (what === "recreated") await api.create("s", { type: "ExternalName", externalName: "b.example.com", ports: null });
      await scenario.deliver("allocate");
      const result = await api.run(retype);
      const stored = servicesOf(scenario.cluster).find(({ metadata }) => metadata?.name === "s");
      if (what === "updated") expect(stored?.metadata?.labels).toEqual({ new: "label" });
      if (what === "deleted") expect([result.ok, stored]).toEqual([false, undefined]);
      // A merge patch says nothing of the object that it meets: it may be planned anew on the new one, and then holds its address whole.
      if (what === "recreated" && !result.ok) expect(stored?.spec?.externalName).toBe("b.example.com");
      expect(await scenario.rest()).toEqual([]);
    },
  );

  it("hazard 16: a create under way when its namespace goes is refused, and what it took goes back", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    cluster.namespaces.toggle("passing");
    const object = JSON.stringify({ metadata: { name: "s", namespace: "passing" }, spec: { ports: [{ port: 80 }], clusterIP: FIVE } });
    scenario.meet("allocate", "held");
    const create = api.start({ verb: "create", namespace: "passing", object, options: SERVICE_OPTIONS });
    await scenario.until("allocate");
    cluster.namespaces.toggle("passing");
    await api.run(cluster.namespaces.pass());
    expect(cluster.namespaces.has("passing"), "it was empty, and is gone").toBe(false);
    await scenario.deliver("allocate");
    expect([403, 404]).toContain(statusOf(await api.run(create)).code);
    expect(servicesOf(cluster)).toEqual([]);
    expect(await scenario.rest()).toEqual([]);
    expect(await rowsOf(scenario, FIVE)).toEqual([]);
  });

  it("hazard 17: a release that reaches the old owner of a segment is not taken for done", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.range("b", "10.0.1.0/24");
    scenario.meet("release", "held");
    const removal = api.start(api.removal("s"));
    await scenario.until("release");
    await api.run(scenario.startRangeRemoval("a"));
    await scenario.pass(60_000);
    expect(scenario.ranges(), "the segment has moved").not.toContain("a");
    await scenario.deliver("release");
    await api.run(removal);
    await scenario.pass(30_000);
    expect(await rowsOf(scenario, "10.0.1.5")).toEqual([]);
    expect(cluster.tables.services.ledger.releaseCount()).toBe(0);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 17: an owner that is down keeps its own releases waiting, and nobody else's", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await api.create("t", { clusterIP: FIVE });
    const down = uidOf(scenario, "a");
    cluster.network.fate = (_step, target) => (target === down ? "lost" : undefined);
    await api.remove("s");
    await api.remove("t");
    await scenario.pass(5_000);
    expect([await rowsOf(scenario, FIVE), (await rowsOf(scenario, "10.0.1.5")).length]).toEqual([[], 1]);
    cluster.network.fate = () => undefined;
    await scenario.pass(120_000);
    expect(await rowsOf(scenario, "10.0.1.5")).toEqual([]);
    expect(await scenario.rest()).toEqual([]);
  });

  it.each(["", FIVE])("hazard 17: create (%j) during a pending release: waits for the release, then 503", async (wanted) => {
    const scenario = await Scenario.ready({ ranges: ["10.0.0.4/30"] });
    const { api } = scenario;
    const spec = wanted ? { clusterIP: wanted } : {};
    for (const clusterIP of [FIVE, "10.0.0.6"]) await api.create(`s-${clusterIP.slice(-1)}`, { clusterIP });
    scenario.meet("release", "lost", { times: Infinity });
    expect((await api.remove("s-5")).ok).toBe(true);
    expect(statusOf(await api.create("early", spec))).toMatchObject({ code: 503, details: { retryAfterSeconds: 1 } });
    const late = api.start(api.creation("late", spec));
    await scenario.pass(5_000);
    scenario.clear();
    expect(objectOf(await api.run(late)).spec?.clusterIP).toBe(FIVE);
    expect(await scenario.rest()).toEqual([]);
  });

  it.each(["", "10.0.1.5"])("hazard 17: create (%j) after a release that met a frozen segment: gets the address", async (wanted) => {
    const scenario = await Scenario.ready({ ranges: ["10.0.0.0/30"] });
    const { api, cluster } = scenario;
    for (const name of ["x", "y"]) await api.create(name);
    await scenario.range("a", "10.0.1.4/30");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await api.create("t", { clusterIP: "10.0.1.6" });
    await scenario.range("b", "10.0.1.4/30");
    scenario.meet("seal", "held");
    await api.run(scenario.startRangeRemoval("a"));
    await scenario.until("seal");
    const removal = api.start(api.removal("s"));
    await scenario.pass(300);
    await scenario.deliver("seal");
    expect((await api.run(removal)).ok).toBe(true);
    expect(cluster.tables.services.ledger.releaseCount()).toBe(0);
    expect(objectOf(await api.create("next", wanted ? { clusterIP: wanted } : {})).spec?.clusterIP).toBe("10.0.1.5");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 18: a store that has not heard of the new ServiceCIDR asks before it says no", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await api.create("s");
    await scenario.range("c", "10.0.1.0/28");
    expect((await api.create("t", { clusterIP: "10.0.1.5" })).ok).toBe(true);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 18: a range that is frozen is not full: the create waits for it", async () => {
    const scenario = await Scenario.ready({ ranges: ["10.0.0.0/30"] });
    const { api } = scenario;
    for (const name of ["x", "y"]) await api.create(name);
    expect(statusOf(await api.create("z")).message).toContain("range is full");
    await scenario.range("a", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.range("b", "10.0.1.0/28");
    scenario.meet("seal", "held");
    await api.run(scenario.startRangeRemoval("a"));
    await scenario.until("seal");
    const create = api.start(api.creation("t"));
    await scenario.pass(3_000);
    await scenario.deliver("seal");
    expect(objectOf(await api.run(create)).spec?.clusterIP).toMatch(/^10\.0\.1\./);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 19: an owner that answers nothing holds up neither a new ServiceCIDR nor a create elsewhere", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    const down = uidOf(scenario, "a");
    cluster.network.fate = (_step, target) => (target === down ? "lost" : undefined);
    const removal = scenario.startRangeRemoval("a");
    await scenario.range("c", "10.0.2.0/28");
    expect((await api.create("s", { clusterIP: "10.0.2.5" })).ok).toBe(true);
    cluster.network.fate = () => undefined;
    await api.run(removal);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 20: what happens behind the back of a pass is the next pass's; a cursor that history has left is given up", async () => {
    const scenario = await Scenario.ready();
    const { api, world, cluster } = scenario;
    await api.create("s", { clusterIP: FIVE });
    await world.pass();
    await api.patch("s", { metadata: { labels: { looked: "at" } } });
    scenario.meet("feed", "held", { skip: 1 });
    const pass = world.repairer.run().catch(() => undefined);
    await scenario.pass(500);
    await api.removeIPAddress(FIVE);
    if (scenario.waiting("feed") > 0) await scenario.deliver("feed");
    await api.run(pass);
    await world.pass();
    await world.wait(70_000);
    expect(scenario.parentOf(FIVE)).toBe("services/s");
    // Deleted again, and forgotten by the history before anybody has looked.
    await api.removeIPAddress(FIVE);
    for (const name of ["services", "ipAddresses"] as const) {
      const { store } = cluster.tables[name];
      const { revision } = cluster[name].brain.store;
      store.historyTrim(revision);
      const state = store.stateLoad();
      if (state) store.stateSave({ ...state, floor: revision });
      cluster[name].crash();
    }
    for (let round = 0; round < 3; round++) {
      await world.pass();
      await world.wait(70_000);
    }
    expect(checkPaired({ services: servicesOf(cluster), ipAddresses: ipAddressesOf(cluster) })).toEqual([]);
    expect(await scenario.rest()).toEqual([]);
  });
});
