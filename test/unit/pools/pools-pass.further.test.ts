import { expect, it } from "vitest";
import { leftIn, lifeOfClaims, lifeOfPrefixes } from "../../support/pools/life-of-claims";

it("the controller of pools, wherever its object dies: each claim gets one address, in its turn, and everything goes again", async () => {
  const { points } = (await lifeOfClaims()).world;
  for (let at = 0; at <= points; at++) expect(leftIn(await lifeOfClaims(at)), `death ${at}`).toEqual([[], [], [], []]);
});

it("the same with claims for prefixes of two lengths", async () => {
  const { points } = (await lifeOfPrefixes()).world;
  for (let at = 0; at <= points; at++) expect(leftIn(await lifeOfPrefixes(at)), `death ${at}`).toEqual([[], [], [], []]);
});
