import { describe, expect, it } from "vitest";
import { formatPrefix, lastOf, type Prefix, prefixAround } from "../../../../src/core/net/prefix";
import { coversPrefix, intersectPrefixes, normalizePrefixes, subtractPrefixes, unionPrefixes } from "../../../../src/core/net/prefix-set";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { prefixOf } from "../../../model/prefix-of";

const set = (text: string): Prefix[] => text.split(" ").filter(Boolean).map(prefixOf);
const show = (prefixes: readonly Prefix[]): string => prefixes.map(formatPrefix).join(" ");

describe("prefix sets", () => {
  it.each([
    ["10.0.0.128/25 10.0.0.0/25", "10.0.0.0/24"],
    ["10.0.0.0/24 10.0.0.64/26", "10.0.0.0/24"],
    ["10.0.1.0/24 10.0.2.0/24", "10.0.1.0/24 10.0.2.0/24"],
    ["fd00::/64 10.0.0.0/8", "10.0.0.0/8 fd00::/64"],
    ["0.0.0.0/1 128.0.0.0/1 ::/1 8000::/1", "0.0.0.0/0 ::/0"],
    ["255.255.255.255/32 255.255.255.254/32", "255.255.255.254/31"],
  ])("normalize: %s -> %s", (given, want) => {
    expect(show(normalizePrefixes(set(given)))).toBe(want);
  });

  it.each([
    ["10.0.0.0/24", "10.0.0.0/26", "10.0.0.64/26 10.0.0.128/25"],
    ["10.0.0.0/24", "10.0.0.64/26", "10.0.0.0/26 10.0.0.128/25"],
    ["10.0.0.0/24", "10.0.0.0/16", ""],
    ["10.0.0.0/24", "10.0.1.0/24", "10.0.0.0/24"],
    ["10.0.0.0/30", "10.0.0.1/32", "10.0.0.0/32 10.0.0.2/31"],
    ["::/0", "10.0.0.0/8", "::/0"],
    ["::/0", "::/1", "8000::/1"],
  ])("subtract: %s without %s is %s", (a, b, want) => {
    expect(show(subtractPrefixes(set(a), set(b)))).toBe(want);
  });

  it("covers: true also by several members together", () => {
    expect(coversPrefix(set("10.0.0.0/25 10.0.0.128/25"), prefixOf("10.0.0.0/24"))).toBe(true);
    expect(coversPrefix(set("10.0.0.0/25 10.0.0.128/26"), prefixOf("10.0.0.0/24"))).toBe(false);
    expect(coversPrefix(set("::/0"), prefixOf("10.0.0.0/24"))).toBe(false);
    expect(show(intersectPrefixes(set("10.0.0.0/8 fd00::/64"), set("10.1.0.0/16 fd00::/48")))).toBe("10.1.0.0/16 fd00::/64");
  });

  const seed = 4301;
  it(`random sets: agree with sets of single addresses (seed ${seed})`, () => {
    const random = seededRandom(seed);
    const base = 0x0a000000n;
    const draw = () =>
      Array.from({ length: random.below(5) }, () => prefixAround("IPv4", base + BigInt(random.below(64)), 26 + random.below(7)));
    const members = (prefixes: readonly Prefix[]) =>
      Array.from({ length: 64 }, (_, i) =>
        prefixes.some((prefix) => base + BigInt(i) >= prefix.base && base + BigInt(i) <= lastOf(prefix)),
      );
    for (let i = 0; i < 1000; i++) {
      const [a, b] = [draw(), draw()];
      const [inA, inB] = [members(a), members(b)];
      for (const [result, want] of [
        [unionPrefixes(a, b), inA.map((has, j) => has || inB[j] === true)],
        [subtractPrefixes(a, b), inA.map((has, j) => has && inB[j] === false)],
        [intersectPrefixes(a, b), inA.map((has, j) => has && inB[j] === true)],
      ] as const) {
        expect(members(result), `${show(a)} and ${show(b)}`).toEqual(want);
        expect(show(normalizePrefixes(result))).toBe(show(result));
      }
      for (const prefix of b)
        expect(coversPrefix(a, prefix), `${show([prefix])} in ${show(a)}`).toBe(subtractPrefixes([prefix], a).length === 0);
    }
  });
});
