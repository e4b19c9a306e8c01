/** Hazards of releases: they are late, repeated, or reach an owner that is not responsible any more. docs/internals/protocol.md has the list; each is played message by message. */
import { describe, expect, it } from "vitest";
import { Scenario } from "../../support/sim/scenario";
import { objectOf, statusOf } from "../../support/sim/api";

const FIVE = "10.0.0.5";

describe("hazards", () => {
  it("hazard 1: a repeated release whose first answer was lost: leaves the address to its next holder", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await api.create("s", { clusterIP: FIVE });
    scenario.meet("release", "replyLost");
    scenario.meet("release", "held", { times: 10 });
    const retype = api.start(api.change("s", { spec: { type: "ExternalName", externalName: "a.example.com" } }));
    await scenario.pass(1_000);
    // The owner has freed it, and nobody but the owner knows.
    expect(await scenario.rowsOf(FIVE)).toEqual([]);
    await api.run(retype);
    const created = await api.create("t", { clusterIP: FIVE });
    expect(created.ok, "T takes what is free").toBe(true);
    await scenario.until("release");
    await scenario.deliver("release");
    expect((await scenario.rowsOf(FIVE)).map(({ name }) => name)).toEqual(["t"]);
    expect(statusOf(await api.create("v", { clusterIP: FIVE })).message).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 1: a late release after the Service was retyped back: leaves the address to the Service", async () => {
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
    else expect(await scenario.rowsOf(FIVE)).toHaveLength(1);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 17: a release that reaches the old owner of a segment: goes on to the new owner", async () => {
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
    expect(await scenario.rowsOf("10.0.1.5")).toEqual([]);
    expect(cluster.tables.services.ledger.releases.size).toBe(0);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 17: an owner that is down: keeps only its own releases waiting", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await scenario.range("a", "10.0.1.0/28");
    await api.create("s", { clusterIP: "10.0.1.5" });
    await api.create("t", { clusterIP: FIVE });
    const down = scenario.uidOf("a");
    cluster.network.fate = (_step, target) => (target === down ? "lost" : undefined);
    await api.remove("s");
    await api.remove("t");
    await scenario.pass(5_000);
    expect([await scenario.rowsOf(FIVE), (await scenario.rowsOf("10.0.1.5")).length]).toEqual([[], 1]);
    cluster.network.fate = () => undefined;
    await scenario.pass(120_000);
    expect(await scenario.rowsOf("10.0.1.5")).toEqual([]);
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
    expect(cluster.tables.services.ledger.releases.size).toBe(0);
    expect(objectOf(await api.create("next", wanted ? { clusterIP: wanted } : {})).spec?.clusterIP).toBe("10.0.1.5");
    expect(await scenario.rest()).toEqual([]);
  });
});
