/** Which Services a Pod meets: at least those whose labels it has all, and hardly one more. */
import { expect, it } from "vitest";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { ServicesByLabel } from "../../../../src/endpoints/sources/services-by-label";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { expectSame } from "../../../support/values/same";

const LABELS = ["a=1", "a=2", "b=1", "b=2", "c=1", "d=1"].map((label) => `ns ${label}`);

const some = (random: WordRandom, max: number): string[] => [
  ...new Set(Array.from({ length: random.below(max + 1) }, () => pick(random, LABELS))),
];

itOfSeeds(
  "Services that come, change and go: a Pod meets each that it belongs to, once; with three labels at most, no other (seed %i)",
  { fixed: [1, 2, 3], further: 3 },
  (seed) => {
    const random = seededRandom(seed);
    const index = new ServicesByLabel();
    const services = new Map<number, string[]>();
    for (let act = 0; act < 1_000; act++) {
      const number = random.below(60);
      if (random.below(4) === 0) {
        index.delete(number);
        services.delete(number);
      } else {
        const labels = some(random, 4);
        index.add(number, labels);
        services.set(number, labels);
      }
      const pod = some(random, 5);
      const met = index.of(pod);
      const belongs = (labels: readonly string[]): boolean => labels.length > 0 && labels.every((label) => pod.includes(label));
      const all = [...services];
      const found = {
        twice: met.length - new Set(met).size,
        missed: all.filter(([of, labels]) => belongs(labels) && !met.includes(of)),
        others: all.filter(([of, labels]) => !belongs(labels) && labels.length <= 3 && met.includes(of)),
        gone: met.filter((of) => !services.has(of)),
      };
      expectSame(found, { twice: 0, missed: [], others: [], gone: [] }, () => `act ${act}, Pod of ${pod.join()}`);
    }
    index.clear();
    expect(index.of(LABELS)).toEqual([]);
  },
);

it("a selector of many labels changes to one label: the Pod with that label alone meets the Service", () => {
  const index = new ServicesByLabel();
  index.add(40, LABELS);
  expect(index.of(LABELS.slice(0, 2))).toEqual([]);
  index.add(40, LABELS.slice(0, 1));
  expect(index.of(LABELS.slice(0, 2))).toEqual([40]);
});
