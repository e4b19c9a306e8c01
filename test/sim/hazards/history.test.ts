/** Hazards of a store's history: what watchers and cursors may see. docs/protocol.md has the list; each is played message by message. */
import { describe, expect, it } from "vitest";
import { ObjectFeedReader } from "../../../src/api/store/object-feed-reader";
import { objectOf } from "../../support/sim/api";
import { aLease, StoreWorld } from "../../support/worlds/store-world";

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
    world.storage.historyTrim(head);
    const state = world.storage.stateLoad();
    if (state) world.storage.stateSave({ ...state, floor: head });
    world.restart();
    expect([world.store.revision, world.store.floor]).toEqual([head, head]);
    const created = await world.create(aLease("c"));
    expect(Number(objectOf(created).metadata?.resourceVersion)).toBeGreaterThan(head);
    expect(feed().objectsSince(behind, 10).kind).toBe("expired");
    expect(feed().objectsSince({ ...behind, revision: head + 100 }, 10).kind).toBe("expired");
    expect(feed().objectsSince({ incarnation: "another", revision: head }, 10).kind).toBe("expired");
  });
});
