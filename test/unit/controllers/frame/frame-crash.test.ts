/** A controller on the frame whose object dies: at each place in turn, and at random ones with stores that fail. */
import { describe, expect, it } from "vitest";
import { TwinsWorld } from "../../../support/worlds/twins-world";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { fixedSeedsOf, itOfSeeds } from "../../../support/sim/platform/seeds";

const NAMES = ["a", "b", "c", "d", "e"];
const WRITE = /^twins (create|update|delete)/;

/** Two twins are created, one is changed and one deleted, with a pass between all this. */
async function life(dieAt: number): Promise<TwinsWorld> {
  const world = new TwinsWorld({ dieAt });
  for (const name of ["a", "b", "c"]) await world.source(name, "1");
  world.poke();
  await world.pass(1_000);
  await world.source("a", "2");
  await world.remove("sources", "b");
  world.poke();
  await world.pass(5_000);
  return world;
}

function endsRight(world: TwinsWorld): void {
  expect(world.data("twins")).toEqual(world.data("sources"));
  expect(world.kept("sources")).toEqual(world.data("sources"));
  expect(world.kept("twins")).toEqual(world.data("sources"));
}

describe("the object of a controller dies", () => {
  it("at each place in turn: the next life ends as if nothing had happened, and repeats no more than was under way", async () => {
    const calm = await life(0);
    endsRight(calm);
    const writes = calm.calls.filter((call) => WRITE.test(call)).length;
    expect([writes, calm.deaths]).toEqual([5, 0]);
    expect(calm.points).toBeGreaterThan(20);
    for (let at = 1; at <= calm.points; at++) {
      const world = await life(at);
      expect(world.deaths, `death ${at}`).toBe(1);
      expect(world.data("twins"), `death ${at}`).toEqual({ a: "2", c: "1" });
      endsRight(world);
      // Of the pieces of one pass: those that were under way or done when it died.
      expect(world.calls.filter((call) => WRITE.test(call)).length, `death ${at}`).toBeLessThanOrEqual(writes + 3);
    }
  });

  it("after the last save: the next life reads on, lists nothing and writes nothing", async () => {
    const world = await life(0);
    world.calls.length = 0;
    world.dieAt = world.points + 1;
    world.poke();
    await world.pass(5_000);
    expect(world.deaths).toBe(1);
    expect([...new Set(world.calls)].sort()).toEqual(["sources objectsSince", "twins objectsSince"]);
  });
});

/** Random writes, deaths and faults; `historyEntries`: so few that the controller has to list now and then. */
async function history(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const world = new TwinsWorld({ historyEntries: random.below(2) === 0 ? 3 : 10_000 });
  const deathRate = pick(random, [0, 30, 100, 1_000]);
  const faultRate = pick(random, [0, 10, 100]);
  world.dies = () => deathRate > 0 && random.below(deathRate) === 0;
  world.fault = () => (faultRate > 0 && random.below(faultRate) === 0 ? new Error("down") : undefined);
  for (let act = 0; act < 40; act++) {
    const name = pick(random, NAMES);
    const kind = random.below(6);
    if (kind === 0) await world.remove("sources", name);
    // Somebody else deletes a twin: it is made anew.
    else if (kind === 1) await world.remove("twins", name);
    else await world.source(name, String(random.below(3)));
    if (random.below(3) > 0) world.poke();
    await world.pass(random.below(20));
  }
  world.dies = () => false;
  world.fault = () => undefined;
  await world.pass(60_000);
  world.poke();
  await world.pass(60_000);
  endsRight(world);
  const status = await world.status();
  expect(status).toMatchObject({ last: { left: false, later: 0 } });
  expect(status).not.toHaveProperty("behindSinceMs");
  world.calls.length = 0;
  world.poke();
  await world.pass(1_000);
  expect(world.calls.sort()).toEqual(["sources objectsSince", "twins objectsSince"]);
}

itOfSeeds(
  "random deaths and faults, seed %i: in the end each object has its twin, rows say the same, and one more pass only reads",
  { fixed: fixedSeedsOf(20), further: 60 },
  history,
);
