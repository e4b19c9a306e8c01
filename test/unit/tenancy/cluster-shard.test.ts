import { describe, expect, it } from "vitest";
import type { Settings } from "../../../src/core/config/settings";
import { shardKey } from "../../../src/tenancy/directory-keys";
import { clusterShardOf, SHARDS, visitTimeOf } from "../../../src/tenancy/shards";
import { DAY_MS, HOUR_MS, MINUTE_MS, ShardWorld, type Visited } from "../../support/shards/shard-world";

const names = (count: number, prefix = "c"): string[] => Array.from({ length: count }, (_, i) => `${prefix}-${String(i)}`);
/** Clusters of one shard. */
const ofShard = (shard: number, count: number): string[] =>
  names(count * SHARDS * 2)
    .filter((id) => clusterShardOf(id) === shard)
    .slice(0, count);
const gaps = (times: readonly number[]): number[] => times.slice(1).map((at, i) => at - (times[i] ?? 0));

describe("shards", () => {
  it("100,000 clusters: are spread over all of them, and over the day", () => {
    const sizes = Array<number>(SHARDS).fill(0);
    const hours = Array<number>(24).fill(0);
    for (const id of names(100_000, "cluster")) {
      sizes[clusterShardOf(id)]!++;
      hours[Math.floor(visitTimeOf(id) / HOUR_MS)]!++;
    }
    expect([Math.min(...sizes), Math.max(...sizes)].every((size) => Math.abs(size - 100_000 / SHARDS) < 200)).toBe(true);
    expect([Math.min(...hours), Math.max(...hours)].every((count) => Math.abs(count - 100_000 / 24) < 300)).toBe(true);
  });
});

