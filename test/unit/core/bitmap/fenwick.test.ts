import { describe, expect, it } from "vitest";
import { TakenCounts } from "../../../../src/core/bitmap/fenwick";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

describe("taken counts", () => {
  it.each([1, 2, 8, 64])("%i pages: prefix sums and the page of the k-th free offset as in a list", (pages) => {
    const random = seededRandom(4500 + pages);
    const pageSize = 10;
    const counts = new TakenCounts(pages, pageSize);
    const list = new Array<number>(pages).fill(0);
    for (let event = 0; event < 200; event++) {
      const page = random.below(pages);
      const delta = random.below(pageSize + 1) - (list[page] ?? 0);
      counts.add(page, delta);
      list[page] = (list[page] ?? 0) + delta;
      const free = list.flatMap((taken, i) => Array.from({ length: pageSize - taken }, (_, rest) => ({ page: i, rest })));
      expect(list.map((_, i) => counts.before(i))).toEqual(list.map((_, i) => list.slice(0, i).reduce((sum, each) => sum + each, 0)));
      expect(free.map((_, k) => counts.pageOfFree(k))).toEqual(free);
      expect(() => counts.pageOfFree(free.length)).toThrow("not that many free");
    }
  });

  it("number of pages that is no power of two: refused", () => {
    expect(() => new TakenCounts(3, 1)).toThrow("power of two");
  });
});
