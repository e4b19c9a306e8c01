import { describe, expect, it } from "vitest";
import { aConfig, OwnerWorld } from "../../../support/worlds/owner-world";

describe("usage, for metrics", () => {
  const intervals = [
    { first: "10.0.0.1", last: "10.0.0.254" },
    { first: "10.0.0.1", last: "10.0.0.14" },
    { first: "fd00::1", last: "fd00::ff" },
    { first: "10.9.0.0", last: "10.9.0.255" },
  ];

  it("intervals: each counted by itself, the same while a segment is frozen", async () => {
    const world = new OwnerWorld();
    await world.owner.configure(aConfig(1, ["10.0.0.0/24", "fd00::/120"]));
    for (const address of ["10.0.0.9", "10.0.0.200", "fd00::1"]) await world.allocate(address);
    const { taken, drains, weight } = await world.owner.usage(intervals);
    expect(taken).toEqual([2, 1, 1, 0]);
    expect([drains, weight]).toEqual([3, 3]);
    await world.owner.configure(aConfig(2, ["10.0.0.0/24", "fd00::/120"], { frozen: ["10.0.0.0/24"] }));
    expect((await world.owner.usage(intervals)).taken).toEqual([2, 1, 1, 0]);
  });
});

describe("takenIn", () => {
  it("interval: distances of taken addresses in order, the same while frozen; without a claim: none", async () => {
    const world = new OwnerWorld();
    await world.owner.configure(aConfig(1, ["10.0.0.0/24", "fd00::/120"]));
    for (const address of ["10.0.0.200", "10.0.0.9", "10.0.0.1", "fd00::1"]) await world.allocate(address);
    const asked = async (first: string, last: string) => [...(await world.owner.takenIn({ first, last })).offsets];
    for (const epoch of [1, 2]) {
      if (epoch === 2) await world.owner.configure(aConfig(2, ["10.0.0.0/24", "fd00::/120"], { frozen: ["10.0.0.0/24"] }));
      expect((await world.owner.takenIn({ first: "10.0.0.1", last: "10.0.0.254" })).epoch).toBe(epoch);
      expect(await asked("10.0.0.1", "10.0.0.254")).toEqual([0, 8, 199]);
      expect(await asked("10.0.0.2", "10.0.0.199")).toEqual([7]);
      expect(await asked("fd00::", "fd00::f:ffff")).toEqual([1]);
      expect(await asked("10.9.0.0", "10.9.0.255")).toEqual([]);
    }
    await expect(world.owner.takenIn({ first: "10.0.0.0", last: "10.16.0.0" })).rejects.toThrow("bounded");
  });
});

describe("dynamicOnly", () => {
  it("dynamic band used up: full, and the static band is left alone", async () => {
    const world = new OwnerWorld();
    await world.owner.configure(aConfig(1, ["10.0.0.0/27"]));
    const scopes = [];
    for (let i = 0; i < 15; i++) {
      const result = await world.allocate("", { dynamicOnly: true });
      scopes.push(result.ok ? result.scope : result.reason);
    }
    expect(scopes).toEqual([...Array<string>(14).fill("dynamic"), "full"]);
    expect(await world.allocate()).toMatchObject({ ok: true, scope: "static" });
  });

  it("segment with addresses of the family frozen: frozen, not full", async () => {
    const world = new OwnerWorld();
    await world.owner.configure(aConfig(1, ["10.0.0.0/28", "10.0.1.0/28"], { frozen: ["10.0.0.0/28", "10.0.1.0/28"] }));
    expect(await world.allocate("", { dynamicOnly: true })).toEqual({ ok: false, reason: "frozen" });
  });
});
