import { describe, expect, it } from "vitest";
import { intersect, intersectEach, type Interval, memberAt, normalize, overlap, sizeOf, subtract } from "../../../../src/core/net/interval";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const SPACE = 40;

/** "1-3 7" -> intervals */
function set(text: string): Interval[] {
  return text
    .split(" ")
    .filter((part) => part !== "")
    .map((part) => {
      const [first = "", last = first] = part.split("-");
      return { first: BigInt(first), last: BigInt(last) };
    });
}

function show(intervals: readonly Interval[]): string {
  return intervals.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(" ");
}

describe("intervals", () => {
  it.each([
    ["5-6 1-2", "1-2 5-6"],
    ["1-5 2-3", "1-5"],
    ["1-3 2-6", "1-6"],
    ["1-3 4-6", "1-6"],
    ["1-3 5-6", "1-3 5-6"],
    ["", ""],
  ])("normalize: %s -> %s", (given, want) => {
    expect(show(normalize(set(given)))).toBe(want);
  });

  it.each([
    ["3-9", "", "3-9"],
    ["3-9", "1-4", "5-9"],
    ["3-9", "8-12", "3-7"],
    ["3-9", "5-6", "3-4 7-9"],
    ["3-9", "1-12", ""],
    ["3-9", "3-9", ""],
    ["3-9", "1-2 10-11", "3-9"],
    ["1-4 6-9", "3-7", "1-2 8-9"],
    ["1-9", "1 3 5 7 9", "2 4 6 8"],
  ])("subtract: %s without %s is %s", (a, b, want) => {
    expect(show(subtract(set(a), set(b)))).toBe(want);
  });

  it.each([
    ["3-9", "1-4", "3-4"],
    ["3-9", "5-6", "5-6"],
    ["3-9", "9-12", "9"],
    ["3-9", "10-12", ""],
    ["3-9", "1-2", ""],
  ])("overlap: %s and %s have %s in common", (a, b, want) => {
    const [left, right] = [...set(a), ...set(b)] as [Interval, Interval];
    for (const common of [overlap(left, right), overlap(right, left)]) expect(show(common ? [common] : [])).toBe(want);
  });

  const seed = 4201;
  it(`random sets: agree with sets of single values (seed ${seed})`, () => {
    const random = seededRandom(seed);
    const draw = (): Interval[] => {
      const parts = Array.from({ length: random.below(6) }, () => {
        const first = random.below(SPACE);
        return { first: BigInt(first), last: BigInt(Math.min(SPACE - 1, first + random.below(8))) };
      });
      return normalize(parts);
    };
    const valuesOf = (intervals: readonly Interval[]) =>
      Array.from({ length: SPACE }, (_, i) => intervals.some(({ first, last }) => BigInt(i) >= first && BigInt(i) <= last));
    for (let i = 0; i < 2000; i++) {
      const [a, b] = [draw(), draw()];
      const [inA, inB] = [valuesOf(a), valuesOf(b)];
      for (const [result, want] of [
        [intersect(a, b), inA.map((has, j) => has && inB[j] === true)],
        [subtract(a, b), inA.map((has, j) => has && inB[j] === false)],
        [normalize([...a, ...b]), inA.map((has, j) => has || inB[j] === true)],
      ] as const) {
        expect(valuesOf(result), `${show(a)} and ${show(b)}`).toEqual(want);
        expect(normalize(result), `normal form of ${show(a)} and ${show(b)}`).toEqual(result);
        expect(sizeOf(result)).toBe(BigInt(want.filter(Boolean).length));
        expect(want.map((_, j) => memberAt(result, BigInt(j)) !== undefined)).toEqual(want);
      }
      // Neighbours, too, which no normal form has.
      const parts = b.flatMap(({ first, last }) =>
        first < last
          ? [
              { first, last: first },
              { first: first + 1n, last },
            ]
          : [{ first, last }],
      );
      expect(intersectEach(a, parts), `${show(a)} in each of ${show(parts)}`).toEqual(parts.map((part) => intersect(a, [part])));
    }
  });
});
