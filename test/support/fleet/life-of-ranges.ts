/** A history of clusters with pools that their controller must come through, wherever its object dies. */
import { expect } from "vitest";
import { ClustersWorld } from "./clusters-world";

const FREE = ["10.128.0.0/20", "10.128.16.0/20"];
const POOL = { pool: { name: "fleet", servicePrefixLength: 20 } };
const LONG = 20_000;

export function shown(world: ClustersWorld): string[] {
  return world.shown.filter((one) => !one.startsWith("default "));
}

/** Three clusters on a pool of two ranges; the first one goes, and the last one gets its range. One comes again under its name. Then all go. */
export async function lifeOfRanges(dieAt = 0): Promise<ClustersWorld> {
  const world = new ClustersWorld(dieAt);
  const ranges = (): (string | undefined)[] =>
    [...world.made.values()].filter(({ phase }) => phase !== "absent").map(({ serviceRanges }) => serviceRanges?.join());
  const each = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await world.served(1_000, FREE);
      const held = ranges();
      expect(new Set(held).size, `no two at once, death ${dieAt}`).toBe(held.length);
      expect(
        held.every((range) => range !== undefined && world.ranges.includes(range)),
        `each is claimed, death ${dieAt}`,
      ).toBe(true);
    }
  };
  for (const name of ["a", "b", "c"]) {
    await world.create(name, POOL);
    await each(3_000);
  }
  await each(LONG);
  expect(shown(world), `begun, death ${dieAt}`).toEqual(["a Active True", "b Active True", "c Pending WaitingForRange"]);
  await world.remove("a");
  await each(LONG);
  expect(shown(world), `given on, death ${dieAt}`).toEqual(["b Active True", "c Active True"]);
  await world.remove("b");
  await each(LONG);
  await world.create("b", POOL);
  await each(LONG);
  expect(shown(world), `again, death ${dieAt}`).toEqual(["b Active True", "c Active True"]);
  for (const name of ["b", "c"]) await world.remove(name);
  await each(LONG);
  expect([shown(world), world.ranges, world.world.names("claims"), ranges()], `left, death ${dieAt}`).toEqual([[], [], [], []]);
  expect(
    [...world.made.values()].map(({ begun }) => begun),
    `beginnings, death ${dieAt}`,
  ).toEqual([1, 2, 1]);
  return world;
}
