/**
 * Random histories of a whole cluster: the same for the same seed, and none of the protections may go unnoticed. How it does with many seeds
 * `npm run simulate` shows; `npm test` and .ci/run call it.
 */
import { describe, expect, it } from "vitest";
import { expectNoticed } from "../support/sim/watches/noticed";
import { sabotages } from "../support/sim/sabotage/sabotages";
import type { SimOptions } from "../support/sim/platform/platform";
import { Scenario } from "../support/sim/scenario";
import { runWholeHistory } from "../support/sim/histories/whole-history";

/** Within so many histories the loss of a protection has to show; most do within a few. */
const NOTICED_WITHIN = 1_000;
/** Of what few histories notice: a seed that did. */
const FIRST: Readonly<Record<string, number>> = {
  "stale answer": 9,
  "precondition of the collector": 5,
  "age of orphans": 19,
  "second look": 13,
};

describe("addresses of a range in deletion", () => {
  /** A Service gets one of a ServiceCIDR that is being deleted, from a store that has not heard of it and an owner that may. */
  async function givenOutLate(options: Partial<SimOptions> = {}): Promise<{ ok: boolean; wrong: string[] }> {
    const scenario = await Scenario.ready(options);
    await scenario.range("c", "10.0.1.0/28");
    await scenario.api.create("s", { clusterIP: "10.0.1.5" });
    await scenario.api.run(scenario.startRangeRemoval("c"));
    const { ok } = await scenario.api.create("t", { clusterIP: "10.0.1.6" });
    return { ok, wrong: await scenario.rest() };
  }

  it("range that is being deleted: gives out no address", async () => {
    expect(await givenOutLate()).toEqual({ ok: false, wrong: [] });
  });

  it("without the fence: the check reports I3", async () => {
    const { ok, wrong } = await givenOutLate({ sabotage: sabotages["fence"]?.() ?? {} });
    expect([ok, wrong]).toEqual([true, [expect.stringMatching(/^I3: .* gave out 10\.0\.1\.6 .*c 10\.0\.1\.0\/28 .*"deleting":true/)]]);
  });
});

describe("random histories of a whole cluster", () => {
  it("equal seeds: equal histories", async () => {
    expect(await runWholeHistory({ seed: 7 })).toEqual(await runWholeHistory({ seed: 7 }));
  });

  // docs/internals/reliability.md says what each of them found.
  it.each([3839, 60693, 61359, 61458])("seed %i, which failed once: ends whole", async (seed) => {
    expect((await runWholeHistory({ seed })).violations).toEqual([]);
  });

  it.each(Object.entries(sabotages))(
    "without %s: some history notices",
    (name, sabotage) =>
      expectNoticed({
        name,
        play: (seed) => runWholeHistory({ seed, sabotage: sabotage() }),
        first: FIRST[name],
        within: NOTICED_WITHIN,
      }),
    240_000,
  );
});
