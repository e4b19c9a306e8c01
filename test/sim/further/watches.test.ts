/** Random histories of watches over sleeping stores: each change once and in order, and none of the protections may go unnoticed. */
import { afterEach, expect, it, vi } from "vitest";
import { Feed } from "../../../src/api/relay/feed";
import { runWatchHistory } from "../../support/sim/histories/watch-history";
import { fixedSeedsOf, histories, SEED } from "../../support/sim/platform/seeds";
import { expectNoticed } from "../../support/sim/watches/noticed";
import type { RelaySabotage } from "../../support/relay/relay-world";

const HISTORIES = histories(60);
/** Within so many histories the loss of a protection has to show. */
const NOTICED_WITHIN = 60;

afterEach(() => {
  vi.restoreAllMocks();
});

it(`histories (${SEED ? `seed ${SEED}` : `${HISTORIES} seeds`}): every client gets each change once, in order, whatever sleeps, dies or is slow`, async () => {
  const sums = { sleeps: 0, deaths: 0, resumed: 0, expired: 0, slow: 0 };
  for (const seed of fixedSeedsOf(HISTORIES)) {
    const { violations, seed: _, ...counts } = await runWatchHistory({ seed });
    expect(violations, `seed ${String(seed)}`).toEqual([]);
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += counts[name];
  }
  if (!SEED) for (const [name, sum] of Object.entries(sums)) expect(sum, name).toBeGreaterThan(HISTORIES / 4);
}, 300_000);

it("equal seeds: equal histories", async () => {
  expect(await runWatchHistory({ seed: 7 })).toEqual(await runWatchHistory({ seed: 7 }));
});

const { end } = Feed.prototype;

const SABOTAGES: Readonly<Record<string, () => RelaySabotage>> = {
  "the history behind the cursor, after a wake": () => ({ woken: (kept, { store }) => ({ ...kept, cursor: store.revision }) }),
  "the cursor of the last frame": () => ({ woken: (kept) => ({ ...kept, cursor: Math.max(1, kept.cursor - 1) }) }),
  "what was sent and taken, after a wake": () => ({ woken: (kept) => ({ ...kept, sent: kept.sent + 1_000_000 }) }),
  "a frame": () => {
    let count = 0;
    return { loses: ({ bytes }) => bytes.length > 0 && ++count === 20 };
  },
  "the end of a feed whose owner opens another socket": () => {
    vi.spyOn(Feed.prototype, "end").mockImplementation(function (this: Feed) {
      // Only there: it ends for many reasons.
      if (!/\badopt\b/.test(new Error().stack ?? "")) end.call(this);
    });
    return {};
  },
  "the bounds of what a feed has": () => {
    vi.spyOn(Feed.prototype, "takes").mockReturnValue(true);
    return {};
  },
};

it.each(Object.entries(SABOTAGES))(
  "without %s: some history notices",
  (name, sabotage) => expectNoticed({ name, play: (seed) => runWatchHistory({ seed, sabotage: sabotage() }), within: NOTICED_WITHIN }),
  120_000,
);
