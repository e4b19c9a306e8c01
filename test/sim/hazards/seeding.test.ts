/** Hazards of IPAddress objects inside a new claim, while the claim is seeded. docs/internals/protocol.md has the list; each is played message by message. */
import { describe, expect, it } from "vitest";
import { Scenario } from "../../support/sim/scenario";
import { objectOf, statusOf } from "../../support/sim/api";

const FIVE = "10.0.0.5";

describe("hazards", () => {
  it("hazard 7: an IPAddress made while a ServiceCIDR around it is seeded: no Service gets its address", async () => {
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

  it("hazard 7: an IPAddress deleted between list and mark: its address is given out again", async () => {
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

  it("hazard 7: an IPAddress whose row went with a claim before it was stored: is refused", async () => {
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

  it("hazard 7: an IPAddress whose owner does not know that its claim is gone: holds its address at the next owner", async () => {
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

  it("hazard 7: an IPAddress whose owner has lost the row: the Service that gets the address keeps it, and the log says so", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await api.createIPAddress(FIVE);
    for (const { token } of await scenario.rowsOf(FIVE))
      for (const { node } of cluster.owners.values()) await api.run(node.brain.release([{ address: FIVE, token }]));
    expect((await api.create("s", { clusterIP: FIVE })).ok).toBe(true);
    expect(scenario.parentOf(FIVE)).toBe("services/s");
    expect(cluster.logged).toEqual([`an IPAddress was replaced {"address":"${FIVE}","service":"default/s"}`]);
    expect(await scenario.rest()).toEqual([]);
    expect((await scenario.rowsOf(FIVE)).map(({ name }) => name)).toEqual(["s"]);
  });

  it("hazard 7: an IPAddress whose row repair took and forgot by a crash: keeps that row", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    const { uid } = objectOf(await api.createIPAddress("10.0.1.3")).metadata ?? {};
    scenario.meet("seed", "held");
    await api.run(scenario.startRange("c", "10.0.1.0/29"));
    await scenario.until("seed");
    const holder = { kind: "ipaddress", namespace: "", name: "10.0.1.3", uid: uid ?? "" } as const;
    const owner = scenario.uidOf("c");
    const row = { address: "10.0.1.3", holder, token: "forgotten" };
    expect(await api.run(cluster.owner(owner).node.brain.seed(scenario.configOf(owner).epoch, [row]))).not.toBe("stale");
    await scenario.deliver("seed");
    await scenario.pass(10_000);
    await api.run(cluster.ipAddresses.brain.maintain());
    await scenario.pass(1_000);
    expect(await scenario.rowsOf("10.0.1.3")).toEqual([{ token: "forgotten", name: "10.0.1.3" }]);
    await api.run(cluster.ipAddresses.brain.makeHeld([{ address: "10.0.1.3", object: holder.uid }]));
    expect(cluster.tables.ipAddresses.ledger.allocationGet("10.0.1.3")?.token).toBe("forgotten");
    expect(await scenario.rest()).toEqual([]);
    expect((await api.removeIPAddress("10.0.1.3")).ok).toBe(true);
    expect(await scenario.rowsOf("10.0.1.3")).toEqual([]);
  });

  it("hazard 7: an IPAddress that is listed while repair takes its row: keeps the row, and no Service replaces it", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    const { brain } = cluster.ipAddresses;
    const { uid = "" } = objectOf(await api.createIPAddress(FIVE)).metadata ?? {};
    const { ledger } = cluster.tables.ipAddresses;
    const [row] = await scenario.rowsOf(FIVE);
    const owner = scenario.uidOf("kubernetes");
    await api.run(cluster.owner(owner).node.brain.release([{ address: FIVE, token: row?.token ?? "" }]));
    ledger.allocationDelete(FIVE);
    scenario.meet("allocate", "held");
    const repair = brain.makeHeld([{ address: FIVE, object: uid }]);
    await scenario.until("allocate");
    const { epoch, owned } = scenario.configOf(owner);
    await api.run(brain.claimPrefixes(epoch, owned, { within: owned, after: "" }));
    expect(ledger.allocationGet(FIVE)?.token).toBe(uid);
    await scenario.deliver("allocate");
    expect(await api.run(repair)).toEqual(["busy"]);
    await scenario.pass(10_000);
    expect((await scenario.rowsOf(FIVE)).map(({ name }) => name)).toEqual([FIVE]);
    expect(await api.run(brain.makeHeld([{ address: FIVE, object: uid }]))).toEqual(["restored"]);
    expect(statusOf(await api.create("s", { clusterIP: FIVE })).message).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 12: a second prefix of a Ready ServiceCIDR: gives out nothing before it is seeded", async () => {
    const scenario = await Scenario.ready({ isDual: true });
    const { api } = scenario;
    await scenario.range("c", "10.0.1.0/28");
    await api.createIPAddress("fd01::5");
    scenario.meet("seed", "held", { times: 5 });
    const update = scenario.patchRange("c", { spec: { cidrs: ["10.0.1.0/28", "fd01::/124"] } });
    await scenario.until("seed");
    const create = api.start(api.creation("s", { ipFamilies: ["IPv6"], clusterIP: "fd01::5" }));
    await scenario.pass(2_000);
    expect(await scenario.rowsOf("fd01::5")).toEqual([]);
    scenario.clear();
    await scenario.deliver("seed");
    await api.run(update);
    expect((await api.run(create)).ok).toBe(false);
    await scenario.pass(10_000);
    expect(statusOf(await api.create("t", { ipFamilies: ["IPv6"], clusterIP: "fd01::5" })).message).toContain("already allocated");
    expect(await scenario.rest()).toEqual([]);
  });
});
