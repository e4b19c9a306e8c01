/** Owners that are given up because a backup brought back rows of a time before their retirement. */
import { describe, expect, it } from "vitest";
import { type CoordinatorWorld, seedRow, startedWorld } from "../../../support/worlds/coordinator-world";

describe("hazard 4: rows restored from a backup that name an owner retired since", () => {
  async function restored(shape: { before?: (world: CoordinatorWorld) => Promise<unknown> } = {}) {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    await shape.before?.(world);
    const backup = structuredClone(world.storage.contents);
    await world.run(world.remove("extra"));
    await world.until(() => world.configOf(uid)?.retired === true);
    await world.pass(60_000);
    world.storage.contents = backup;
    world.check = () => undefined;
    world.crash();
    return { world, uid };
  }

  it("its ServiceCIDR: made anew with an owner of its own, with an event", async () => {
    const { world, uid } = await restored();
    await world.run(world.coordinator.topology());
    await world.until(() => world.uidOf("extra") !== uid && world.readyOf("extra")?.status === "True", 10_000);
    expect(world.object("extra")?.spec).toEqual({ cidrs: ["10.0.1.0/24"] });
    expect(await world.allocate(world.uidOf("extra"), "10.0.1.9")).toMatchObject({ ok: true });
    await world.until(() => world.storage.load().owners.every((owner) => owner.uid !== uid));
    expect(world.logged.map(({ event }) => event)).toContain("an owner was given up");
    expect(world.reported).toMatchObject([{ reason: "ServiceCIDROwnerRetired", regarding: { name: "extra" } }]);
    await world.pass(60_000);
    expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
  });

  it("its ServiceCIDR, when another create comes first and an IPAddress lies inside: made anew", async () => {
    const { world, uid } = await restored();
    world.userAddresses.set("10.0.1.7", seedRow("10.0.1.7"));
    expect(await world.run(world.create("inner", ["10.0.1.0/28"]))).toBeUndefined();
    await world.until(() => ["extra", "inner"].every((name) => world.readyOf(name)?.status === "True"), 30_000);
    expect(world.uidOf("extra")).not.toBe(uid);
    const owners = new Map(world.storage.load().claims.map(({ prefix, ownerUid }) => [prefix, ownerUid]));
    expect(owners.get("10.0.1.0/28")).toBe(world.uidOf("inner"));
    expect(await world.allocate(world.uidOf("inner"), "10.0.1.7")).toMatchObject({ ok: false, reason: "taken" });
  });

  it("its ServiceCIDR that was being deleted: gone", async () => {
    const { world, uid } = await restored({
      before: async (world) => {
        world.deaf.add(world.uidOf("extra"));
        void world.remove("extra");
        await world.pass(100);
        world.deaf.clear();
        await world.until(() => world.object("extra")?.metadata?.deletionTimestamp !== undefined);
      },
    });
    await world.until(() => world.object("extra") === undefined, 30_000);
    await world.until(() => world.storage.load().owners.every((owner) => owner.uid !== uid));
  });

  it.each([
    { name: "its segment goes back to the source", isCut: false },
    { name: "its segment goes back to the source, cut as the target had cut it", isCut: true },
  ])("committed hand-off to it: $name", async ({ isCut }) => {
    const world = await startedWorld();
    const source = await world.created("old", ["10.0.1.0/24"]);
    await world.allocate(source, "10.0.1.9");
    const target = await world.created("new", ["10.0.1.0/24"]);
    await world.run(world.remove("old"));
    await world.until(() => world.storage.load().handoffs[0]?.phase === "activating");
    const backup = structuredClone(world.storage.contents);
    const { "10.0.1.0": segment, ...claims } = backup.claims;
    const halves = { "10.0.1.0": { ...segment, prefix: "10.0.1.0/25" }, "10.0.1.128": { ...segment, prefix: "10.0.1.128/25" } };
    await world.until(() => world.object("old") === undefined);
    await world.run(world.remove("new"));
    world.check = () => undefined;
    await world.run(world.dropFinalizers("new"));
    const token = (await world.held())[0]?.token ?? "";
    await world.run(world.owner(target).release([{ address: "10.0.1.9", token }]));
    await world.until(() => world.configOf(target)?.retired === true && world.configOf(source)?.retired === true);
    world.storage.contents = isCut ? ({ ...backup, claims: { ...claims, ...halves } } as typeof backup) : backup;
    world.crash();
    world.deaf.add(source);
    await world.run(world.coordinator.topology());
    await world.until(() => world.logged.some(({ event }) => event === "an owner was given up"), 60_000);
    expect(world.storage.load().claims.filter(({ ownerUid }) => ownerUid === source)).toMatchObject(
      isCut ? [{ prefix: "10.0.1.0/25" }, { prefix: "10.0.1.128/25" }] : [{ prefix: "10.0.1.0/24" }],
    );
    world.deaf.clear();
    await world.until(() => world.readyOf("new")?.status === "True" && world.uidOf("new") !== target, 60_000);
    await world.until(() => world.object("old") === undefined, 60_000);
    expect(await world.allocate(world.uidOf("new"), "10.0.1.9")).toMatchObject({ ok: true });
    await world.pass(600_000);
    expect(world.storage.load().handoffs).toEqual([]);
    expect(world.storage.contents.alarmAt, "nothing is left to do").toBe(0);
  });
});
