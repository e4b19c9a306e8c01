/** A history that claims of a pool of the root must come through, wherever one of the stores dies, or the controller. */
import { expect } from "vitest";
import { CLUSTER, type FleetDeath, FleetWorld } from "./fleet-world";

const LONG = 400_000;

/** Two claims on a pool of two addresses, and a third one, which gets what the first gives back. Then all go. */
export async function lifeAtRoot(death: FleetDeath, controllerDiesAt = 0): Promise<FleetWorld> {
  const world = new FleetWorld(death, controllerDiesAt);
  const where = `${death.who} ${death.at}, controller ${controllerDiesAt}`;
  const rest = async (): Promise<void> => {
    await world.pass(LONG);
    await world.maintain();
    await world.pass(LONG);
    expect([...world.problems, ...world.seen], where).toEqual([]);
    expect(world.leaks, where).toEqual([]);
  };
  world.pool("p", { addresses: ["192.0.2.1-192.0.2.2"] });
  await world.claim("a");
  await world.pass(2_000);
  await world.claim("b");
  await world.pass(2_000);
  await world.claim("c");
  await rest();
  expect(world.cluster.claims, where).toEqual(["a Ready a", "b Ready b", "c PoolExhausted -"]);
  await world.cluster.remove("claims", "ns/a");
  await rest();
  expect(world.cluster.claims, where).toEqual(["b Ready b", "c Ready c"]);
  expect(
    world.held.map((one) => one.replace(`${CLUSTER} ns/`, "").split(" ")[0]),
    where,
  ).toEqual(["b", "c"]);
  for (const name of ["b", "c"]) await world.cluster.remove("claims", `ns/${name}`);
  await rest();
  expect([world.rows, world.held, world.cluster.claims], where).toEqual([[], [], []]);
  return world;
}
