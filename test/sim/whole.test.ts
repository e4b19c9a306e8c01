/**
 * Random histories of a whole cluster: the same for the same seed. How it does with many seeds `npm run simulate` shows; `npm test` and .ci/run call it.
 * That they notice the loss of each protection is shown in further/sabotages.test.ts. Seeds that failed once are in further/whole-seeds.test.ts.
 */
import { describe, expect, it } from "vitest";
import { sabotages } from "../support/sim/sabotage/sabotages";
import type { SimOptions } from "../support/sim/platform/platform";
import { Scenario } from "../support/sim/scenario";
import { runWholeHistory } from "../support/sim/histories/whole-history";

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

  it("clients that watch through stores that sleep: ends whole", async () => {
    expect((await runWholeHistory({ seed: 2, often: "watches" })).violations).toEqual([]);
  });

  it.each([3, 4])("seed %i with commits of 12 ms: ends whole, and nobody ends an object for its commits", async (seed) => {
    expect((await runWholeHistory({ seed, commitMs: 12 })).violations).toEqual([]);
  });
});
