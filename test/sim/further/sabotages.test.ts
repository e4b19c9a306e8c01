/** None of the protections of a whole cluster may go unnoticed by its random histories. */
import { describe, it } from "vitest";
import { expectNoticed } from "../../support/sim/watches/noticed";
import { sabotages } from "../../support/sim/sabotage/sabotages";
import { type Often, runWholeHistory } from "../../support/sim/histories/whole-history";

/** Within so many histories the loss of a protection has to show; most do within a few. */
const NOTICED_WITHIN = 1_000;
/** Of what few histories notice: a seed that did. */
const FIRST: Readonly<Record<string, number>> = {
  "stale answer": 19,
  "precondition of the collector": 7,
  "age of orphans": 6,
  "second look": 354,
  "second poke": 14,
  "end of an unknown socket": 2,
  "doubt of the release before": 17,
};
/** What its histories do many times as often: every change of the product moves the seeds that notice, and a search takes a few histories then. */
const OFTEN: Readonly<Record<string, Often>> = {
  "precondition of the collector": "families",
  "age of orphans": "meddling",
  "second poke": "namespaces",
  "end of an unknown socket": "watches",
  "doubt of the release before": "releases",
};

describe("random histories of a whole cluster", () => {
  it.each(Object.entries(sabotages))(
    "without %s: some history notices",
    (name, sabotage) =>
      expectNoticed({
        name,
        play: (seed) => runWholeHistory({ seed, sabotage: sabotage(), often: OFTEN[name] }),
        first: FIRST[name],
        within: NOTICED_WITHIN,
      }),
    240_000,
  );
});
