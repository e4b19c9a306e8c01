import { expect, it } from "vitest";
import { orderElements } from "../../../../src/api/patch/element-order";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { histories, playEach, seedsOf } from "../../../support/sim/platform/seeds";

function order(merged: string, wanted: string, stored: string): string {
  return orderElements([...merged], [...wanted], [...stored], (element) => element).join("");
}

it.each([
  ["abcd", "db", "abcd", "acdb"],
  ["abcd", "", "abcd", "abcd"],
  ["abcd", "abcd", "abcd", "abcd"],
  ["abcx", "xc", "abc", "xabc"],
  ["ax", "x", "a", "xa"],
  ["abc", "zb", "abc", "abc"],
])("%s ordered by %s, stored %s: %s", (merged, wanted, stored, want) => {
  expect(order(merged, wanted, stored)).toBe(want);
});

it("random lists: no element is lost, and both orders are kept", () =>
  playEach(seedsOf(histories(300)), (seed) => {
    const random = seededRandom(seed);
    const shuffled = (letters: string[]): string[] =>
      letters
        .map((letter) => ({ letter, place: random.next() }))
        .sort((a, b) => a.place - b.place)
        .map(({ letter }) => letter);
    const stored = shuffled([..."abcdefgh"].slice(0, random.below(9)));
    const merged = shuffled([...new Set([...stored, ..."xyz".slice(0, random.below(4))])]);
    const wanted = shuffled(merged.filter(() => random.next() < 0.5));
    const got = order(merged.join(""), wanted.join(""), stored.join(""));
    const context = `${merged.join("")} by ${wanted.join("")}, stored ${stored.join("")}`;
    expect([...got].sort(), context).toEqual([...merged].sort());
    expect(
      [...got].filter((letter) => wanted.includes(letter)),
      context,
    ).toEqual(wanted);
    const others = [...got].filter((letter) => !wanted.includes(letter) && stored.includes(letter));
    expect(others, context).toEqual(stored.filter((letter) => merged.includes(letter) && !wanted.includes(letter)));
  }));
