import { expect, it } from "vitest";
import { type Block, blockAround, intervalOfBlock, prefixOf } from "../../../../src/core/net/block";
import { BlockMap } from "../../../../src/core/net/block-map";
import { formatPrefix } from "../../../../src/core/net/prefix";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

const textOf = ({ first, bits }: Block): string => `${first}/${bits}`;

itOfSeeds(
  "BlockMap: finds the blocks that share an address, as a plain comparison does, seed %i",
  { fixed: [1, 2], further: 3 },
  (seed) => {
    const random = seededRandom(seed);
    const set = new BlockMap<number>();
    const model = new Map<string, Block>();
    const some = (): Block => {
      const bits = random.below(7);
      return { first: BigInt(random.below(1_024 >> bits) << bits), bits };
    };
    for (let step = 0; step < 1_000; step++) {
      const one = some();
      if (random.below(3) === 0) {
        set.delete(one);
        model.delete(textOf(one));
      } else {
        set.set(one, step);
        model.set(textOf(one), one);
      }
      expect([...set].map(([one]) => textOf(one)).sort()).toEqual([...model.keys()].sort());
      const asked = some();
      const { first, last } = intervalOfBlock(asked);
      const met = [...model.values()].filter((other) => intervalOfBlock(other).first <= last && intervalOfBlock(other).last >= first);
      expect([...set.overlapping(asked)].map(([one]) => textOf(one)).sort()).toEqual(met.map(textOf).sort());
    }
  },
);

it("a block: stands for the prefix that has the address, in either family", () => {
  expect(formatPrefix(prefixOf(blockAround("IPv4", 0x0a000105n, 24)))).toBe("10.0.1.0/24");
  expect(formatPrefix(prefixOf(blockAround("IPv6", 0xfd000000000000000000000000000001n, 64)))).toBe("fd00::/64");
  expect(formatPrefix(prefixOf(blockAround("IPv6", 0n, 0)))).toBe("::/0");
  expect([...new BlockMap().overlapping(blockAround("IPv4", 0n, 0))]).toEqual([]);
});
