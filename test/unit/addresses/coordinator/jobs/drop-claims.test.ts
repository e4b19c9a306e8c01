/** What is left of a ServiceCIDR that was removed by force (hazard 11). */
import { describe, expect, it } from "vitest";
import { startedWorld } from "../../../../support/worlds/coordinator-world";

describe("hazard 11: finalizers removed by force", () => {
  it("address held: nothing is given out, releases work, and the owner retires when it is empty", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    const held = await world.allocate(uid, "10.0.1.9");
    await world.run(world.remove("extra"));
    await world.run(world.dropFinalizers("extra"));
    expect(world.object("extra")).toBeUndefined();
    await world.pass(60_000);
    expect(world.configOf(uid)).toMatchObject({ owned: ["10.0.1.0/24"], ranges: [], retired: false });
    expect(await world.allocate(uid, "10.0.1.10")).toMatchObject({ ok: false, reason: "notAllocatable" });
    expect(await world.run(world.owner(uid).release([{ address: "10.0.1.9", token: held.token }]))).toEqual(["released"]);
    await world.until(() => world.configOf(uid)?.retired === true, 60_000);
  });

  it("new ServiceCIDR around: takes over what was left", async () => {
    const world = await startedWorld();
    const uid = await world.created("extra", ["10.0.1.0/24"]);
    await world.allocate(uid, "10.0.1.9");
    await world.run(world.remove("extra"));
    await world.run(world.dropFinalizers("extra"));
    const again = await world.created("again", ["10.0.0.0/16"]);
    await world.until(() => world.configOf(uid)?.retired === true);
    expect(await world.allocate(again, "10.0.1.9")).toMatchObject({ ok: false, reason: "taken" });
    expect(await world.allocate(again, "10.0.1.10")).toMatchObject({ ok: true });
  });
});
