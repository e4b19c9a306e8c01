/** Hazards of Services and IPAddresses that are read or written late. docs/internals/protocol.md has the list; each is played message by message. */
import { describe, expect, it } from "vitest";
import { checkPaired } from "../../support/checks/checkers";
import { Scenario } from "../../support/sim/scenario";
import { forgetHistory } from "../../support/worlds/stored-history";
import { ipAddressesOf, servicesOf } from "../../support/sim/watches/checks";

const FIVE = "10.0.0.5";

describe("hazards", () => {
  it("hazard 8: a late write of a deleted Service's IPAddress: the successor's object stays", async () => {
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

  it("hazard 8: a late delete of a deleted Service's IPAddress: the successor's object stays", async () => {
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

  it("hazard 13: repair that read the Service before and its successor's IPAddress after: takes nothing from the successor", async () => {
    const scenario = await Scenario.ready();
    const { api, world } = scenario;
    await api.create("s", { clusterIP: FIVE });
    await world.pass();
    await api.patch("s", { metadata: { labels: { looked: "at" } } });
    // Each of the reads of the pass in turn is the one that waits while everything changes.
    for (let skip = 0; skip < 4; skip++) {
      scenario.meet("feed", "held", { skip });
      const pass = world.brain.alarm().catch(() => undefined);
      await scenario.pass(1_000);
      await api.remove("s");
      await scenario.pass(2_000);
      const successor = await api.create("t", { clusterIP: FIVE });
      expect(successor.ok).toBe(true);
      scenario.clear();
      if (scenario.waiting("feed") > 0) await scenario.deliver("feed");
      await api.run(pass);
      expect((await scenario.rowsOf(FIVE)).map(({ name }) => name)).toEqual(["t"]);
      expect(scenario.parentOf(FIVE)).toBe("services/t");
      await api.remove("t");
      await scenario.pass(2_000);
      await api.create("s", { clusterIP: FIVE });
    }
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 20: a change behind the reads of a pass: is the next pass's; a cursor older than the history: is given up", async () => {
    const scenario = await Scenario.ready();
    const { api, world, cluster } = scenario;
    await api.create("s", { clusterIP: FIVE });
    await world.pass();
    await api.patch("s", { metadata: { labels: { looked: "at" } } });
    scenario.meet("feed", "held", { skip: 1 });
    const pass = world.brain.alarm().catch(() => undefined);
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
      forgetHistory(store, cluster[name].brain.store.revision);
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
