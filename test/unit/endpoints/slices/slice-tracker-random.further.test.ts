/** A controller whose feed is late plans on old slices. With the tracker it waits instead, so no endpoint ever stands in two slices. */
import { expect, it } from "vitest";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { planSlices } from "../../../../src/endpoints/slices/plan-slices";
import { endpointKey, endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { SliceTracker } from "../../../../src/endpoints/slices/slice-tracker";
import { naiveEndpoints } from "../../../model/naive-endpoints";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { histories, playEach, seedsOf } from "../../../support/sim/platform/seeds";
import { aPod, ipv4, SliceWorld, type SliceWrite } from "../../../support/worlds/slice-world";

const HISTORIES = 50;
const STEPS = 60;
const SEED = 20_261_123;

/** The endpoints that stand in two slices at the end of any step of a history. */
function duplicatesOf(seed: number, waits: boolean): number {
  const random = seededRandom(seed);
  const world = new SliceWorld();
  world.max = pick(random, [1, 3, 10]);
  const tracker = new SliceTracker();
  const feed: SliceWrite[] = [];
  const known = new Map<string, EndpointSlice>();
  let duplicates = 0;

  const readFeed = (count: number): void => {
    for (const { type, slice } of feed.splice(0, count)) {
      const uid = slice.metadata?.uid ?? "";
      if (type === "put") {
        known.set(uid, slice);
        // nobody else writes, so nothing may look like somebody else's doing
        expect(tracker.isForeignChange(slice)).toBe(false);
      } else {
        known.delete(uid);
        expect(tracker.gone(slice)).toBe(false);
      }
    }
  };
  const look = (): void => {
    const slices = [...known.values()];
    if (waits && tracker.isStale(world.service, slices)) return;
    const plan = planSlices({ ...world.request(), slices });
    if (!waits && !isPossible(world, plan)) return;
    for (const write of world.apply(plan)) {
      feed.push(write);
      if (write.type === "put") tracker.written(write.slice);
      else tracker.deleted(write.slice);
    }
  };

  for (let step = 0; step < STEPS; step++) {
    const count = random.below(world.max + 2);
    if (random.below(3) > 0)
      for (let i = 0; i < count; i++) world.pods.push(aPod({ name: `p${step}-${i}`, ips: [ipv4(random.below(250) + 1)] }));
    else world.pods = world.pods.filter(() => random.below(3) > 0);
    if (waits) readFeed(random.below(feed.length + 1));
    else feed.length = 0;
    look();
    const keys = world.slices.flatMap((slice) => endpointsOf(slice).map(endpointKey));
    duplicates += keys.length - new Set(keys).size;
  }
  if (!waits) return duplicates;
  readFeed(feed.length);
  look();
  expect(world.slices.flatMap(endpointsOf)).toHaveLength(naiveEndpoints(world.service, world.pods, world.nodes).length);
  return duplicates;
}

/** Whether everything that the plan updates or deletes is there. */
function isPossible(world: SliceWorld, { families }: ReturnType<typeof planSlices>): boolean {
  const names = new Set(world.slices.map(({ metadata }) => metadata?.name));
  return families.every(({ update, remove }) => [...update, ...remove].every(({ metadata }) => names.has(metadata?.name)));
}

it(`${HISTORIES} histories from seed ${SEED} with a late feed: no endpoint is ever in two slices, and all are there in the end`, () => {
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) expect(duplicatesOf(seed, true), `seed ${seed}`).toBe(0);
});

it("histories of the commit with a late feed: no endpoint is ever in two slices, and all are there in the end", () =>
  playEach(seedsOf(histories(5)), (seed) => expect(duplicatesOf(seed, true)).toBe(0)));

it("the same history without the tracker and without a feed: endpoints stand in two slices", () => {
  expect(duplicatesOf(SEED, false)).toBeGreaterThan(0);
});
