/** Groups of numbers in little memory: as a Map of Sets has them. */
import { describe, expect } from "vitest";
import { NumberGroups } from "../../../../src/core/tables/number-groups";
import { textHash } from "../../../../src/core/tables/text-hash";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

describe("groups of numbers", () => {
  itOfSeeds(
    "come and go as in a Map of Sets; groups whose hashes share bits stay apart (seed %i)",
    { fixed: [1, 2, 3], further: 3 },
    (seed) => {
      const random = seededRandom(seed);
      const groups = new NumberGroups();
      const numbers = new Map<number, number>();
      const group = (): number => (random.below(4) === 0 ? textHash("crowd") : (random.below(50) << 20) >>> 0);
      for (let act = 0; act < 2_000; act++) {
        const number = random.below(300);
        if (random.below(5) < 3) {
          const at = group();
          groups.add(at, number);
          numbers.set(number, at);
        } else {
          groups.delete(number);
          numbers.delete(number);
        }
      }
      for (let number = 0; number < 301; number++) expect(groups.groupOf(number)).toBe(numbers.get(number));
      for (const at of groupsIn(numbers)) {
        const want = [...numbers].flatMap(([n, g]) => (g === at ? [n] : [])).sort((a, b) => a - b);
        expect(groups.of(at)).toEqual(want);
        expect([groups.sizeUpTo(at, 3), groups.sizeUpTo(at, 1_000)]).toEqual([Math.min(3, want.length), want.length]);
      }
      groups.clear();
      for (const at of groupsIn(numbers)) expect(groups.of(at)).toEqual([]);
    },
  );

  const groupsIn = (numbers: ReadonlyMap<number, number>): number[] => [...new Set(numbers.values()), 12345];
});
