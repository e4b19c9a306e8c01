import { describe, expect, it } from "vitest";
import type { HistoryEntry } from "../../../../../src/api/store/state/store-storage";
import {
  WATCH_BACKLOG_MAX_BYTES,
  WATCH_BOOKMARK_INTERVAL_MS,
  WATCH_FLUSH_HELD_MAX_BYTES,
  WATCH_FLUSH_MAX_CHARS,
  WATCH_HELD_MAX_BYTES,
  WATCH_QUEUE_MAX_CHARS,
  WATCH_STEPS_PER_TURN,
  WATCH_TIMEOUT_MIN_MS,
} from "../../../../../src/api/store/state/limits";
import type { Clock } from "../../../../../src/core/base/ports";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { aLease, createRequest, StoreWorld } from "../../../../support/worlds/store-world";

/** Its clock is ahead of its sleeps, as on a machine that stood still. */
class LateScheduler extends SimScheduler {
  lateMs = 0;

  override clock(isAlive?: () => boolean): Clock {
    return { ...super.clock(isAlive), now: () => this.now + this.lateMs };
  }
}

describe("bookmarks", () => {
  it("bookmarks: come about every minute with the newest published revision, and never without the flag", async () => {
    const world = new StoreWorld();
    const [asked, silent] = [world.watch({ resourceVersion: "1", allowWatchBookmarks: true }), world.watch({ resourceVersion: "1" })];
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS + 1_000);
    await world.create(aLease("a"));
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS);
    expect(asked.brief).toEqual(["BOOKMARK @1", "ADDED a@2", "BOOKMARK @2"]);
    expect(silent.brief).toEqual(["ADDED a@2"]);
    expect(asked.text.split("\n")[0]).toBe(
      '{"type":"BOOKMARK","object":{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"1"}}}',
    );
  });

  it("the end of a watch: one bookmark shortly before", async () => {
    const world = new StoreWorld();
    const watch = world.watch({ resourceVersion: "1", allowWatchBookmarks: true, timeoutSeconds: 10 });
    await world.scheduler.pass(7_000);
    expect(watch.brief).toEqual([]);
    await world.scheduler.pass(2_000);
    expect(watch.brief).toEqual(["BOOKMARK @1"]);
    await world.scheduler.pass(5_000);
    expect([watch.brief, watch.state]).toEqual([["BOOKMARK @1"], "ended"]);
  });

  it("a look so late that the last bookmark and the end are due: the bookmark comes first", async () => {
    const scheduler = new LateScheduler();
    const watch = new StoreWorld({ scheduler }).watch({ resourceVersion: "1", allowWatchBookmarks: true, timeoutSeconds: 10 });
    scheduler.lateMs = 12_000;
    await scheduler.pass(5_000);
    expect([watch.brief, watch.state]).toEqual([["BOOKMARK @1"], "ended"]);
  });

  it("a watch that is too short for a bookmark: gets none", async () => {
    const world = new StoreWorld();
    const watch = world.watch({ resourceVersion: "1", allowWatchBookmarks: true, timeoutSeconds: 2 });
    await world.scheduler.pass(5_000);
    expect([watch.brief, watch.state]).toEqual([[], "ended"]);
  });
});

describe("probes", () => {
  it("probes: come about every minute where there are no bookmarks, and find a client that left silently", async () => {
    const world = new StoreWorld();
    const [asked, silent] = [world.watch({ allowWatchBookmarks: true }), world.watch()];
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS - 1_000);
    expect(silent.probes).toBe(0);
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS + 2_000);
    expect([silent.probes, silent.text, asked.probes]).toEqual([2, "", 0]);
    silent.stop();
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS * 2);
    expect(silent.probes).toBe(2);
  });
});

describe("open watches", () => {
  it("open watches: counted by resource, version and scope", () => {
    const world = new StoreWorld();
    world.watch();
    world.watch();
    world.watch({ namespace: "a" });
    world.watch({ namespace: "a", fieldSelector: "metadata.name=b" }).stop();
    world.watch({ namespace: "a", fieldSelector: "metadata.name=b" });
    const { group, version, resource } = world.store.hub.open[0] ?? {};
    expect({ group, resource }).toEqual({ group: "coordination.k8s.io", resource: "leases" });
    expect(world.store.hub.open).toEqual([
      { group, version, resource, scope: "cluster", count: 2 },
      { group, version, resource, scope: "namespace", count: 1 },
      { group, version, resource, scope: "resource", count: 1 },
    ]);
  });
});

