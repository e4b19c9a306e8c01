import { describe, expect, it } from "vitest";
import { WATCH_BACKLOG_MAX_BYTES, WATCH_BOOKMARK_INTERVAL_MS, WATCH_TIMEOUT_MIN_MS } from "../../../../src/api/store/limits";
import { aLease, StoreWorld } from "../../../support/worlds/store-world";

describe("bookmarks", () => {
  it("bookmarks: come about every minute with the newest published revision, and never without the flag", async () => {
    const world = new StoreWorld();
    const [asked, silent] = [world.watch({ allowWatchBookmarks: true }), world.watch()];
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS + 1_000);
    await world.create(aLease("a"));
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS);
    expect(asked.brief).toEqual(["BOOKMARK @1", "ADDED a@2", "BOOKMARK @2"]);
    expect(silent.brief).toEqual(["ADDED a@2"]);
    expect(asked.text.split("\n")[0]).toBe(
      '{"type":"BOOKMARK","object":{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"1","creationTimestamp":null}}}',
    );
  });

  it("a bookmark comes once shortly before the end", async () => {
    const world = new StoreWorld();
    const watch = world.watch({ allowWatchBookmarks: true, timeoutSeconds: 10 });
    await world.scheduler.pass(7_000);
    expect(watch.brief).toEqual([]);
    await world.scheduler.pass(2_000);
    expect(watch.brief).toEqual(["BOOKMARK @1"]);
    await world.scheduler.pass(5_000);
    expect([watch.brief, watch.state]).toEqual([["BOOKMARK @1"], "ended"]);
  });

  it("a watch that is too short for a bookmark: gets none", async () => {
    const world = new StoreWorld();
    const watch = world.watch({ allowWatchBookmarks: true, timeoutSeconds: 2 });
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
  it("are counted by resource, version and scope", () => {
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
    for (const name of ["a", "b", "c", "d"]) await world.create(large(name));
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
    for (const name of ["a", "b", "c", "d"]) await world.create(large(name));
    const watch = world.watch();
    watch.slow = true;
    for (const name of ["e", "f", "g", "h"]) await world.create(large(name));
    await world.scheduler.pass(0);
    expect(watch.state).toBe("aborted");
  });
});
