import { expect, it } from "vitest";
import { greatestOf, leastOf } from "../../../../src/core/base/extremes";

it("of a million values: the least and the greatest, without a million arguments", () => {
  const values = Array.from({ length: 1_000_000 }, (_, i) => i);
  expect([leastOf(values), greatestOf(values)]).toEqual([0, 999_999]);
});

it("of none: as Math.min and Math.max", () => {
  expect([leastOf([]), greatestOf([])]).toEqual([Infinity, -Infinity]);
});