describe("a busy cluster", () => {
  it("is visited by each tick, with its facts, until ten minutes behind the last note and a visit that finds nothing left", async () => {
    const world = new ShardWorld();
    const facts = { off: ["repair"], on: [] };
    await world.enter("blue", ["minute"], { facts });
    await world.pass(30 * MINUTE_MS);
    const times = world.visits.map(({ tickMs }) => tickMs);
    expect(times.length).toBeGreaterThanOrEqual(9);
    expect(times.length).toBeLessThanOrEqual(11);
    expect(new Set(gaps(times))).toEqual(new Set([MINUTE_MS]));
    expect(world.visits.every(({ job, facts: told }) => job === "maintain" && JSON.stringify(told) === JSON.stringify(facts))).toBe(true);
    expect(world.told.get(shardKey(clusterShardOf("blue")))).toEqual({ minute: false, hour: false });
  });

  it("whose visits find something left: stays", async () => {
    const world = new ShardWorld();
    world.answer = () => ({ found: "left" });
    await world.enter("blue");
    await world.pass(HOUR_MS);
    expect(world.visits.length).toBeGreaterThanOrEqual(58);
  });

  it("that is noted again: a row at half of a note's life alone", async () => {
    const world = new ShardWorld();
    const { storage } = world.shardOf("blue");
    const before = storage.busyPut.bind(storage);
    let rows = 0;
    storage.busyPut = (id, times) => {
      rows++;
      before(id, times);
    };
    for (let minute = 0; minute < 60; minute++) {
      await world.enter("blue");
      await world.pass(MINUTE_MS);
    }
    expect(rows).toBe(12);
    expect(world.visits.length).toBeGreaterThanOrEqual(58);
  });

  it("a write that is noted while the visit is under way that would take it off: it stays", async () => {
    const world = new ShardWorld();
    await world.enter("blue");
    world.answer = async () => {
      if (world.scheduler.now > begun + 9 * MINUTE_MS) await world.shardOf("blue").brain.enter([{ id: "blue", rhythms: ["minute"] }]);
      return { found: "rests" };
    };
    const begun = world.scheduler.now;
    await world.pass(25 * MINUTE_MS);
    expect(world.visits.at(-1)?.atMs).toBeGreaterThan(begun + 24 * MINUTE_MS);
  });

  it("a disk that cannot be read behind a note: nothing is rejected that nobody hears, and the next note tells KV", async () => {
    const world = new ShardWorld();
    const { storage } = world.shardOf("blue");
    const mark = storage.mark.bind(storage);
    storage.mark = (name) => {
      if (name === "told") throw new Error("the disk does not answer");
      return mark(name);
    };
    await world.enter("blue");
    storage.mark = mark;
    await world.enter("blue");
    await world.pass(MINUTE_MS);
    expect(world.told.get(shardKey(clusterShardOf("blue")))).toEqual({ minute: true, hour: false });
  });

  it("of the hour: compacted each hour until three hours behind the last note; its Leases are looked at", async () => {
    const world = new ShardWorld();
    await world.enter("blue", ["hour"]);
    await world.pass(8 * HOUR_MS);
    const compacted = world.counted("compact").get("blue") ?? 0;
    expect([compacted >= 3 && compacted <= 4, world.counted("maintain").size]).toEqual([true, 0]);
    expect(world.counted("leases").get("blue")).toBe(compacted);
    expect(world.told.get(shardKey(clusterShardOf("blue")))).toEqual({ minute: false, hour: false });
  });

  it("whose Leases needed more time: that job alone, in that cluster alone, in each minute until it is through", async () => {
    const world = new ShardWorld();
    const [slow = "", fast = ""] = ofShard(3, 2);
    let cut = 3;
    world.answer = ({ id, job }) => ({ found: job === "leases" && id === slow && --cut > 0 ? "cut" : "rests" });
    for (const id of [slow, fast]) await world.enter(id, ["hour"]);
    await world.pass(HOUR_MS + 10 * MINUTE_MS);
    const leases = world.visits.filter(({ job }) => job === "leases");
    expect(leases.map(({ id }) => id).sort()).toEqual([slow, slow, slow, fast].sort());
    expect(new Set(leases.filter(({ id }) => id === slow).map(({ atMs }) => Math.floor(atMs / MINUTE_MS))).size).toBe(3);
  });

  it("that fails: is visited again by the next tick, then more rarely; the others of its shard are not held up", async () => {
    const world = new ShardWorld();
    const [broken = "", ...others] = ofShard(5, 8);
    world.answer = ({ id }) => (id === broken ? Promise.reject(new Error("broken")) : { found: "left" });
    for (const id of [broken, ...others]) await world.enter(id);
    await world.pass(2 * HOUR_MS);
    const times = world.visits.filter(({ id }) => id === broken).map(({ atMs }) => Math.round(atMs / MINUTE_MS));
    expect(gaps(times).slice(0, 4)).toEqual([1, 2, 4, 8].map((n, i) => (i === 0 ? 1 : n)));
    expect(Math.max(...gaps(times))).toBeLessThanOrEqual(11);
    for (const id of others) expect(world.counted("maintain").get(id)).toBeGreaterThanOrEqual(118);
  });

  it("that fails several ticks at once: that counts once, so the next tick visits it again", async () => {
    const world = new ShardWorld();
    let isBroken = true;
    world.answer = () => (isBroken ? Promise.reject(new Error("broken")) : { found: "left" });
    await world.enter("blue");
    const { brain } = world.shardOf("blue");
    const ticks = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        await world.scheduler.run(brain.poke("maintain", world.scheduler.now));
        await world.scheduler.pass(20);
      }
    };
    await ticks(5);
    isBroken = false;
    const before = world.visits.length;
    await ticks(1);
    expect([before, world.visits.length]).toEqual([5, 6]);
  });

  it("that never answers: costs a place for half a minute", async () => {
    const world = new ShardWorld();
    const [silent = "", ...others] = ofShard(5, 8);
    world.answer = ({ id }) => (id === silent ? new Promise<never>(() => undefined) : { found: "left" });
    for (const id of [silent, ...others]) await world.enter(id);
    await world.pass(HOUR_MS);
    for (const id of others) expect(world.counted("maintain").get(id)).toBeGreaterThanOrEqual(50);
  });

  it("that ends: is not visited any more, and a late note of it ends with the visit that finds it gone", async () => {
    const world = new ShardWorld();
    const { brain } = world.shardOf("blue");
    await world.enter("blue", ["minute", "hour"]);
    await brain.leave("blue");
    await world.enter("blue");
    // As its record does.
    world.answer = () => brain.leave("blue").then(() => ({}));
    await world.pass(2 * DAY_MS);
    expect(world.visits.length).toBe(1);
    expect(world.shardOf("blue").storage.ids()).toEqual([]);
  });
});

