/** Hazards of a store's history: what watchers and cursors may see. docs/internals/protocol.md has the list; each is played message by message. */
import { describe, expect, it } from "vitest";
import { ObjectFeedReader } from "../../../src/api/store/feeds/object-feed-reader";
import { objectOf } from "../../support/sim/api";
import { forgetHistory } from "../../support/worlds/stored-history";
import { aLease, createRequest, StoreWorld } from "../../support/worlds/store-world";

describe("hazards", () => {
  it("hazard 9: a change that is written and not durable: no watcher sees it", async () => {
    const world = new StoreWorld();
    const watch = world.watch();
    world.storage.holdSync();
    void world.create(aLease("a")).catch(() => undefined);
    await world.scheduler.pass(1_000);
    expect(watch.brief, "written, not durable").toEqual([]);
    world.storage.failSync();
    await world.scheduler.pass(1_000);
    expect([watch.brief, watch.state]).toEqual([[], "ended"]);
  });

  it("hazard 14: a restart after the newest object was deleted and the history trimmed: revisions go on, and foreign cursors are expired", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const feed = (): ObjectFeedReader => new ObjectFeedReader(world.store);
    const behind = feed().objectsAfter("", 10).cursor;
    await world.create(aLease("b"));
    await world.delete("b");
    const head = world.store.revision;
    forgetHistory(world.storage, head);
    world.restart();
    expect([world.store.revision, world.store.floor]).toEqual([head, head]);
    const created = await world.create(aLease("c"));
    expect(Number(objectOf(created).metadata?.resourceVersion)).toBeGreaterThan(head);
    expect(feed().objectsSince(behind, 10).kind).toBe("expired");
    expect(feed().objectsSince({ ...behind, revision: head + 100 }, 10).kind).toBe("expired");
    expect(feed().objectsSince({ incarnation: "another", revision: head }, 10).kind).toBe("expired");
  });

  it("hazard 14: a server that starts on older data again and again: no revision is given out twice, and a cursor of a lost life is expired", async () => {
    const world = new StoreWorld({ serverStartedAt: Date.UTC(2026, 10, 1) });
    await world.create(aLease("kept"));
    const putBack = world.storage.remembered();
    const given = new Set<string>();
    for (let life = 1; life <= 5; life++) {
      putBack();
      world.restart(Date.UTC(2026, 10, 1) + life * 60_000);
      const feed = new ObjectFeedReader(world.store);
      for (const revision of given)
        expect(feed.objectsSince({ incarnation: world.store.incarnation, revision: Number(revision) }, 10).kind).toBe("expired");
      for (let i = 0; i < 20; i++) {
        const { metadata } = objectOf(await world.create(aLease(`lost-${i}`)));
        expect(given.has(metadata?.resourceVersion ?? "")).toBe(false);
        given.add(metadata?.resourceVersion ?? "");
      }
    }
    expect(given.size).toBe(100);
  });

  it("hazard 14: a restore while a watch begins and a write waits: the watch ends or is of the new life, and the write has a revision above", async () => {
    const world = new StoreWorld();
    for (let i = 0; i < 5; i++) await world.create(aLease(`a-${i}`));
    world.storage.holdSync();
    const before = world.watch({ resourceVersion: "2" });
    const begun = world.store.beginAbove(4_711, world.scheduler.clock().now());
    const written = world.store.write(createRequest(aLease("b")));
    await world.scheduler.pass(100);
    world.storage.releaseSync();
    await world.scheduler.run(begun);
    const { metadata } = objectOf(await world.scheduler.run(written));
    expect(before.state).toBe("ended");
    expect(Number(metadata?.resourceVersion)).toBeGreaterThan(1_000_004_711);
    const after = world.watch({ resourceVersion: "1000004711" });
    await world.scheduler.pass(100);
    expect(after.brief.filter((event) => event.startsWith("ADDED"))).toEqual([`ADDED b@${metadata?.resourceVersion ?? ""}`]);
    expect(after.brief).toHaveLength(6);
  });
});
