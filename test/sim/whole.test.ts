/**
 * Random histories of a whole cluster: the same for the same seed, and none of the protections may go unnoticed. How it does with many seeds
 * `npm run simulate` shows; `npm test` and .ci/run call it.
 */
import { describe, expect, it } from "vitest";
import { sabotages } from "../support/sabotages";
import { runWholeHistory } from "../support/sim-whole-history";

/** Within so many histories the loss of a protection has to show; most do within a few. */
const NOTICED_WITHIN = 1_000;

describe("random histories of a whole cluster", () => {
  it("are the same for the same seed", async () => {
    expect(await runWholeHistory({ seed: 7 })).toEqual(await runWholeHistory({ seed: 7 }));
  });

  it.each(Object.entries(sabotages))(
    "notice that there is no %s",
    async (name, sabotage) => {
      for (let seed = 1; seed <= NOTICED_WITHIN; seed++) {
        const { violations } = await runWholeHistory({ seed, sabotage: sabotage() });
        if (violations.length === 0) continue;
        console.log(`no ${name}: noticed by seed ${seed}: ${violations[0] ?? ""}`);
        return;
      }
      expect.fail(`none of ${NOTICED_WITHIN} histories fails`);
    },
    240_000,
  );
});