describe("an idle cluster", () => {
  it("is visited once a day at its time, a quarter of an hour late at most, with ticks that are a day apart", async () => {
    const world = new ShardWorld();
    const ids = ofShard(7, 40);
    await world.scheduler.run(world.shards[7]!.brain.enter(ids.map((id) => ({ id, rhythms: [] }))));
    await world.pass(5 * DAY_MS);
    for (const id of ids) {
      const visits = world.visits.filter((visit) => visit.id === id);
      expect(visits.length, id).toBe(5);
      expect(visits.every(({ job, tickMs, atMs }) => job === "idle" && atMs - tickMs >= 0 && atMs - tickMs <= 16 * MINUTE_MS)).toBe(true);
      expect(new Set(gaps(visits.map(({ tickMs }) => tickMs)))).toEqual(new Set([DAY_MS]));
    }
    expect([world.pokes, world.shards[7]!.alarms <= 5 * 40]).toEqual([0, true]);
  });

  it("alone in its shard: one alarm a day, and no tick", async () => {
    const world = new ShardWorld();
    await world.enter("blue", []);
    await world.pass(10 * DAY_MS);
    expect([world.visits.length, world.shardOf("blue").alarms, world.pokes]).toEqual([10, 10, 0]);
  });

  it("whose visit finds something left: counts as busy", async () => {
    const world = new ShardWorld();
    world.answer = ({ job }) => ({ found: job === "idle" ? "left" : "rests" });
    await world.enter("blue", []);
    await world.pass(DAY_MS + HOUR_MS);
    expect(world.counted("maintain").get("blue")).toBeGreaterThanOrEqual(8);
  });

  it("whose Leases needed more time: the hour's job goes on with them", async () => {
    const world = new ShardWorld();
    let cut = 3;
    world.answer = ({ job }) => ({ found: (job === "idle" || job === "leases") && --cut > 0 ? "cut" : "rests" });
    await world.enter("blue", []);
    await world.pass(DAY_MS + 2 * HOUR_MS);
    const [idle] = world.visits.filter(({ job }) => job === "idle");
    const [leases] = world.visits.filter(({ job }) => job === "leases");
    expect((leases?.atMs ?? Infinity) - (idle?.atMs ?? 0)).toBeLessThanOrEqual(HOUR_MS + MINUTE_MS);
    expect(world.counted("maintain").get("blue")).toBeGreaterThanOrEqual(1);
    expect(cut).toBeLessThanOrEqual(0);
  });

  it("that the copy of the directory enters again: keeps what its shard knows of it; one that the shard does not know has what the copy says", async () => {
    const world = new ShardWorld();
    const [newer, older] = [
      { off: ["repair"], on: [] },
      { off: [], on: ["repair"] },
    ];
    const factsOf = (id: string) => world.shardOf(id).storage.factsOf(id);
    await world.enter("blue", ["minute"], { facts: older });
    await world.enter("blue", ["minute"], { facts: newer });
    expect(factsOf("blue")).toEqual(newer);
    for (const facts of [older, null]) await world.enter("blue", [], { facts });
    expect(factsOf("blue")).toEqual(newer);
    await world.enter("green", [], { facts: older });
    expect(factsOf("green")).toEqual(older);
  });

  it("after an outage of a week: each is visited once, and then once a day", async () => {
    const world = new ShardWorld();
    const ids = ofShard(7, 200);
    await world.scheduler.run(world.shards[7]!.brain.enter(ids.map((id) => ({ id, rhythms: [] }))));
    world.shards[7]!.die();
    world.shards[7]!.loseAlarm();
    await world.scheduler.pass(7 * DAY_MS);
    // What the copy of the directory does.
    await world.scheduler.run(world.shards[7]!.brain.enter([{ id: ids[0] ?? "", rhythms: [] }]));
    await world.pass(10 * MINUTE_MS);
    expect(world.counted("idle").size).toBe(200);
    expect(new Set(world.counted("idle").values())).toEqual(new Set([1]));
    await world.pass(DAY_MS);
    expect([...world.counted("idle").values()].every((count) => count === 2)).toBe(true);
  });

  it("300 that are due at once and never answer: the busy one of their shard has its visits, and each of them is visited", async () => {
    const world = new ShardWorld();
    const [blue = "", ...hung] = ofShard(7, 301);
    world.answer = ({ id }) => (id === blue ? { found: "left" } : new Promise<never>(() => undefined));
    await world.scheduler.run(world.shards[7]!.brain.enter(hung.map((id) => ({ id, rhythms: [] }))));
    world.shards[7]!.loseAlarm();
    await world.scheduler.pass(2 * DAY_MS);
    await world.enter(blue);
    await world.pass(2 * HOUR_MS);
    const times = world.visits.filter(({ id }) => id === blue).map(({ atMs }) => atMs);
    expect(Math.max(...gaps(times))).toBeLessThanOrEqual(2 * MINUTE_MS + 1_000);
    expect(world.counted("idle").size).toBe(300);
  });

  it("in a shard of which 60 busy ones never answer: is visited, and a busy one that answers has each job, late by some minutes", async () => {
    const world = new ShardWorld();
    const [idle = "", blue = "", ...hung] = ofShard(7, 62);
    world.answer = ({ id }) => (hung.includes(id) ? new Promise<never>(() => undefined) : { found: id === blue ? "left" : "rests" });
    await world.enter(idle, []);
    // The first round of each minute still hangs when that of the hour is due.
    await world.pass(HOUR_MS - (world.scheduler.now % HOUR_MS) - 90_000);
    await world.scheduler.run(world.shards[7]!.brain.enter([...hung, blue].map((id) => ({ id, rhythms: ["minute", "hour"] }))));
    await world.pass(DAY_MS);
    const lateMs = ({ atMs, tickMs }: Visited): number => atMs - tickMs;
    const visits = (id: string, job: Visited["job"]): Visited[] => world.visits.filter((visit) => visit.id === id && visit.job === job);
    expect(Math.max(...visits(idle, "idle").map(lateMs))).toBeLessThanOrEqual(20 * MINUTE_MS);
    expect(visits(idle, "idle").length).toBeGreaterThanOrEqual(1);
    for (const job of ["leases", "compact"] as const) {
      expect(visits(blue, job).length, job).toBeGreaterThanOrEqual(23);
      expect(Math.max(...visits(blue, job).map(lateMs)), job).toBeLessThanOrEqual(10 * MINUTE_MS);
    }
    // One round met them all when they were not known to fail.
    const [, ...waits] = gaps(visits(blue, "maintain").map(({ atMs }) => atMs)).sort((a, b) => b - a);
    expect(Math.max(...waits)).toBeLessThanOrEqual(4 * MINUTE_MS);
  });

  it("a local server that begins: the first tick visits all clusters, and a second one none", async () => {
    const world = new ShardWorld();
    const ids = ofShard(7, 150);
    await world.scheduler.run(world.shards[7]!.brain.enter(ids.map((id) => ({ id, rhythms: [] }))));
    await world.pass(MINUTE_MS);
    world.visits.length = 0;
    world.shards[7]!.die();
    world.startedMs = world.scheduler.now;
    await world.scheduler.run(world.shards[7]!.brain.poke("maintain", world.scheduler.now));
    await world.pass(MINUTE_MS);
    expect([world.counted("idle").size, world.visits.length]).toEqual([150, 150]);
    expect(world.visits.every(({ tickMs }) => tickMs >= world.startedMs)).toBe(true);
    await world.scheduler.run(world.shards[7]!.brain.poke("maintain", world.scheduler.now));
    expect(world.visits.length).toBe(150);
  });
});

