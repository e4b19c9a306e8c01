import { describe, expect, it } from "vitest";
import { WordRandom } from "../../../../src/core/base/word-random";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const SEED = 4711;

/** Chi-square over `buckets` equally likely values; its mean is buckets - 1. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

function histogram(buckets: number, draws: number, draw: () => number): number[] {
  const counts = Array.from({ length: buckets }, () => 0);
  for (let i = 0; i < draws; i++) {
    const bucket = draw();
    counts[bucket] = (counts[bucket] ?? Number.NaN) + 1;
  }
  return counts;
}

describe(`draws, seed ${SEED}`, () => {
  // 99 degrees of freedom: above 149 with probability 0.1 %.
  const random = seededRandom(SEED);
  it.each([
    { name: "below, small", draw: () => random.below(100) },
    { name: "below, more than 32 bits", draw: () => Math.floor(random.below(100 * 2 ** 40) / 2 ** 40) },
    { name: "belowBig, in the safe range", draw: () => Number(random.belowBig(100n)) },
    { name: "belowBig, 70 bits", draw: () => Number(random.belowBig(100n << 63n) >> 63n) },
    { name: "next", draw: () => Math.floor(random.next() * 100) },
  ])("$name: uniform", ({ draw }) => {
    expect(chiSquare(histogram(100, 50_000, draw))).toBeLessThan(149);
  });

  it("a bound of 1: always 0", () => {
    expect([random.below(1), random.belowBig(1n)]).toEqual([0, 0n]);
  });

  it("the same seed: the same draws", () => {
    const draws = (seed: number) =>
      Array.from(
        { length: 5 },
        (
          (r) => () =>
            r.below(1_000_000)
        )(seededRandom(seed)),
      );
    expect(draws(1)).toEqual(draws(1));
    expect(draws(1)).not.toEqual(draws(2));
  });
});

describe("rejection", () => {
  it("words past the last whole multiple of the bound: drawn again", () => {
    // 2^32 = 3 * 1431655765 + 1: the highest word would make 0 more likely.
    const words = [2 ** 32 - 1, 2 ** 32 - 2];
    expect(new WordRandom(() => words.shift() ?? 0).below(3)).toBe(2);
  });

  it.each([0, -1, 1.5, 2 ** 53])("a bound of %d: refused", (bound) => {
    expect(() => seededRandom(1).below(bound)).toThrow("bound");
  });
});

describe("uuid", () => {
  it("a uuid: version 4, variant 1, every other bit from the words", () => {
    expect(new WordRandom(() => 0).uuid()).toBe("00000000-0000-4000-8000-000000000000");
    expect(new WordRandom(() => 2 ** 32 - 1).uuid()).toBe("ffffffff-ffff-4fff-bfff-ffffffffffff");
    const random = seededRandom(SEED);
    expect(new Set(Array.from({ length: 1_000 }, () => random.uuid())).size).toBe(1_000);
  });
});
