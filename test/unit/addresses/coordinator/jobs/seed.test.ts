/** Seeding: the IPAddress objects inside new segments are marked taken before the segments give out addresses. */
import { describe, expect, it } from "vitest";
import { seedRow, startedWorld } from "../../../../support/worlds/coordinator-world";

describe("new ServiceCIDR", () => {
  it("order: shown not Ready, claimed, seeded, pushed, and only then Ready", async () => {
    const world = await startedWorld();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    const order: string[] = [];
    world.intercept = (call) => void order.push(`${call}${world.readyOf("new") ? " Ready" : ""}`);
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect(order.filter((call) => !call.startsWith("free"))).toEqual([
      `configure ${uid}`,
      "claimPrefixes",
      `seed ${uid}`,
      "claimPrefixes",
      `configure ${uid}`,
    ]);
    expect(world.pushed.filter((push) => push.uid === uid).map((push) => push.config.ranges)).toEqual([[], ["10.0.1.0/24"]]);
    expect(await world.allocate(uid, "10.0.1.7")).toMatchObject({ ok: false, reason: "taken" });
    expect(await world.allocate(uid, "10.0.1.8")).toMatchObject({ ok: true });
  });

  it("many pages of IPAddresses: those inside are marked, those elsewhere are not", async () => {
    const world = await startedWorld();
    for (let i = 1; i <= 7; i++) {
      for (const address of [`10.0.1.${20 + i}`, `10.7.0.${i}`]) world.userAddresses.set(address, seedRow(address));
    }
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect((await world.held()).map(({ address }) => address).sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map((i) => `10.0.1.${20 + i}`));
    expect(await world.allocate(uid, "10.0.1.27")).toMatchObject({ ok: false, reason: "taken" });
  });
});

describe("hazard 7: IPAddresses that change while a segment is seeded", () => {
  it("deleted between list and mark: taken back", async () => {
    const world = await startedWorld();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    world.intercept = (call) => {
      if (call.startsWith("seed")) world.userAddresses.delete("10.0.1.7");
    };
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect(await world.held()).toEqual([]);
    expect(await world.allocate(uid, "10.0.1.7")).toMatchObject({ ok: true });
  });

  it("deleted between list and mark, and the Coordinator dies: taken back", async () => {
    const world = await startedWorld();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    world.intercept = (call) => {
      if (!call.startsWith("seed") || !world.userAddresses.delete("10.0.1.7")) return;
      void world.owner(world.uidOf("new")).seed(world.configOf(world.uidOf("new"))?.epoch ?? 0, [seedRow("10.0.1.7")]);
      world.crash();
    };
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect(await world.allocate(uid, "10.0.1.7")).toMatchObject({ ok: true });
  });

  it("created while the list is taken: in the next list", async () => {
    const world = await startedWorld();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    world.intercept = (call) => void (call.startsWith("seed") && world.userAddresses.set("10.0.1.8", seedRow("10.0.1.8")));
    const uid = await world.created("new", ["10.0.1.0/24"]);
    expect(await world.allocate(uid, "10.0.1.8")).toMatchObject({ ok: false, reason: "taken" });
  });
});

describe("hazard 12: second prefix of a Ready ServiceCIDR", () => {
  it("before it is seeded: gives out nothing", async () => {
    const world = await startedWorld();
    world.userAddresses.set("fd00::7", seedRow("fd00::7"));
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    let before: unknown;
    world.intercept = (call) => {
      if (call.startsWith("seed")) before = world.configOf(uid);
    };
    await world.run(world.edit("extra", (object) => ({ ...object, spec: { cidrs: ["10.0.1.0/24", "fd00::/112"] } })));
    expect(world.readyOf("extra")?.status).toBe("True");
    await world.until(() => world.configOf(uid)?.ranges.length === 2);
    expect(before).toMatchObject({ owned: ["10.0.1.0/24", "fd00::/112"], ranges: ["10.0.1.0/24"] });
    expect(await world.allocate(uid, "fd00::7")).toMatchObject({ ok: false, reason: "taken" });
  });
});