describe("ticks", () => {
  it("the same one twice, or late, by several places: one round", async () => {
    const world = new ShardWorld();
    await world.enter("blue");
    const { brain } = world.shardOf("blue");
    const { now } = world.scheduler;
    for (const tickMs of [now, now, now - MINUTE_MS]) await world.scheduler.run(brain.poke("maintain", tickMs));
    expect(world.visits.length).toBe(1);
  });

  it.each([2 * MINUTE_MS, 15_000])(
    "of an hour, behind each of which the shard's memory is dropped (%d ms with nothing to do): each cluster once a minute, and KV hears nothing",
    async (dropsAfterMs) => {
      const world = new ShardWorld();
      world.dropsAfterMs = dropsAfterMs;
      world.answer = () => ({ found: "left" });
      await world.enter("blue");
      await world.pass(3 * MINUTE_MS);
      world.visits.length = 0;
      world.puts = 0;
      const { storage } = world.shardOf("blue");
      const before = storage.markPut.bind(storage);
      let rows = 0;
      storage.markPut = (name, value) => {
        rows++;
        before(name, value);
      };
      await world.pass(HOUR_MS);
      expect([world.visits.length, world.puts]).toEqual([60, 0]);
      expect(world.shardOf("blue").lives > 60).toBe(dropsAfterMs < MINUTE_MS);
      expect(rows, "the ticks, every second one").toBe(30);
    },
  );

  it("the same one by a second place, whose clock is 15 s behind: begins no round, from the third minute on; each is kept then", async () => {
    const world = new ShardWorld();
    world.answer = () => ({ found: "left" });
    await world.enter("blue");
    await world.pass(5 * MINUTE_MS);
    const { brain } = world.shardOf("blue");
    const placesFor = async (minutes: number): Promise<number> => {
      world.visits.length = 0;
      for (let minute = 0; minute < minutes; minute++) {
        const tickMs = (Math.floor(world.scheduler.now / MINUTE_MS) + 1) * MINUTE_MS;
        await world.pass(tickMs - world.scheduler.now + 15_000);
        await world.scheduler.run(brain.poke("maintain", tickMs));
      }
      return world.visits.length;
    };
    expect(await placesFor(3)).toBeLessThanOrEqual(5);
    expect(await placesFor(60)).toBe(60);
  });

  it("of the hour, once more by a second place a minute later: begin no round", async () => {
    const world = new ShardWorld();
    await world.enter("blue", ["hour"]);
    await world.pass(HOUR_MS);
    const { brain } = world.shardOf("blue");
    const hour = Math.floor(world.scheduler.now / HOUR_MS) * HOUR_MS;
    for (const minute of [1, 2]) {
      await world.pass(MINUTE_MS);
      for (const job of ["leases", "compact"] as const) await world.scheduler.run(brain.poke(job, hour));
      expect([world.counted("leases").get("blue"), world.counted("compact").get("blue")], String(minute)).toEqual([1, 1]);
    }
  });

  it("the same one by a Worker with other settings: a round of its own, in which the clusters are told", async () => {
    const world = new ShardWorld();
    await world.enter("blue");
    const { brain } = world.shardOf("blue");
    const { now } = world.scheduler;
    for (const settings of [{}, { version: "2" }, {}, { version: "2" }] as Settings[])
      await world.scheduler.run(brain.poke("maintain", now, settings));
    expect(world.visits.map(({ settings }) => settings)).toEqual([undefined, { version: "2" }]);
  });

  it("of a clock that was set back by an hour: begin rounds again", async () => {
    const world = new ShardWorld();
    await world.enter("blue");
    const { brain } = world.shardOf("blue");
    for (const tickMs of [world.scheduler.now, world.scheduler.now - HOUR_MS]) await world.scheduler.run(brain.poke("maintain", tickMs));
    expect(world.visits.length).toBe(2);
  });

  it("during a round: begin one more behind it; nobody is visited twice at once", async () => {
    const world = new ShardWorld();
    world.visitMs = 9_000;
    const ids = ofShard(9, 60);
    for (const id of ids) await world.enter(id);
    world.answer = () => ({ found: "left" });
    await world.pass(20 * MINUTE_MS);
    const counts = [...world.counted("maintain").values()];
    expect(counts.length).toBe(60);
    // A round takes 90 s.
    expect([Math.min(...counts) >= 11, Math.max(...counts) <= 14]).toEqual([true, true]);
    const { waitMs } = await world.shards[9]!.brain.whereabouts(ids[0] ?? "");
    expect(waitMs.maintain).toBeGreaterThan(MINUTE_MS);
    expect(waitMs.maintain).toBeLessThan(4 * MINUTE_MS);
  });

  it("that stay away, as KV has lost the key: the alarm visits busy clusters every five minutes, and tells KV", async () => {
    const world = new ShardWorld();
    world.answer = () => ({ found: "left" });
    await world.enter("blue");
    await world.pass(5 * MINUTE_MS);
    world.told.clear();
    await world.pass(12 * MINUTE_MS);
    world.visits.length = 0;
    await world.pass(10 * MINUTE_MS);
    expect(world.visits.length).toBeGreaterThanOrEqual(9);
  });

  it("no cron at all: every five minutes", async () => {
    const world = new ShardWorld();
    world.answer = () => ({ found: "left" });
    world.kvLagMs = DAY_MS;
    await world.enter("blue");
    await world.pass(2 * HOUR_MS);
    expect(world.visits.length).toBeGreaterThanOrEqual(23);
    expect(Math.max(...gaps(world.visits.map(({ atMs }) => atMs)))).toBeLessThanOrEqual(6 * MINUTE_MS);
  });

  it("for nothing, as KV was brought back in time: end after some minutes", async () => {
    const world = new ShardWorld();
    const key = shardKey(clusterShardOf("blue"));
    await world.enter("blue", []);
    await world.pass(5 * MINUTE_MS);
    world.told.set(key, { minute: true, hour: false });
    await world.pass(20 * MINUTE_MS);
    expect([world.told.get(key), world.pokes <= 7]).toEqual([{ minute: false, hour: false }, true]);
  });

  it("to a shard without clusters: leave nothing behind", async () => {
    const world = new ShardWorld();
    const [shard] = world.shards;
    for (let i = 0; i < 20; i++) await world.scheduler.run(shard!.brain.poke("maintain", world.scheduler.now + i * MINUTE_MS));
    await world.pass(DAY_MS);
    expect([world.told.size, shard!.alarms, shard!.storage.mark("told") ?? "none"]).toEqual([0, 0, "none"]);
  });

  it("a clock of the shard that is set back and put right again: visits go on, once a minute and once a day", async () => {
    const world = new ShardWorld();
    world.answer = ({ id }) => ({ found: id === "blue" ? "left" : "rests" });
    const idle = ofShard(clusterShardOf("blue"), 30).filter((id) => id !== "blue");
    await world.enter("blue");
    for (const id of idle) await world.enter(id, []);
    for (const offMs of [-3 * HOUR_MS, 5 * HOUR_MS, 0]) {
      world.clockOffMs = offMs;
      await world.pass(30 * MINUTE_MS);
      world.visits.length = 0;
      await world.pass(DAY_MS);
      expect(world.counted("maintain").get("blue"), String(offMs)).toBeGreaterThanOrEqual(1_435);
      const counts = idle.map((id) => world.counted("idle").get(id) ?? 0);
      expect(Math.min(...counts), String(offMs)).toBeGreaterThanOrEqual(1);
      expect(Math.max(...counts), String(offMs)).toBeLessThanOrEqual(2);
    }
  });
});

