/** Random histories of pools: nothing is held twice, nothing is leaked, whatever dies on the way, and none of the protections may go unnoticed. */
import { expect, it } from "vitest";
import { runPoolHistory } from "../../support/sim/pools/pool-history";
import { POOL_MARKS } from "../../support/sim/pools/sim-pools";
import { fixedSeedsOf, histories, playEach, SEED, seedsOf } from "../../support/sim/platform/seeds";
import { poolSabotages } from "../../support/sim/sabotage/pool-sabotages";
import { expectNoticed } from "../../support/sim/watches/noticed";

/** Histories that are the same in each run, and others. */
const FIXED = 40;
const FURTHER = histories(6);
const FURTHER_MS_MAX = 600_000;
/** Within so many histories the loss of a protection has to show. */
const NOTICED_WITHIN = 200;

it(`histories (${SEED ? `seed ${SEED}` : `${FIXED} seeds`}): nothing is held twice or leaked, and they come to everything that is named`, async () => {
  const missing = new Set<string>(POOL_MARKS);
  let served = 0;
  await playEach(fixedSeedsOf(FIXED), async (seed) => {
    const report = await runPoolHistory({ seed });
    expect(report.violations).toEqual([]);
    for (const mark of report.marks) missing.delete(mark);
    served += report.served;
  });
  if (SEED) return;
  expect([...missing]).toEqual([]);
  expect(served).toBeGreaterThan(FIXED / 2);
}, 120_000);

it(
  "histories of further seeds: nothing is held twice or leaked",
  () => playEach(seedsOf(FURTHER), async (seed) => expect((await runPoolHistory({ seed })).violations).toEqual([])),
  FURTHER_MS_MAX,
);

it("equal seeds: equal histories", async () => {
  expect(await runPoolHistory({ seed: 7 })).toEqual(await runPoolHistory({ seed: 7 }));
});

it.each(Object.entries(poolSabotages))(
  "without %s: some history notices",
  (name, sabotage) => expectNoticed({ name, play: (seed) => runPoolHistory({ seed, sabotage: sabotage() }), within: NOTICED_WITHIN }),
  120_000,
);
