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

/**
 * Three claims on a pool of four prefixes: one of them asks for two, and another one for two more, which are not together. The oldest one goes, and that one
 * gets them. Then all go, and the pool.
 */
export async function lifeOfPrefixes(dieAt = 0): Promise<PoolsWorld> {
  const world = new PoolsWorld(dieAt);
  const wide = { annotations: { "servicenet.dev/prefix-length": "23" } };
  await world.claim("early", "p", "InClusterPrefixPool");
  await world.pass(2_000);
  await world.prefixPool("p", { prefixes: ["10.0.0.0/22"], allocationPrefixLength: 24 });
  await world.pass(2_000);
  await world.claim("b", "p", "InClusterPrefixPool", wide);
  await world.pass(2_000);
  await world.claim("c", "p", "InClusterPrefixPool", wide);
  await world.pass(LONG);
  expect(world.givenPrefixes, `given, death ${dieAt}`).toEqual(["b 10.0.2.0/23", "early 10.0.0.0/24"]);
  expect(world.claims, `claims, death ${dieAt}`).toEqual(["b Ready b", "c PoolExhausted -", "early Ready early"]);
  expect(world.counts("p", "prefixPools"), `counts, death ${dieAt}`).toBe("3/4 free 1 outside 0");
  await world.remove("claims", "ns/early");
  await world.pass(LONG);
  expect(world.givenPrefixes, `released, death ${dieAt}`).toEqual(["b 10.0.2.0/23", "c 10.0.0.0/23"]);
  for (const name of ["b", "c"]) await world.remove("claims", `ns/${name}`);
  await world.pass(LONG);
  expect(world.counts("p", "prefixPools"), `empty, death ${dieAt}`).toBe("0/4 free 4 outside 0");
  await world.remove("prefixPools", "ns/p");
  await world.pass(LONG);
  return world;
}

/** What is left of it: addresses, claims, pools, and rows of the book. */
export function leftIn(world: PoolsWorld): unknown[][] {
  return [world.given, world.claims, [...world.world.names("pools"), ...world.world.names("prefixPools")], [...world.rows]];
}
