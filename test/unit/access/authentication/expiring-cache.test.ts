import { expect, it } from "vitest";
import { ExpiringCache } from "../../../../src/access/authentication/expiring-cache";

it("kept answers: end with their time, and when the clock is set back", () => {
  let now = 1_000;
  const cache = new ExpiringCache<string>({ now: () => now }, 10);
  cache.put("a", "x", 2_000);
  now = 1_999;
  expect(cache.get("a")).toBe("x");
  now = 2_000;
  expect([cache.get("a"), cache.size]).toEqual([undefined, 0]);
  cache.put("a", "y", 3_000);
  now = 1_500;
  expect(cache.get("a")).toBe(undefined);
});

it("more answers than the bound: the one that was kept least recently goes", () => {
  const cache = new ExpiringCache<number>({ now: () => 0 }, 2);
  for (const [i, key] of ["a", "b", "a", "c"].entries()) cache.put(key, i, 1);
  expect([cache.get("a"), cache.get("b"), cache.get("c"), cache.size]).toEqual([2, undefined, 3, 2]);
});
