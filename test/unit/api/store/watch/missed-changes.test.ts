/** A client that comes back to more changes than one turn sends. */
import { describe, expect, it } from "vitest";
import {
  MISSED_CHANGES_BACKLOG_BYTES,
  MISSED_CHANGES_MAX_CHARS,
  MISSED_CHANGES_STALLED_MS,
  WATCH_FLUSH_MAX_CHARS,
} from "../../../../../src/api/store/state/limits";
import type { HistoryBounds } from "../../../../../src/api/store/state/revisions";
import { aLease, StoreWorld, Watched } from "../../../../support/worlds/store-world";

const CHARS = 20_000;
/** Twice as many as one turn sends. */
const CHANGES = Math.ceil((2 * MISSED_CHANGES_MAX_CHARS) / CHARS);

const large = (name: string, labels: Record<string, string> = {}) => aLease(name, { holderIdentity: "x".repeat(CHARS) }, { labels });

/** Leases a0, a1, … of 20 KB; every third one is red. */
async function missed(historyBounds?: HistoryBounds): Promise<StoreWorld> {
  const world = new StoreWorld(historyBounds ? { historyBounds } : {});
  for (let i = 0; i < CHANGES; i++) await world.create(large(`a${i}`, i % 3 === 0 ? { color: "red" } : {}));
  return world;
}

const events = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `ADDED a${from + i}@${from + i + 2}`);

const sizeOf = (watch: Watched): number => watch.chunks.reduce((sum, { length }) => sum + length, 0);

/** A sink that cannot tell what its client has taken. */
class BlindWatched extends Watched {
  readonly isBlind = true;
  override slow = true;
}

/** Counts how often its backlog is looked at. */
class LookedAt extends Watched {
  looks = 0;
  override slow = true;

  override backlogBytes(): number {
    this.looks++;
    return super.backlogBytes();
  }
}

