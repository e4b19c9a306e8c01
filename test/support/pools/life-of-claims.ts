/** A history that the controller of pools must come through, wherever its object dies. */
import { expect } from "vitest";
import { PoolsWorld } from "./pools-world";

const LONG = 120_000;

/** Three claims on a pool of two addresses; the oldest one goes, and the last one gets its address. Then all go, and the pool. */
export async function lifeOfClaims(dieAt = 0): Promise<PoolsWorld> {
  const world = new PoolsWorld(dieAt);
  await world.claim("early", "p");
  await world.pass(2_000);
  await world.pool("p", { addresses: ["10.0.0.1-10.0.0.2"], gateway: "10.0.0.254" });
  await world.pass(2_000);
  await world.claim("b", "p");
  await world.pass(2_000);
  await world.claim("c", "p");
  await world.pass(LONG);
  expect(world.given, `given, death ${dieAt}`).toEqual(["b 10.0.0.2", "early 10.0.0.1"]);
  expect(world.claims, `claims, death ${dieAt}`).toEqual(["b Ready b", "c PoolExhausted -", "early Ready early"]);
  expect(world.counts("p"), `counts, death ${dieAt}`).toBe("2/2 free 0 outside 0");
  await world.remove("claims", "ns/early");
  await world.pass(LONG);
  expect(world.given, `released, death ${dieAt}`).toEqual(["b 10.0.0.2", "c 10.0.0.1"]);
  for (const name of ["b", "c"]) await world.remove("claims", `ns/${name}`);
  await world.pass(LONG);
  expect(world.counts("p"), `empty, death ${dieAt}`).toBe("0/2 free 2 outside 0");
  await world.remove("pools", "ns/p");
  await world.pass(LONG);
  return world;
}

/** What is left of it: addresses, claims, pools, and rows of the book. */
export function leftIn(world: PoolsWorld): unknown[][] {
  return [world.given, world.claims, world.world.names("pools"), [...world.rows]];
}
