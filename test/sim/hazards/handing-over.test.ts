/** Hazards of hand-offs: one is given up, cut short, or loses its target. docs/internals/protocol.md has the list; each is played message by message. */
import { describe, expect, it } from "vitest";
import { Scenario } from "../../support/sim/scenario";

describe("hazards", () => {
  it("hazard 5: late messages of an abandoned hand-off: change neither source nor target of a later one", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.range("b", "10.0.1.0/24");
    const [a, b] = [scenario.uidOf("a"), scenario.uidOf("b")];
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
    const before = scenario.configOf(b);
    while (cluster.network.held.length > 0) await scenario.deliver(cluster.network.held[0]?.step ?? "seal");
    expect((await scenario.rowsOf("10.0.1.5")).map(({ name }) => name)).toEqual(["t"]);
    expect([scenario.configOf(a).owned ?? [], scenario.configOf(b)]).toEqual([[], before]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 10: a target that is deleted before the commit of a hand-off: the rows stay", async () => {
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
    expect((await scenario.rowsOf("10.0.1.5")).map(({ name }) => name)).toEqual(["s"]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 11: finalizers taken away in the middle of a hand-off: the hand-off runs on, and releases go through", async () => {
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
});
