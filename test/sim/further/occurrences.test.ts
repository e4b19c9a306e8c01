/** What random histories of a whole cluster come to: each occurrence that is named. */
import { expect, it } from "vitest";
import { type Often, runWholeHistory } from "../../support/sim/histories/whole-history";
import { firstSeeds } from "../../support/sim/platform/seeds";
import { OCCURRENCES } from "../../support/sim/protocol-steps";

/** Within so many histories each of the occurrences is met; most are within a few. */
const MET_WITHIN = 100;
/** These together once met all of them: they are played first. */
const MEETING: readonly { seed: number; often?: Often }[] = [
  ...[13, 16, 21, 4, 6, 11, 18].map((seed) => ({ seed })),
  { seed: 18, often: "releases" },
];

it(`${MET_WITHIN} random histories: each occurrence is met, and a fault meets pokes of repair and batches of a namespace`, async () => {
  const missing = new Set<string>([...OCCURRENCES, "pokeRepair", "emptyBatch"]);
  const others = firstSeeds(MET_WITHIN).filter((seed) => !MEETING.some((one) => one.seed === seed));
  for (const played of [...MEETING, ...others.map((seed) => ({ seed }))]) {
    if (missing.size === 0) break;
    const { marks } = await runWholeHistory(played);
    for (const mark of marks) {
      missing.delete(mark);
      missing.delete(mark.slice(mark.lastIndexOf(" ") + 1));
    }
  }
  expect([...missing]).toEqual([]);
}, 240_000);
