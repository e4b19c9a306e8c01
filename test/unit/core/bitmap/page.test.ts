import { describe, expect, it } from "vitest";
import { LIST_LENGTH_MAX, Page, PAGE_BITS, popcount } from "../../../../src/core/bitmap/page";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { expectSame } from "../../../support/values/same";

describe("popcount", () => {
  it.each([
    [0, 0],
    [1, 1],
    [0x80000000, 1],
    [0x55555555, 16],
    [0xfffffffe, 31],
    [0xffffffff, 32],
    [-1, 32],
  ])("popcount of %i: %i", (bits, want) => {
    expect(popcount(bits)).toBe(want);
  });
});

describe("page: rank and select by numbers", () => {
  it("1, 2 and 6 taken: two below 3, and 3 is the second free one", () => {
    const page = new Page();
    for (const index of [6, 1, 2]) page.add(index);
    expect([0, 1, 2, 3, 6, 7, PAGE_BITS].map((index) => page.countBelow(index))).toEqual([0, 0, 1, 2, 2, 3, 3]);
    expect([0, 1, 2, 3, 4].map((k) => page.selectFree(k))).toEqual([0, 3, 4, 5, 7]);
    expect([...page.taken()]).toEqual([1, 2, 6]);
  });

  it("full page: everything is taken, nothing can be selected", () => {
    const page = new Page();
    for (let index = 0; index < PAGE_BITS; index++) expect(page.add(index)).toBe(true);
    expect(page.content.kind).toBe("full");
    expect(page.countBelow(77)).toBe(77);
    expect(page.add(5)).toBe(false);
    expect(() => page.selectFree(0)).toThrow("not that many free");
    expect(page.remove(4095)).toBe(true);
    expect(page.content.kind).toBe("bits");
    expect(page.selectFree(0)).toBe(4095);
    expect([...page.taken()].length).toBe(PAGE_BITS - 1);
  });

  it("list past its limit: becomes bits, and the answers stay", () => {
    const page = new Page();
    for (let i = 0; i <= LIST_LENGTH_MAX; i++) {
      expect(page.content.kind).toBe("list");
      page.add(i * 3);
    }
    expect(page.content.kind).toBe("bits");
    expect([...page.taken()]).toEqual(Array.from({ length: LIST_LENGTH_MAX + 1 }, (_, i) => i * 3));
  });
});

describe("page against an array of booleans", () => {
  itOfSeeds("takes and releases of seed %i: the page answers and counts as the array", { fixed: [4401, 4402], further: 2 }, (seed) => {
    const random = seededRandom(seed);
    // Some seeds fill, some hover, some empty the page.
    const takeWeight = 0.2 + 0.8 * random.next();
    const page = new Page();
    const taken = new Array<boolean>(PAGE_BITS).fill(false);
    for (let event = 0; event < 12_000; event++) {
      const index = random.below(PAGE_BITS);
      const isTaken = taken[index] ?? false;
      const at = (): string => `seed ${seed}, event ${event}`;
      if (random.next() < takeWeight) expectSame(page.add(index), !isTaken, at);
      else expectSame(page.remove(index), isTaken, at);
      taken[index] = page.has(index);
      if (event % 500 !== 0) continue;
      const free = taken.flatMap((isTaken, i) => (isTaken ? [] : [i]));
      expect(page.count).toBe(PAGE_BITS - free.length);
      expect([...page.taken()].length).toBe(page.count);
      for (let k = 0; k < free.length; k++) if (page.selectFree(k) !== free[k]) expect.fail(`seed ${seed}: selectFree(${k})`);
      const below = random.below(PAGE_BITS + 1);
      expect(page.countBelow(below)).toBe(taken.slice(0, below).filter(Boolean).length);
    }
  });
});
