/** Random histories of quotas in a whole cluster: limits hold, whatever dies on the way, and none of the protections may go unnoticed. */
import { expect, it } from "vitest";
import { expectNoticed } from "../support/sim/watches/noticed";
import { runQuotaHistory } from "../support/sim/histories/quota-history";
import { quotaSabotages } from "../support/sim/sabotage/quota-sabotages";
import { fixedSeedsOf, histories, playEach, SEED, seedsOf } from "../support/sim/platform/seeds";

/** Histories that are the same in each run, and others. */
const FIXED = 4;
const FURTHER = histories(4);
const FURTHER_MS_MAX = 600_000;
/** Within so many histories the loss of a protection has to show. */
const NOTICED_WITHIN = 200;
/** Of what few histories notice: a seed that did. */
const FIRST: Readonly<Record<string, number>> = {
  "mark of changed limits": 1345,
  "base of changed limits": 170,
  "held limits": 43,
};

it(`histories (${SEED ? `seed ${SEED}` : `${FIXED} seeds`}): no limit is exceeded, stores and statuses are right in the end, and objects died on the way`, async () => {
  const sums = { crashes: 0, refused: 0, broughtBack: 0 };
  await playEach(fixedSeedsOf(FIXED), async (seed) => {
    const { violations, crashes, refused, broughtBack } = await runQuotaHistory({ seed });
    expect(violations).toEqual([]);
    sums.crashes += crashes;
    sums.refused += refused;
    sums.broughtBack += broughtBack;
  });
  if (!SEED) for (const sum of Object.values(sums)) expect(sum).toBeGreaterThan(FIXED);
}, 120_000);

it(
  "histories of further seeds: no limit is exceeded, stores and statuses are right in the end",
  () => playEach(seedsOf(FURTHER), async (seed) => expect((await runQuotaHistory({ seed })).violations).toEqual([])),
  FURTHER_MS_MAX,
);

it("equal seeds: equal histories", async () => {
  expect(await runQuotaHistory({ seed: 7 })).toEqual(await runQuotaHistory({ seed: 7 }));
});

it.each(Object.entries(quotaSabotages))(
  "without %s: some history notices",
  (name, sabotage) =>
    expectNoticed({ name, play: (seed) => runQuotaHistory({ seed, sabotage: sabotage() }), first: FIRST[name], within: NOTICED_WITHIN }),
  120_000,
);
