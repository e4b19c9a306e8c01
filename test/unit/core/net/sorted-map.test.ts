import { expect } from "vitest";
import { SortedMap } from "../../../../src/core/net/sorted-map";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

itOfSeeds("SortedMap: as a plain map that is sorted anew, seed %i", { fixed: [1, 2], further: 3 }, (seed) => {
  const random = seededRandom(seed);
  const values = new SortedMap<number>();
  const model = new Map<bigint, number>();
  const range = 4_000;
  for (let step = 0; step < 6_000; step++) {
    const value = BigInt(random.below(range));
    // First it grows, then it shrinks, so that parts are cut and vanish.
    if (random.below(10) < (step < 4_000 ? 8 : 2)) {
      values.set(value, step);
      model.set(value, step);
    } else {
      values.delete(value);
      model.delete(value);
    }
    if (step % 50 !== 0) continue;
    const sorted = [...model.keys()].sort((a, b) => (a < b ? -1 : 1));
    const from = BigInt(random.below(range));
    const to = from + BigInt(random.below(300));
    expect([...values.between(from, to)]).toEqual(sorted.filter((one) => one >= from && one <= to).map((one) => [one, model.get(one)]));
    expect([values.size, values.leastKey, values.keyAtMost(from), values.has(from), values.get(from)]).toEqual([
      sorted.length,
      sorted[0],
      sorted.findLast((one) => one <= from),
      model.has(from),
      model.get(from),
    ]);
  }
});
