/** Random histories of the controllers of endpoints in a whole cluster: slices and Endpoints are right in the end, whatever died on the way. */
import { expect, it } from "vitest";
import type { RowStorage } from "../../../src/controllers/followed/row-storage";
import { runEndpointHistory } from "../../support/sim/histories/endpoint-history";
import { expectNoticed } from "../../support/sim/watches/noticed";
import { fixedSeedsOf, histories, SEED } from "../../support/sim/platform/seeds";

const HISTORIES = histories(8);
/** Within so many histories the loss of a protection has to show. */
const NOTICED_WITHIN = 200;
/** Few histories notice: a seed that did. */
const NOTICED_FIRST = 49;

it(`histories (${SEED ? `seed ${SEED}` : `${HISTORIES} seeds`}): slices and Endpoints say what the Pods do, and objects died on the way`, async () => {
  let crashes = 0;
  for (const seed of fixedSeedsOf(HISTORIES)) {
    const report = await runEndpointHistory({ seed });
    expect(report.violations, `seed ${String(seed)}`).toEqual([]);
    crashes += report.crashes;
  }
  if (!SEED) expect(crashes).toBeGreaterThan(HISTORIES);
}, 120_000);

it("equal seeds: equal histories", async () => {
  expect(await runEndpointHistory({ seed: 7 })).toEqual(await runEndpointHistory({ seed: 7 }));
});

it("without the rows of Pods: some history notices", async () => {
  const rows = (storage: RowStorage): RowStorage =>
    new Proxy(storage, {
      get(target, key) {
        if (key === "rows") return (kind: string) => (kind === "pods" ? [] : target.rows(kind));
        const member: unknown = Reflect.get(target, key);
        return typeof member === "function" ? (member as (...args: unknown[]) => unknown).bind(target) : member;
      },
    });
  await expectNoticed({
    name: "no rows of Pods",
    play: (seed) => runEndpointHistory({ seed, rows }),
    first: NOTICED_FIRST,
    within: NOTICED_WITHIN,
  });
}, 120_000);