describe("the end", () => {
  it("timeoutSeconds: ends the watch properly, and the watcher is forgotten", async () => {
    const world = new StoreWorld();
    const watch = world.watch({ timeoutSeconds: 5 });
    await world.scheduler.pass(4_900);
    expect([watch.state, world.store.hub.size]).toEqual(["open", 1]);
    await world.scheduler.pass(1_100);
    expect([watch.state, world.store.hub.size]).toEqual(["ended", 0]);
    await world.create(aLease("a"));
    expect(watch.text).toBe("");
  });

  it("watches without a timeout: end after half an hour to an hour, at different times", async () => {
    const world = new StoreWorld();
    const watches = Array.from({ length: 20 }, () => world.watch());
    await world.scheduler.pass(WATCH_TIMEOUT_MIN_MS - 1_000);
    expect(watches.every(({ state }) => state === "open")).toBe(true);
    await world.scheduler.pass(WATCH_TIMEOUT_MIN_MS / 2);
    const open = watches.filter(({ state }) => state === "open").length;
    expect([open > 0, open < 20]).toEqual([true, true]);
    await world.scheduler.pass(WATCH_TIMEOUT_MIN_MS);
    expect([watches.every(({ state }) => state === "ended"), world.store.hub.size]).toEqual([true, 0]);
  });

  it("stop: ends the watch, any number of times; nothing is written after it", async () => {
    const world = new StoreWorld();
    const watches = [world.watch(), world.watch()];
    watches[0]?.stop();
    watches[0]?.stop();
    expect(world.store.hub.size).toBe(1);
    await world.create(aLease("a"));
    await world.scheduler.pass(0);
    expect(watches.map(({ brief }) => brief)).toEqual([[], ["ADDED a@2"]]);
    watches[1]?.stop();
    expect(world.store.hub.size).toBe(0);
    // A later watch is tended again.
    const later = world.watch({ timeoutSeconds: 5 });
    await world.scheduler.pass(7_000);
    expect(later.state).toBe("ended");
  });

  it("endAll: ends every watch properly", () => {
    const world = new StoreWorld();
    const watches = [world.watch(), world.watch()];
    world.store.hub.endAll();
    expect([watches.map(({ state }) => state), world.store.hub.size]).toEqual([["ended", "ended"], 0]);
  });
});

describe("a slow watcher", () => {
  const large = (name: string) => aLease(name, { holderIdentity: "x".repeat(400_000) });

  it("a watcher whose backlog grows beyond the bound: is cut off; the others go on", async () => {
    const world = new StoreWorld();
    const [slow, fast] = [world.watch(), world.watch()];
    slow.slow = true;
    for (const name of ["a", "b"]) await world.create(large(name));
    await world.scheduler.pass(0);
    expect([slow.state, slow.backlog < WATCH_BACKLOG_MAX_BYTES]).toEqual(["open", true]);
    for (const name of ["c", "d"]) await world.create(large(name));
    await world.scheduler.pass(0);
    expect([slow.state, fast.state, world.store.hub.size]).toEqual(["aborted", "open", 1]);
    expect([slow.events.length, fast.events.length]).toEqual([3, 4]);
    const resumed = world.watch({ resourceVersion: slow.events.at(-1)?.object.metadata?.resourceVersion ?? "" });
    await world.scheduler.pass(0);
    expect(resumed.events.map(({ object }) => object.metadata?.name)).toEqual(["d"]);
  });

  it("a large start: is no backlog, as long as the client takes it in the end", async () => {
    const world = new StoreWorld();
    for (const name of ["a", "b"]) await world.create(large(name));
    const watch = world.watch();
    watch.slow = true;
    await world.create(large("e"));
    await world.scheduler.pass(0);
    expect([watch.state, watch.backlog > WATCH_BACKLOG_MAX_BYTES]).toEqual(["open", true]);
    watch.backlog = 0;
    for (const name of ["f", "g"]) await world.create(large(name));
    await world.scheduler.pass(0);
    expect(watch.state).toBe("open");
    for (const name of ["h", "i"]) await world.create(large(name));
    await world.scheduler.pass(0);
    expect(watch.state).toBe("aborted");
  });

  it("a large start that is never taken: the watcher is cut off once more comes than the bound", async () => {
    const world = new StoreWorld();
    for (const name of ["a", "b"]) await world.create(large(name));
    const watch = world.watch();
    watch.slow = true;
    for (const name of ["e", "f", "g", "h"]) await world.create(large(name));
    await world.scheduler.pass(0);
    expect(watch.state).toBe("aborted");
  });
});

