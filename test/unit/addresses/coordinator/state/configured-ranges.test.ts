/** The gates MultiCIDRServiceAllocator and ServiceIPStaticSubrange switched on and off over one cluster. */
import { describe, expect, it } from "vitest";
import { checkOwnership, CoordinatorWorld, type WorldOptions } from "../../../../support/worlds/coordinator-world";

const V4 = "10.96.0.0/24";
const EXTRA = "10.97.0.0/24";

let visits = 0;

/** A server with these settings goes on where another one stopped. */
async function visited(before: CoordinatorWorld | undefined, options: WorldOptions): Promise<CoordinatorWorld> {
  const world = opened(before, options);
  await world.run(world.coordinator.readyTopology(10_000));
  await world.run(world.coordinator.maintain());
  return world;
}

function opened(before: CoordinatorWorld | undefined, options: WorldOptions): CoordinatorWorld {
  visits++;
  const world = new CoordinatorWorld({ ranges: [V4], seed: visits, uidsFrom: 1_000 * visits, ...options });
  world.check = checkOwnership;
  if (before) {
    world.nowMs = before.nowMs + 1;
    world.storage.contents = before.storage.contents;
    for (const [uid, storage] of before.ownerStorages) world.ownerStorages.set(uid, storage);
  }
  return world;
}

const off = { onlyRanges: [V4] };

async function rangesOf(world: CoordinatorWorld): Promise<string[]> {
  return (await world.run(world.coordinator.topology())).ranges.map(({ prefix }) => prefix).sort();
}

async function take(world: CoordinatorWorld, address: string): Promise<string> {
  const { claims } = await world.run(world.coordinator.topology());
  const prefixes = claims.filter(({ prefix }) => prefix.startsWith(address.slice(0, 6)));
  const result = await world.allocate(prefixes[0]?.ownerUid ?? "", address);
  return result.ok ? result.address : result.reason;
}

async function heldIn(world: CoordinatorWorld): Promise<string[]> {
  return (await world.held()).map(({ address }) => address).sort();
}

describe("MultiCIDRServiceAllocator=false", () => {
  it("off, on, off, on: while off only the configured ranges give out addresses; no address is lost; objects stay", async () => {
    let world = await visited(undefined, {});
    await world.run(world.create("extra", [EXTRA]));
    await world.until(() => world.readyOf("extra")?.status === "True");
    const objects = structuredClone(world.storage.contents.objects);
    const taken = [await take(world, "10.96.0.9"), await take(world, "10.97.0.9")].sort();
    expect(taken).toEqual(["10.96.0.9", "10.97.0.9"]);
    for (const round of [1, 2]) {
      world = await visited(world, off);
      expect(await rangesOf(world)).toEqual([V4]);
      expect(await take(world, `10.97.0.2${String(round)}`)).toBe("notAllocatable");
      expect(await take(world, "10.97.0.9"), "still taken").toBe("taken");
      taken.push(await take(world, `10.96.0.2${String(round)}`));
      world = await visited(world, {});
      await world.until(() => world.storage.load().ranges.every((range) => range.ready));
      expect(await rangesOf(world)).toEqual([V4, EXTRA]);
      taken.push(await take(world, `10.97.0.3${String(round)}`));
      expect(await heldIn(world)).toEqual([...taken].sort());
      expect(world.storage.contents.objects).toEqual(objects);
    }
  });

  it("range that no ServiceCIDR names: gives out addresses while off; then a ServiceCIDR that covers it takes over what is taken", async () => {
    const before = await visited(undefined, {});
    before.userAddresses.set("10.99.0.7", {
      address: "10.99.0.7",
      token: "user-made",
      holder: { kind: "ipaddress", namespace: "", name: "10.99.0.7", uid: "user-made" },
    });
    const legacy = await visited(before, { ranges: ["10.99.0.0/24"], onlyRanges: ["10.99.0.0/24"] });
    expect(await rangesOf(legacy)).toEqual(["10.99.0.0/24"]);
    expect(await take(legacy, "10.99.0.9")).toBe("10.99.0.9");
    const on = await visited(legacy, {});
    expect(await rangesOf(on)).toEqual([V4]);
    expect(await take(on, "10.99.0.10")).toBe("notAllocatable");
    await on.run(on.create("cover", ["10.99.0.0/16"]));
    await on.until(() => on.readyOf("cover")?.status === "True" && on.storage.load().owners.length === 2);
    expect(await take(on, "10.99.0.9")).toBe("taken");
    expect(await heldIn(on)).toContain("10.99.0.9");
  });

  it("new cluster: gets no ServiceCIDR before the gate is on", async () => {
    const legacy = await visited(undefined, off);
    expect([await take(legacy, "10.96.0.9"), legacy.storage.contents.objects]).toEqual(["10.96.0.9", {}]);
    const on = await visited(legacy, {});
    await on.until(() => on.readyOf("kubernetes")?.status === "True" && on.storage.load().owners.length === 1);
    expect([await take(on, "10.96.0.9"), await heldIn(on)]).toEqual(["taken", ["10.96.0.9"]]);
  });

  it("another configured range while off: only the new one counts", async () => {
    const legacy = await visited(await visited(undefined, off), { onlyRanges: [EXTRA] });
    await legacy.until(() => legacy.storage.load().owners.length === 1);
    expect(await rangesOf(legacy)).toEqual([EXTRA]);
  });
});

describe("ServiceIPStaticSubrange=false", () => {
  it("off: low addresses are given out like the others; on: they are kept back again", async () => {
    const counts = async (world: CoordinatorWorld) => {
      const { free, withoutBands } = await world.run(world.coordinator.countedTopology());
      return [free[0]?.IPv4, withoutBands];
    };
    const first = await visited(undefined, {});
    expect(await counts(first)).toEqual([{ dynamic: 238, static: 16 }, undefined]);
    const without = await visited(first, { staticBands: false });
    expect(await counts(without)).toEqual([{ dynamic: 254, static: 0 }, true]);
    expect(await counts(await visited(without, {}))).toEqual([{ dynamic: 238, static: 16 }, undefined]);
  });
});

describe("crash at every point of switching MultiCIDRServiceAllocator", () => {
  it.each<[string, WorldOptions, WorldOptions]>([
    ["off", {}, { ranges: [EXTRA], onlyRanges: [EXTRA] }],
    ["on", { ranges: [EXTRA], onlyRanges: [EXTRA] }, {}],
  ])("%s: ends as without a crash", async (_name, from, to) => {
    const settle = async (crashAt: number) => {
      const before = await visited(undefined, from);
      const owner = before.storage.load().claims[0]?.ownerUid ?? "";
      const held = await before.allocate(owner);
      const world = opened(before, { ...to, crashAt });
      // An object that starts kicks at once; the next caller starts one that died.
      for (let start = 0; start < 3; start++) {
        world.coordinator.kick();
        await world.pass(20_000);
      }
      await world.until(() => world.storage.load().ranges.some(({ ready, prefix }) => ready && prefix === (to.ranges ?? [V4])[0]));
      const ranges = await rangesOf(world);
      const rows = (await heldIn(world)).length;
      return { points: world.points.length, end: { ranges, rows, held: held.ok, owners: world.storage.load().owners.length } };
    };
    const calm = await settle(0);
    expect(calm.points).toBeGreaterThan(5);
    expect(calm.end).toMatchObject({ held: true, rows: 1, ranges: to.ranges ?? [V4] });
    for (let crashAt = 1; crashAt <= calm.points; crashAt++)
      expect((await settle(crashAt)).end, `crash ${String(crashAt)}`).toEqual(calm.end);
  });
});
