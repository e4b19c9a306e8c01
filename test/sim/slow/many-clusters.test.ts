/** 100,000 clusters, of which 5,000 have writes, in the real shards, with deaths: who is visited how often, and what that takes. */
import { expect, it } from "vitest";
import { shardKey } from "../../../src/tenancy/directory-keys";
import { clusterShardOf } from "../../../src/tenancy/shards";
import { DAY_MS, HOUR_MS, MINUTE_MS, ShardWorld } from "../../support/shards/shard-world";

const CLUSTERS = 100_000;
const BUSY = 5_000;
const idOf = (i: number): string => `cluster-${String(i)}`;
const isBusy = (id: string): boolean => Number(id.slice("cluster-".length)) % (CLUSTERS / BUSY) === 0;

/** What a day's visits looked like. */
class Counts {
  readonly idle = new Map<string, number>();
  /** by busy cluster, the time of its last visit */
  readonly last = new Map<string, number>();
  visits = 0;
  longestGapMs = 0;
  shortestGapMs = Infinity;
  latestMs = 0;
}

async function manyClusters(): Promise<{ world: ShardWorld; counts: Counts }> {
  const world = new ShardWorld();
  const counts = new Counts();
  world.keeps = false;
  const byShard = new Map<number, string[]>();
  for (let i = 0; i < CLUSTERS; i++) {
    const shard = clusterShardOf(idOf(i));
    byShard.set(shard, [...(byShard.get(shard) ?? []), idOf(i)]);
  }
  for (const [shard, ids] of byShard)
    await world.scheduler.run(world.shards[shard]!.brain.enter(ids.map((id) => ({ id, rhythms: isBusy(id) ? ["minute"] : [] }))));
  world.onVisit = ({ id, job, tickMs, atMs }) => {
    counts.visits++;
    if (job === "idle") {
      counts.idle.set(id, (counts.idle.get(id) ?? 0) + 1);
      return;
    }
    counts.latestMs = Math.max(counts.latestMs, atMs - tickMs);
    const before = counts.last.get(id);
    if (before !== undefined) {
      counts.longestGapMs = Math.max(counts.longestGapMs, atMs - before);
      counts.shortestGapMs = Math.min(counts.shortestGapMs, atMs - before);
    }
    counts.last.set(id, atMs);
  };
  // They have writes all the time.
  world.answer = ({ id }) => ({ found: isBusy(id) ? "left" : "rests" });
  return { world, counts };
}

it("an hour: each busy cluster is visited once a minute, within six seconds of its tick; shards that die lose them one round at most", async () => {
  const { world, counts } = await manyClusters();
  await world.pass(3 * MINUTE_MS);
  Object.assign(counts, { visits: 0, latestMs: 0, longestGapMs: 0, shortestGapMs: Infinity });
  const idleBefore = counts.idle.size;
  await world.pass(HOUR_MS);
  const idle = counts.idle.size - idleBefore;
  expect(counts.last.size).toBe(BUSY);
  expect(counts.visits - idle).toBe(60 * BUSY);
  expect(counts.latestMs).toBeLessThanOrEqual(6_000);
  expect(counts.longestGapMs).toBeLessThanOrEqual(MINUTE_MS + 6_000);
  expect(counts.shortestGapMs).toBeGreaterThanOrEqual(MINUTE_MS - 6_000);
  // An hour's part of the idle ones, and no more.
  expect(idle).toBeGreaterThan((CLUSTERS - BUSY) / 24 / 2);
  expect(idle).toBeLessThan(((CLUSTERS - BUSY) / 24) * 2);
  const alarms = world.shards.map((shard) => shard.alarms);
  // Four bundles of idle ones, and a look at whether ticks come each five minutes.
  expect(Math.max(...alarms)).toBeLessThanOrEqual(24);
  for (let minute = 0; minute < 10; minute++) {
    for (const shard of world.shards) world.scheduler.after(Math.floor(shard.number * 400), () => shard.die());
    await world.pass(MINUTE_MS);
  }
  await world.pass(2 * MINUTE_MS);
  expect(counts.longestGapMs).toBeLessThanOrEqual(2 * MINUTE_MS + 6_000);
  expect(counts.last.size).toBe(BUSY);
}, 600_000);

it("a day: each idle cluster is visited once, a shard without writes is not poked", async () => {
  const { world, counts } = await manyClusters();
  // The writes end.
  world.answer = () => ({ found: "rests" });
  await world.pass(20 * MINUTE_MS);
  expect(world.shards.every(({ number }) => world.told.get(shardKey(number))?.minute === false)).toBe(true);
  counts.idle.clear();
  world.pokes = 0;
  await world.pass(DAY_MS);
  expect(world.pokes).toBe(0);
  const visited = Array.from({ length: CLUSTERS }, (_, i) => counts.idle.get(idOf(i)) ?? 0);
  expect([Math.min(...new Set(visited)), Math.max(...new Set(visited))].every((count) => count >= 1 && count <= 2)).toBe(true);
  // Late by a quarter of an hour at most: those around the edge of the day.
  expect(visited.filter((count) => count > 1).length).toBeLessThan(CLUSTERS / 50);
}, 600_000);
