import { expect, it } from "vitest";
import type { ViewPlace } from "../../../../src/endpoints/proxy-config/page-tag";
import { UnseenChanges } from "../../../../src/endpoints/proxy-config/unseen-changes";

const at = (services: number, slices: number, life = "a"): ViewPlace => ({
  services: { incarnation: life, revision: services },
  slices: { incarnation: "b", revision: slices },
});

it("a place whose changes nobody sees: a later one, if it is as far as the poll has heard", () => {
  const unseen = new UnseenChanges();
  unseen.note("c", at(1, 1), at(2, 5));
  for (const reached of [at(1, 1), at(2, 5), at(2, 4)]) expect(unseen.since("c", at(1, 1), reached)).toEqual(at(2, 5));
  for (const reached of [at(3, 5), at(2, 6), at(2, 5, "z")]) expect(unseen.since("c", at(1, 1), reached)).toBeUndefined();
  expect(unseen.since("c", at(1, 2), at(1, 2))).toBeUndefined();
  expect(unseen.since("d", at(1, 1), at(1, 1))).toBeUndefined();
});

it("more places than are remembered: the oldest one is forgotten", () => {
  const unseen = new UnseenChanges();
  for (let i = 0; i <= 1_000; i++) unseen.note("c", at(i, 1), at(i, 2));
  expect([unseen.since("c", at(0, 1), at(0, 1)), unseen.since("c", at(1, 1), at(1, 1))]).toEqual([undefined, at(1, 2)]);
});
