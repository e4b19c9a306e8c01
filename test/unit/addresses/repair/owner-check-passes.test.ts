/** When the passes of repair compare bitmaps with rows. */
import { describe, expect, it } from "vitest";
import { SWEEP_ASKED } from "../../../../src/addresses/repair/repair-ports";
import { RepairWorld } from "../../../support/worlds/repair-world";

const RANGE = ["10.0.0.0/24"];

describe("check of a bitmap", () => {
  it("bit that differs from its row: the owner builds the bitmap anew", async () => {
    const world = await RepairWorld.of(RANGE);
    const address = await world.createService("web");
    for (const { storage } of world.cluster.owners.values()) {
      for (const row of storage.rowsSince(0, 10)) storage.rowDelete(row.key, row.token);
    }
    await world.wait(60_000);
    await world.pass();
    expect(world.storage.countsLoad().ipErrors.repair).toBeGreaterThan(0);
    await world.wait(60_000);
    await world.pass();
    expect(await world.rows()).toEqual({ [address]: "service" });
  });

  it("more to do than a pass has time for: one check with each slice, or behind it where it compared node ports", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.pass();
    // Each time that suspects are taken, a hundred more come.
    const take = world.storage.suspectsTake.bind(world.storage);
    world.storage.suspectsTake = (now, limit, leaseUntil) => {
      for (let i = 0; i < limit; i++) world.storage.suspectPut(`services/default/gone-${String(i)}`, now);
      return take(now, limit, leaseUntil);
    };
    const checks: number[] = [];
    for (let slice = 0; slice < 3; slice++) {
      await world.cluster.scheduler.pass(60_000);
      world.calls.length = 0;
      expect(await world.onePass()).toBe(true);
      checks.push(world.calls.filter((call) => call === "owner.checkBitmap").length);
      world.calls.length = 0;
      expect(await world.onePass()).toBe(true);
      checks.push(world.calls.filter((call) => call === "owner.checkBitmap").length);
    }
    expect(checks).toEqual([1, 0, 1, 0, 0, 1]);
  });

  it("full sweep: checks bitmaps after everything else", async () => {
    const world = await RepairWorld.of(RANGE);
    for (let i = 0; i < 240; i++) await world.createService(`s-${String(i)}`);
    await world.pass();
    const sweeps = world.storage.numberGet("sweeps");
    world.storage.numberSet(SWEEP_ASKED, 1);
    world.calls.length = 0;
    await world.pass();
    const last = world.calls.lastIndexOf("ipaddresses.objectsAfter");
    expect([world.calls.indexOf("owner.checkBitmap") > last, world.storage.numberGet("sweeps")]).toEqual([true, sweeps + 1]);
  });
});