describe("a burst", () => {
  const many = WATCH_STEPS_PER_TURN * 3;
  const entry = (revision: number, size = 10, labels: Record<string, string> = {}): HistoryEntry => ({
    revision,
    type: "ADDED",
    key: `ns/l${revision}`,
    data: JSON.stringify(aLease(`l${revision}`, { holderIdentity: "x".repeat(size) }, { resourceVersion: String(revision), labels })),
    before: "",
  });
  const crowd = (world: StoreWorld, count = many) =>
    Array.from({ length: count }, () => world.watch({ resourceVersion: "1", allowWatchBookmarks: true }));

  it("a lone change: leaves in the turn of its publication", () => {
    const world = new StoreWorld();
    const watch = world.watch();
    world.store.hub.publish([entry(2)]);
    expect(watch.brief).toEqual(["ADDED l2@2"]);
  });

  it("changes published during a flush: wait for its end and are one chunk, the same bytes for all", async () => {
    const world = new StoreWorld();
    const watches = crowd(world);
    for (const revision of [2, 3, 4]) world.store.hub.publish([entry(revision)]);
    const [first, last] = [watches[0], watches.at(-1)];
    expect([first?.brief, last?.brief], "other work runs before the flush reaches everybody").toEqual([["ADDED l2@2"], []]);
    await world.scheduler.pass(0);
    for (const watch of watches) expect(watch.brief).toEqual(["ADDED l2@2", "ADDED l3@3", "ADDED l4@4"]);
    expect(watches.map(({ chunks }) => chunks.length)).toEqual(watches.map(() => 2));
    expect(watches.every(({ chunks }) => chunks[1] === first?.chunks[1])).toBe(true);
  });

  it("watchers with equal selectors: share the bytes; those with another selector get their own", async () => {
    const world = new StoreWorld();
    const [one, same, other] = ["app=a", "app=a", "app=b"].map((labelSelector) => world.watch({ labelSelector }));
    world.store.hub.publish([entry(2, 1, { app: "a" }), entry(3, 1, { app: "b" })]);
    await world.scheduler.pass(0);
    expect([one?.brief, other?.brief]).toEqual([["ADDED l2@2"], ["ADDED l3@3"]]);
    expect(same?.chunks[0]).toBe(one?.chunks[0]);
  });

  it("a bookmark during a flush: names the watcher's own place, not a revision that it still lacks", async () => {
    const world = new StoreWorld();
    const watches = crowd(world);
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS - 1);
    for (const watch of watches) watch.chunks.length = 0;
    const flood = world.scheduler.clock();
    const publish = async () => {
      for (let revision = 2; revision < 100; revision++) {
        world.store.hub.publish([entry(revision)]);
        await flood.nextTurn();
      }
    };
    await Promise.all([publish(), world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS)]);
    for (const { events } of watches) {
      let seen = 1;
      expect(events.some(({ type }) => type === "BOOKMARK")).toBe(true);
      for (const { type, object } of events) {
        const revision = Number(object.metadata?.resourceVersion);
        if (type === "BOOKMARK") expect(revision).toBe(seen);
        else expect(revision).toBe(++seen);
      }
      expect(seen).toBe(99);
    }
  });

  it("a large burst: is handed out in bounded chunks, and no healthy watcher is cut off", async () => {
    const world = new StoreWorld();
    const watch = world.watch();
    const size = 60_000;
    const revisions = Array.from({ length: 40 }, (_, i) => i + 2);
    world.store.hub.publish(revisions.map((revision) => entry(revision, size)));
    await world.scheduler.pass(0);
    expect(watch.events.map(({ object }) => Number(object.metadata?.resourceVersion))).toEqual(revisions);
    expect(Math.max(...watch.chunks.map(({ length }) => length))).toBeLessThan(WATCH_FLUSH_MAX_CHARS + size);
    expect(watch.state).toBe("open");
  });

  it("more text in each turn than a chunk holds at first, for long: chunks grow, and a watcher that takes them gets everything", async () => {
    const world = new StoreWorld();
    const watch = world.watch();
    const flood = world.scheduler.clock();
    let revision = 1;
    let delivered = 0;
    let largest = 0;
    const publish = async () => {
      for (let turn = 0; turn < 200; turn++) {
        const changes = Array.from({ length: 16 }, () => entry(++revision, 25_000));
        world.store.hub.publish(changes.map((change): HistoryEntry => ({ ...change, type: "MODIFIED", before: change.data })));
        await flood.nextTurn();
        delivered += watch.events.length;
        largest = Math.max(largest, ...watch.chunks.splice(0).map(({ length }) => length));
      }
    };
    await Promise.all([publish(), world.scheduler.pass(0)]);
    expect([watch.state, delivered + watch.events.length]).toEqual(["open", revision - 1]);
    expect(largest).toBeLessThan(WATCH_BACKLOG_MAX_BYTES);
  });

  it("more text waiting than the bound: every watch ends properly, and later ones are served", async () => {
    const world = new StoreWorld();
    const watches = crowd(world);
    const size = 1_000_000;
    for (let revision = 2; revision < 4 + WATCH_QUEUE_MAX_CHARS / size; revision++) world.store.hub.publish([entry(revision, size)]);
    expect([new Set(watches.map(({ state }) => state)), world.store.hub.size]).toEqual([new Set(["ended"]), 0]);
    await world.scheduler.pass(0);
    const later = world.watch();
    world.store.hub.publish([entry(1_000)]);
    expect(later.brief).toEqual(["ADDED l1000@1000"]);
  });

  it("one turn larger than the bound: is delivered, and no watch ends", async () => {
    const world = new StoreWorld();
    const watch = world.watch();
    const size = 4_000_000;
    const revisions = Array.from({ length: 2 + Math.ceil(WATCH_QUEUE_MAX_CHARS / size) }, (_, i) => i + 2);
    world.store.hub.publish(revisions.map((revision) => entry(revision, size)));
    await world.scheduler.pass(0);
    expect(watch.state).toBe("open");
    expect(watch.events.map(({ object }) => Number(object.metadata?.resourceVersion))).toEqual(revisions);
  });

  it("the last watcher leaves during a flush: what waits for it is dropped, and is no burden to later watchers", async () => {
    const world = new StoreWorld();
    const watches = crowd(world);
    const size = WATCH_QUEUE_MAX_CHARS / 2;
    world.store.hub.publish([entry(2)]);
    world.store.hub.publish([entry(3, size)]);
    world.store.hub.publish([entry(4, size)]);
    for (const { stop } of watches) stop();
    await world.scheduler.pass(0);
    const later = crowd(world);
    for (const revision of [1_001, 1_002, 1_003]) world.store.hub.publish([entry(revision)]);
    await world.scheduler.pass(0);
    expect(new Set(later.map(({ state, brief }) => `${state} ${String(brief.length)}`))).toEqual(new Set(["open 3"]));
  });

  it("a large turn: each chunk of a flush is written in a turn of its own", async () => {
    const world = new StoreWorld();
    const watch = world.watch();
    world.store.hub.publish([2, 3, 4].map((revision) => entry(revision, WATCH_FLUSH_MAX_CHARS)));
    expect(watch.brief).toEqual(["ADDED l2@2"]);
    await world.scheduler.pass(0);
    expect(watch.brief).toEqual(["ADDED l2@2", "ADDED l3@3", "ADDED l4@4"]);
  });

  it("a change published in any turn around the end of a flush: is delivered without another change", async () => {
    for (let turns = 0; turns < 20; turns++) {
      const world = new StoreWorld();
      const watches = crowd(world);
      world.store.hub.publish([entry(2)]);
      const published = (async () => {
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        world.store.hub.publish([entry(3)]);
      })();
      const passed = world.scheduler.pass(0);
      await Promise.all([published, passed]);
      await world.scheduler.pass(0);
      expect(watches.map(({ brief }) => brief.length)).toEqual(watches.map(() => 2));
    }
  });

  it("slow watchers of many cohorts: the slowest are cut off until all hold no more than the bound", async () => {
    const world = new StoreWorld();
    const cohorts = WATCH_HELD_MAX_BYTES / WATCH_BACKLOG_MAX_BYTES + 8;
    const slow = Array.from({ length: cohorts }, (_, i) => world.watch({ labelSelector: `app!=a${i}` }));
    const fast = world.watch();
    for (const watch of slow) watch.slow = true;
    for (let revision = 2; revision < 7; revision++) {
      world.store.hub.publish([entry(revision, 200_000)]);
      await world.scheduler.pass(0);
    }
    const open = slow.filter(({ state }) => state === "open");
    expect(open.reduce((sum, { backlog }) => sum + backlog, 0)).toBeLessThanOrEqual(WATCH_HELD_MAX_BYTES);
    expect(slow.length - open.length, "no more of them than needed").toBe(7);
    expect([fast.state, fast.events.length]).toEqual(["open", 5]);
  });

  it("slow watchers of very many cohorts: are cut off during one flush, too", async () => {
    const world = new StoreWorld();
    const text = 200_000;
    const slow = Array.from({ length: (2 * WATCH_HELD_MAX_BYTES) / text }, (_, i) => world.watch({ labelSelector: `app!=a${i}` }));
    const open = () => slow.filter(({ state }) => state === "open");
    const held = () => open().reduce((sum, { backlog }) => sum + backlog, 0);
    let most = 0;
    for (const watch of slow) {
      watch.slow = true;
      const write = watch.write.bind(watch);
      watch.write = (bytes) => {
        write(bytes);
        most = Math.max(most, held());
      };
    }
    world.store.hub.publish([entry(2, text)]);
    await world.scheduler.pass(0);
    const ofOneTurn = (WATCH_STEPS_PER_TURN + 1) * text;
    expect(most).toBeLessThanOrEqual(WATCH_HELD_MAX_BYTES + WATCH_FLUSH_HELD_MAX_BYTES + ofOneTurn);
    expect(held()).toBeLessThanOrEqual(WATCH_HELD_MAX_BYTES);
    expect(open().every(({ events }) => events.length === 1)).toBe(true);
  });

  it("a change that cannot be encoded: ends every watch, is logged, and later changes are delivered", async () => {
    const world = new StoreWorld();
    const [watch] = [world.watch({ labelSelector: "app=a" })];
    world.store.hub.publish([{ ...entry(2), data: "{" }]);
    await world.scheduler.pass(0);
    expect([watch?.state, world.logged]).toEqual(["ended", [{ level: "error", event: "a store did not publish its changes" }]]);
    const later = world.watch();
    world.store.hub.publish([entry(3)]);
    expect(later.brief).toEqual(["ADDED l3@3"]);
  });

  it.each([1, 2, 3, 4, 5])(
    "watchers that come and stop during flushes: each sees all changes since it came, in order (seed %i)",
    async (seed) => {
      const world = new StoreWorld({ seed });
      const random = seededRandom(seed);
      const watches: { watch: ReturnType<StoreWorld["watch"]>; since: number }[] = [];
      const join = () => {
        const since = world.store.revision;
        watches.push({ watch: world.watch({ resourceVersion: String(since), allowWatchBookmarks: random.below(2) === 0 }), since });
      };
      for (let i = 0; i < many; i++) join();
      const writes: Promise<unknown>[] = [];
      for (let i = 0; i < 200; i++) {
        writes.push(world.store.write(createRequest(aLease(`l${i}`))));
        if (random.below(3) === 0) await world.scheduler.pass(random.below(2));
        if (random.below(4) === 0) join();
        if (random.below(10) === 0) watches[random.below(watches.length)]?.watch.stop();
      }
      await world.scheduler.run(Promise.all(writes));
      await world.scheduler.pass(0);
      for (const { watch, since } of watches) {
        const revisions = watch.events.map(({ object }) => Number(object.metadata?.resourceVersion));
        expect(revisions).toEqual(revisions.map((_, i) => since + 1 + i));
      }
      expect(watches.filter(({ watch, since }) => watch.events.length === world.store.revision - since).length).toBeGreaterThan(many / 2);
    },
  );
});
