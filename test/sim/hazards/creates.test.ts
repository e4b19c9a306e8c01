/** Hazards of creates: the world moves while an owner or a store is asked. docs/internals/protocol.md has the list; each is played message by message. */
import { describe, expect, it } from "vitest";
import { Scenario } from "../../support/sim/scenario";
import { objectOf, statusOf } from "../../support/sim/api";
import { servicesOf } from "../../support/sim/watches/checks";

const FIVE = "10.0.0.5";
const SERVICE_OPTIONS = { dryRun: false, fieldManager: "test", fieldValidation: "Strict", force: false, group: "", version: "v1" } as const;

describe("hazards", () => {
  it("hazard 2: repair and audit whose clocks are ahead: leave the address of a create that is under way", async () => {
    const scenario = await Scenario.ready({ isDual: true });
    const { api, cluster } = scenario;
    await scenario.range("c", "fd01::/124");
    // The owner of the other family is slow.
    scenario.meet("allocate", "held", { skip: 1 });
    const create = api.start(api.creation("s", { ipFamilyPolicy: "RequireDualStack", clusterIP: FIVE, clusterIPs: [FIVE, "fd01::5"] }));
    await scenario.until("allocate");
    const held = [...(await scenario.rowsOf(FIVE)), ...(await scenario.rowsOf("fd01::5"))];
    expect(held).toHaveLength(1);
    for (const { node } of cluster.owners.values()) node.clockOffMs = 70_000;
    cluster.ipAddresses.clockOffMs = 70_000;
    void cluster.services.brain.maintain();
    void scenario.world.pass();
    await scenario.pass(3_000);
    expect([...(await scenario.rowsOf(FIVE)), ...(await scenario.rowsOf("fd01::5"))]).toEqual(held);
    await scenario.deliver("allocate");
    expect(objectOf(await api.run(create)).spec?.clusterIPs).toEqual([FIVE, "fd01::5"]);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 2: an owner's answer after the deadline of the create: the address is released", async () => {
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
    expect(await scenario.rowsOf(FIVE)).toEqual([]);
  });

  it.each(["updated", "deleted", "recreated"] as const)(
    "hazard 15: an allocation for a Service that was %s meanwhile: commits nothing over it",
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

  it("hazard 16: a create under way when its namespace goes: is refused, and its address is released", async () => {
    const scenario = await Scenario.ready();
    const { api, cluster } = scenario;
    await api.run(cluster.namespaces.create("passing"));
    const object = JSON.stringify({ metadata: { name: "s", namespace: "passing" }, spec: { ports: [{ port: 80 }], clusterIP: FIVE } });
    scenario.meet("allocate", "held");
    const create = api.start({ verb: "create", namespace: "passing", object, options: SERVICE_OPTIONS });
    await scenario.until("allocate");
    await api.run(cluster.namespaces.remove("passing"));
    await scenario.pass(5_000);
    expect(cluster.namespaces.has("passing"), "it was empty, and is gone").toBe(false);
    await scenario.deliver("allocate");
    expect([403, 404]).toContain(statusOf(await api.run(create)).code);
    expect(servicesOf(cluster)).toEqual([]);
    expect(await scenario.rest()).toEqual([]);
    expect(await scenario.rowsOf(FIVE)).toEqual([]);
  });

  it.each([
    ["off", true],
    ["on again", false],
  ])(
    "hazard 16: a create under way when somebody else ends its namespace, our controller %s: is refused, and its address is released",
    async (_, isOff) => {
      const scenario = await Scenario.ready();
      const { api, cluster } = scenario;
      cluster.off.add("namespaces");
      cluster.controllers.of("namespaces").crash();
      await api.run(cluster.namespaces.create("passing"));
      const object = JSON.stringify({ metadata: { name: "s", namespace: "passing" }, spec: { ports: [{ port: 80 }], clusterIP: FIVE } });
      scenario.meet("allocate", "held");
      const create = api.start({ verb: "create", namespace: "passing", object, options: SERVICE_OPTIONS });
      await scenario.until("allocate");
      // No store hears of the deletion in time.
      scenario.meet("closeNamespace", "lost", { times: 2 });
      await api.run(cluster.namespaces.remove("passing"));
      expect(cluster.tables.services.store.namespaceClosedUid("passing")).toBeUndefined();
      if (!isOff) cluster.off.delete("namespaces");
      expect(await api.run(cluster.namespaces.finalize("passing"))).toMatchObject({ ok: true, gone: true });
      await scenario.deliver("allocate");
      expect([403, 404]).toContain(statusOf(await api.run(create)).code);
      expect(servicesOf(cluster)).toEqual([]);
      expect(await scenario.rest()).toEqual([]);
      expect(await scenario.rowsOf(FIVE)).toEqual([]);
    },
  );

  it("hazard 18: a store that does not know the new ServiceCIDR: asks before it refuses", async () => {
    const scenario = await Scenario.ready();
    const { api } = scenario;
    await api.create("s");
    await scenario.range("c", "10.0.1.0/28");
    expect((await api.create("t", { clusterIP: "10.0.1.5" })).ok).toBe(true);
    expect(await scenario.rest()).toEqual([]);
  });

  it("hazard 18: a range that is frozen: is not full, and the create waits for it", async () => {
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
});
