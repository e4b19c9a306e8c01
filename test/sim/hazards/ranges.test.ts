/** Hazards of ServiceCIDRs that come, cover each other, and go. docs/internals/protocol.md has the list; each is played message by message. */
import { describe, expect, it } from "vitest";
import { Scenario } from "../../support/sim/scenario";
import { statusOf } from "../../support/sim/api";

describe("hazards", () => {
  it("hazard 3: a Coordinator that dies between confirmation and record: uses no epoch twice, and a late configuration opens nothing", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    // What lets C give out addresses arrives late, and once more its answer does not.
    scenario.meet("own", "late");
    scenario.meet("allow", "late");
    const created = await api.run(scenario.startRange("c", "10.0.1.0/28"));
    expect(created.ok).toBe(true);
    await scenario.pass(500);
    const uid = scenario.uidOf("c");
    cluster.coordinator.crash();
    scenario.clear();
    await scenario.pass(30_000);
    const before = scenario.configOf(uid);
    expect(before.ranges).toEqual(["10.0.1.0/28"]);
    await api.create("s", { clusterIP: "10.0.1.5" });
    await api.run(scenario.startRangeRemoval("c"));
    await scenario.pass(5_000);
    const fenced = scenario.configOf(uid);
    expect(fenced.epoch).toBeGreaterThan(before.epoch);
    expect(fenced.ranges).toEqual([]);
    while (cluster.network.held.length > 0) await scenario.deliver(cluster.network.held[0]?.step ?? "own");
    expect(scenario.configOf(uid)).toEqual(fenced);
    expect((await api.create("t", { clusterIP: "10.0.1.6" })).ok).toBe(false);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 4: a late wipe of a ServiceCIDR whose name is in use again: the successor keeps its rows", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await scenario.range("c", "10.0.1.0/28");
    const old = scenario.uidOf("c");
    scenario.meet("retire", "held", { times: 2 });
    await api.run(scenario.startRangeRemoval("c"));
    await scenario.until("retire");
    await scenario.range("c", "10.0.1.0/28");
    expect(scenario.uidOf("c")).not.toBe(old);
    await api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.deliver("retire");
    expect((await scenario.rowsOf("10.0.1.5")).map(({ name }) => name)).toEqual(["s"]);
    expect(scenario.configOf(old).retired).toBe(true);
    expect(statusOf(await api.create("t", { clusterIP: "10.0.1.5" })).message).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 6: two ServiceCIDRs with one prefix, created at the same time: one of them claims it", async () => {
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
    const owners = [...cluster.owners.keys()].filter((uid) => scenario.configOf(uid).owned.includes("10.0.1.0/28"));
    expect(owners).toEqual([claims[0]?.ownerUid]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 10: two ServiceCIDRs that cover each other, both deleted: one stays while an address needs it", async () => {
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

  it.each([1, 2, 3])("hazard 10: a row that a Service takes again after count %i of a deletion: is counted, or not taken", async (nth) => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("c", "10.0.1.0/28");
    const item = await scenario.withoutRow("s", "10.0.1.5");
    scenario.meet("countTaken", "answerHeld", { skip: nth - 1 });
    await api.run(scenario.startRangeRemoval("c"));
    await scenario.until("countTaken");
    const retaken = cluster.services.brain.makeWhole([item]);
    await scenario.pass(1_000);
    await scenario.deliver("countTaken");
    const [result] = await api.run(retaken);
    await scenario.pass(5_000);
    const isThere = scenario.ranges().includes("c");
    expect([result, (await scenario.rowsOf(item.address)).length]).toEqual(isThere ? ["restored", 1] : ["notReady", 0]);
    expect(isThere, "only before the owner is closed").toBe(nth === 1);
    if (!isThere) await scenario.range("c", "10.0.1.0/28");
    expect(await scenario.rest()).toEqual([]);
    expect((await scenario.rowsOf(item.address)).map(({ name }) => name)).toEqual(["s"]);
  });

  it("hazard 19: an owner that does not answer: holds up neither a new ServiceCIDR nor a create elsewhere", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    const down = scenario.uidOf("a");
    cluster.network.fate = (_step, target) => (target === down ? "lost" : undefined);
    const removal = scenario.startRangeRemoval("a");
    await scenario.range("c", "10.0.2.0/28");
    expect((await api.create("s", { clusterIP: "10.0.2.5" })).ok).toBe(true);
    cluster.network.fate = () => undefined;
    await api.run(removal);
    expect(await scenario.rest()).toEqual([]);
  });
});