describe("a shard that dies", () => {
  it("at any await of a minute's round of 30 clusters, of one of the hour and of idle visits: nobody is left out", async () => {
    const ids = ofShard(11, 30);
    const idle = ofShard(11, 45).slice(30);
    const run = async (diesAt: number): Promise<ShardWorld> => {
      const world = new ShardWorld();
      const { brain } = world.shards[11]!;
      await world.scheduler.run(brain.enter(ids.map((id) => ({ id, rhythms: ["minute", "hour"] as const }))));
      await world.scheduler.run(brain.enter(idle.map((id) => ({ id, rhythms: [] }))));
      await world.pass(2 * MINUTE_MS);
      // A tick of the hour is due with that of a minute.
      world.visits.length = 0;
      world.awaits = 0;
      world.diesAt = diesAt;
      for (const job of ["maintain", "leases", "compact"] as const) world.tick(job);
      // Every tick is answered; the idle ones have their day.
      await world.pass(7 * MINUTE_MS);
      return world;
    };
    const whole = await run(0);
    expect(whole.awaits).toBeGreaterThan(90);
    for (let diesAt = 1; diesAt <= Math.min(whole.awaits, 110); diesAt++) {
      const world = await run(diesAt);
      for (const job of ["maintain", "leases", "compact"] as const) expect(world.counted(job).size, `${job}, ${String(diesAt)}`).toBe(30);
      expect(Math.max(...world.counted("compact").values()), String(diesAt)).toBeLessThanOrEqual(2);
    }
  }, 60_000);

  it("at any await of a day's visits: each idle one is visited, few of them twice", async () => {
    const idle = ofShard(11, 20);
    for (let diesAt = 1; diesAt <= 60; diesAt++) {
      const world = new ShardWorld();
      await world.scheduler.run(world.shards[11]!.brain.enter(idle.map((id) => ({ id, rhythms: [] }))));
      world.diesAt = world.awaits + diesAt;
      await world.pass(DAY_MS);
      expect(world.counted("idle").size, String(diesAt)).toBe(20);
      expect([...world.counted("idle").values()].filter((count) => count > 1).length, String(diesAt)).toBeLessThanOrEqual(6);
    }
  });

  it("behind the end of its last cluster, before KV is told: the next tick tells KV, and none comes any more", async () => {
    const world = new ShardWorld();
    world.answer = () => ({ found: "left" });
    await world.enter("blue");
    await world.pass(5 * MINUTE_MS);
    const shard = world.shardOf("blue");
    const tell = world.tell.bind(world);
    world.tell = () => new Promise<never>(() => undefined);
    await world.scheduler.run(shard.brain.leave("blue"));
    shard.die();
    world.tell = tell;
    expect([world.told.get(shardKey(shard.number)), shard.storage.ids()]).toEqual([{ minute: true, hour: false }, []]);
    world.pokes = 0;
    await world.pass(HOUR_MS);
    expect([world.told.get(shardKey(shard.number)), world.pokes]).toEqual([{ minute: false, hour: false }, 1]);
    await world.pass(DAY_MS);
    const { alarms } = shard;
    await world.pass(2 * DAY_MS);
    expect([shard.alarms, world.pokes], "nothing goes on there").toEqual([alarms, 1]);
  });

  it("before `enter` has answered: the cluster is there, or the caller tells again", async () => {
    const world = new ShardWorld();
    world.diesAt = 1;
    void world.shardOf("blue").brain.enter([{ id: "blue", rhythms: ["minute"] }]);
    await world.scheduler.pass(1_000);
    expect(world.shardOf("blue").storage.has("blue")).toBe(true);
    await world.enter("blue");
    await world.pass(3 * MINUTE_MS);
    expect(world.visits.length).toBeGreaterThanOrEqual(1);
  });
});