describe("a client that has missed very much", () => {
  it("gets every change once, in order and in bounded chunks, with those that come meanwhile and later", async () => {
    const world = await missed();
    const watch = world.watch({ resourceVersion: "1" });
    await world.create(aLease(`a${CHANGES}`));
    await world.scheduler.pass(0);
    await world.create(aLease(`a${CHANGES + 1}`));
    await world.scheduler.pass(0);
    expect(watch.brief).toEqual(events(0, CHANGES + 2));
    expect(Math.max(...watch.chunks.map(({ length }) => length))).toBeLessThan(WATCH_FLUSH_MAX_CHARS + 20 * CHARS);
    expect(watch.state).toBe("open");
  });

  it("large objects: no chunk is larger than one flush and one object", async () => {
    const world = new StoreWorld();
    const chars = 300_000;
    for (let i = 0; i < 20; i++) await world.create(aLease(`a${i}`, { holderIdentity: "x".repeat(chars) }));
    const watch = world.watch({ resourceVersion: "1" });
    await world.scheduler.pass(0);
    expect(watch.brief).toEqual(events(0, 20));
    expect(Math.max(...watch.chunks.map(({ length }) => length))).toBeLessThan(WATCH_FLUSH_MAX_CHARS + chars + 1_000);
  });

  it("changes in every turn until it has caught up: nothing is lost or told twice", async () => {
    const world = await missed();
    const watch = world.watch({ resourceVersion: "1" });
    for (let i = 0; i < 40; i++) await world.create(aLease(`a${CHANGES + i}`));
    await world.scheduler.pass(0);
    expect(watch.brief).toEqual(events(0, CHANGES + 40));
  });

  it("a selector: only what it sees, and what leaves it is DELETED", async () => {
    const world = await missed();
    const watch = world.watch({ resourceVersion: "1", labelSelector: "color=red" });
    await world.patch("a3", "merge", { metadata: { labels: { color: null } } });
    await world.scheduler.pass(0);
    const reds = events(0, CHANGES).filter((_, i) => i % 3 === 0);
    expect(watch.brief).toEqual([...reds, `DELETED a3@${CHANGES + 2}`]);
  });

  it("a slow client: gets no more than its backlog until it takes that", async () => {
    const world = await missed();
    const watch = world.watch({ resourceVersion: "1" });
    watch.slow = true;
    await world.scheduler.pass(MISSED_CHANGES_STALLED_MS / 2);
    expect(sizeOf(watch)).toBeGreaterThan(MISSED_CHANGES_BACKLOG_BYTES);
    expect(sizeOf(watch)).toBeLessThan(MISSED_CHANGES_BACKLOG_BYTES + WATCH_FLUSH_MAX_CHARS + 20 * CHARS);
    watch.slow = false;
    watch.backlog = 0;
    await world.scheduler.pass(2_000);
    expect([watch.brief, watch.state]).toEqual([events(0, CHANGES), "open"]);
  });

  it("a client that takes nothing: is looked at seldom, and the watch ends", async () => {
    const world = await missed();
    const watch = new LookedAt(world, { resourceVersion: "1" });
    await world.scheduler.pass(MISSED_CHANGES_STALLED_MS / 2);
    expect(watch.state).toBe("open");
    await world.scheduler.pass(MISSED_CHANGES_STALLED_MS);
    expect([watch.state, world.store.hub.size]).toEqual(["ended", 0]);
    expect(watch.looks).toBeLessThan(60);
  });

  it("a client that takes a little in time: keeps its watch", async () => {
    const world = await missed();
    const watch = new LookedAt(world, { resourceVersion: "1" });
    await world.scheduler.pass(0);
    for (let i = 0; i < 4; i++) {
      watch.backlog -= 1_000;
      await world.scheduler.pass(MISSED_CHANGES_STALLED_MS - 5_000);
    }
    expect(watch.state).toBe("open");
  });

  it("a client of which nobody knows what it took: the watch ends, and the next one goes on from there", async () => {
    const world = await missed();
    const seen: string[] = [];
    for (let from = "1", round = 0; seen.length < CHANGES && round < CHANGES; round++) {
      const request = { resourceVersion: from };
      const watch = new BlindWatched(world, request);
      await world.scheduler.pass(1_000);
      seen.push(...watch.brief);
      from = watch.brief.at(-1)?.split("@")[1] ?? from;
      expect(watch.state).toBe(seen.length < CHANGES ? "ended" : "open");
    }
    expect(seen).toEqual(events(0, CHANGES));
  });

  it("the history goes before the client has it: 410, and the end", async () => {
    const bounds = { entriesMax: 1_000, sizeMax: 1e9, trimEntries: 1 };
    const world = await missed(bounds);
    const watch = world.watch({ resourceVersion: "1" });
    watch.slow = true;
    await world.scheduler.pass(1_000);
    bounds.entriesMax = 3;
    world.store.compact();
    watch.backlog = 0;
    await world.scheduler.pass(1_000);
    expect(watch.events.at(-1)).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    expect(watch.state).toBe("ended");
    expect(world.store.hub.size).toBe(0);
  });

  it.each([
    ["stop", (_: StoreWorld, watch: Watched) => watch.stop(), "open"],
    ["the end of all watches", (world: StoreWorld) => world.store.hub.endAll(), "ended"],
  ] as const)("%s meanwhile: nothing is written after it", async (_, end, state) => {
    const world = await missed();
    const watch = world.watch({ resourceVersion: "1" });
    watch.slow = true;
    await world.scheduler.pass(1_000);
    const written = sizeOf(watch);
    end(world, watch);
    watch.backlog = 0;
    await world.scheduler.pass(1_000);
    expect([sizeOf(watch), watch.state, world.store.hub.size]).toEqual([written, state, 0]);
  });

  it("its time is over meanwhile: the watch ends", async () => {
    const world = await missed();
    const watch = world.watch({ resourceVersion: "1", timeoutSeconds: 5, allowWatchBookmarks: true });
    watch.slow = true;
    await world.scheduler.pass(7_000);
    expect([watch.state, world.store.hub.size]).toEqual(["ended", 0]);
    expect(watch.events.some(({ type }) => type === "BOOKMARK")).toBe(false);
  });

  it("rule 21: a change that is not durable yet is not sent", async () => {
    const world = await missed();
    world.storage.holdSync();
    await world.create(aLease(`a${CHANGES}`));
    const watch = world.watch({ resourceVersion: "1" });
    await world.scheduler.pass(1_000);
    expect(watch.brief).toEqual(events(0, CHANGES));
    world.storage.releaseSync();
    await world.scheduler.pass(0);
    expect(watch.brief).toEqual(events(0, CHANGES + 1));
  });
});
