/** Random histories of a whole cluster whose seeds have failed once, or whose forms are rare: each ends whole. */
import { expect, it } from "vitest";
import { runWholeHistory } from "../../support/sim/histories/whole-history";

// Clients watch in it.
it("equal seeds (13): equal histories", async () => {
  expect(await runWholeHistory({ seed: 13 })).toEqual(await runWholeHistory({ seed: 13 }));
});

// docs/internals/reliability.md says what each of them found.
it.each([3839, 60693, 61359, 61458, 62194529, 121367272])("seed %i, which failed once: ends whole", async (seed) => {
  expect((await runWholeHistory({ seed })).violations).toEqual([]);
});

it.each([1, 180621997])("seed %i with clients that watch through stores that sleep: ends whole", async (seed) => {
  expect((await runWholeHistory({ seed, often: "watches" })).violations).toEqual([]);
});

it.each([1, 2])("seed %i with commits of 12 ms: ends whole, and nobody ends an object for its commits", async (seed) => {
  const report = await runWholeHistory({ seed, commitMs: 12 });
  expect(report.violations).toEqual([]);
  // One shows that such commits make other histories.
  if (seed === 1) expect(report).not.toEqual(await runWholeHistory({ seed }));
});
