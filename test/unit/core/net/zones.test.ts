import { describe, expect, it } from "vitest";
import { memberAt } from "../../../../src/core/net/interval";
import { containsAddress, formatPrefix, lastOf, parsePrefix, type Prefix } from "../../../../src/core/net/prefix";
import { OPEN_ZONE, partsInEach, partsWithin, zoneAt, zoneParts } from "../../../../src/core/net/zones";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const BASE = 0x0a00_0000n;

function prefixOf(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (!parsed.ok) throw new Error(text);
  return parsed.value;
}

function shown(texts: readonly string[]): string[] {
  return zoneParts(texts.map(prefixOf)).map(({ zone, first, last }) => `${first - BASE}-${last - BASE} ${zone}`);
}

describe("the parts of zones", () => {
  it.each([
    ["none", [], []],
    ["one", ["10.0.0.0/28"], ["0-15 10.0.0.0/28"]],
    ["neighbours", ["10.0.0.16/28", "10.0.0.0/28"], ["0-15 10.0.0.0/28", "16-31 10.0.0.16/28"]],
    ["one in the middle", ["10.0.0.0/27", "10.0.0.8/30"], ["0-7 10.0.0.0/27", "8-11 10.0.0.8/30", "12-31 10.0.0.0/27"]],
    ["one at the beginning", ["10.0.0.0/27", "10.0.0.0/28"], ["0-15 10.0.0.0/28", "16-31 10.0.0.0/27"]],
    ["one at the end", ["10.0.0.0/27", "10.0.0.16/28"], ["0-15 10.0.0.0/27", "16-31 10.0.0.16/28"]],
    [
      "two halves: nothing is left of the outer one",
      ["10.0.0.0/27", "10.0.0.0/28", "10.0.0.16/28"],
      ["0-15 10.0.0.0/28", "16-31 10.0.0.16/28"],
    ],
    [
      "three inside one another",
      ["10.0.0.0/27", "10.0.0.8/29", "10.0.0.12/30"],
      ["0-7 10.0.0.0/27", "8-11 10.0.0.8/29", "12-15 10.0.0.12/30", "16-31 10.0.0.0/27"],
    ],
  ])("%s", (_, prefixes, want) => {
    expect(shown(prefixes)).toEqual(want);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "random prefixes (seed %i): each address is in the zone of the longest prefix, also cut by other intervals",
    (seed) => {
      const random = seededRandom(seed);
      for (let round = 0; round < 40; round++) {
        const prefixes = new Map<string, Prefix>();
        for (let i = random.below(8); i >= 0; i--) {
          const length = 26 + random.below(7);
          const size = 1n << BigInt(32 - length);
          const prefix = { family: "IPv4", base: BASE + (BigInt(random.below(64)) / size) * size, length } as const;
          prefixes.set(formatPrefix(prefix), prefix);
        }
        const parts = zoneParts([...prefixes.values()]);
        const set = [5, 20, 30].map((at) => ({ first: BASE + BigInt(at), last: BASE + BigInt(at + random.below(8)) }));
        const [cut, each] = [partsWithin(parts, set), partsInEach(parts, set)];
        for (let address = BASE; address < BASE + 64n; address++) {
          const [longest] = [...prefixes.values()]
            .filter((prefix) => containsAddress(prefix, "IPv4", address))
            .sort((a, b) => b.length - a.length);
          const want = longest ? formatPrefix(longest) : OPEN_ZONE;
          expect(zoneAt(parts, address)).toBe(want);
          const place = set.findIndex(({ first, last }) => address >= first && address <= last);
          expect(zoneAt(cut, address)).toBe(place < 0 ? OPEN_ZONE : want);
          for (const [i, inside] of each.entries())
            expect(memberAt(inside, address)?.zone ?? OPEN_ZONE).toBe(i === place ? want : OPEN_ZONE);
        }
        for (const prefix of prefixes.values()) expect(lastOf(prefix) >= prefix.base).toBe(true);
      }
    },
  );
});
