import { describe, expect, it } from "vitest";
import { Announcer } from "../../../../../src/api/store/engine/announcer";
import { WATCH_BOOKMARK_INTERVAL_MS } from "../../../../../src/api/store/state/limits";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";

/** An announcer on a disk whose syncs end when the test says so. */
class SlowDisk {
  readonly #syncs: { resolve(): void; reject(error: Error): void }[] = [];
  readonly done: string[] = [];
  readonly announcer = new Announcer(
    {
      resource: "leases",
      clock: new SimScheduler().clock(),
      recorder: { log: () => undefined },
      storage: { sync: () => new Promise((resolve, reject) => void this.#syncs.push({ resolve, reject })) },
    },
    1,
  );

  get syncs(): number {
    return this.#syncs.length;
  }

  ask(name: string): void {
    this.announcer.after(() => void this.done.push(name)).catch((error: unknown) => this.done.push(`${name}: ${String(error)}`));
  }

  async synced(number: number, error?: Error): Promise<void> {
    const sync = this.#syncs[number];
    if (error) sync?.reject(error);
    else sync?.resolve();
    await this.turn();
  }

  /** Everything runs that waits for nothing. */
  turn(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve));
  }
}

describe("what waits until it is durable", () => {
  it("works of one turn: share one sync, and run in their order", async () => {
    const disk = new SlowDisk();
    for (const name of ["a", "b", "c"]) disk.ask(name);
    await disk.turn();
    expect([disk.syncs, disk.done]).toEqual([1, []]);
    await disk.synced(0);
    expect([disk.syncs, disk.done]).toEqual([1, ["a", "b", "c"]]);
  });

  it("works asked for during a sync: wait for one more, which may have begun after their commit", async () => {
    const disk = new SlowDisk();
    disk.ask("a");
    await disk.turn();
    disk.ask("b");
    disk.ask("c");
    await disk.synced(0);
    expect([disk.syncs, disk.done]).toEqual([2, ["a"]]);
    await disk.synced(1);
    expect([disk.syncs, disk.done]).toEqual([2, ["a", "b", "c"]]);
  });

  it("a sync that fails: fails the works that waited for it, and no others", async () => {
    const disk = new SlowDisk();
    disk.ask("a");
    disk.ask("b");
    await disk.turn();
    disk.ask("c");
    await disk.synced(0, new Error("no disk"));
    await disk.synced(1);
    expect(disk.done).toEqual(["a: Error: no disk", "b: Error: no disk", "c"]);
  });
});

describe("many watchers of a store whose commits take time", () => {
  const COMMIT_MS = 10;

  it("bookmarks of a thousand watchers: hold up the next change by some commits, not by a thousand", async () => {
    const world = new StoreWorld();
    const watches = Array.from({ length: 1_000 }, () => world.watch({ resourceVersion: "1", allowWatchBookmarks: true }));
    const clock = world.scheduler.clock();
    world.storage.sync = () => clock.sleep(COMMIT_MS);
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS);
    await world.create(aLease("a"));
    await world.scheduler.pass(10 * COMMIT_MS);
    expect(watches.at(-1)?.brief).toEqual(["BOOKMARK @1", "ADDED a@2"]);
  });

  it("a thousand watchers that come back at once: have what they missed after some commits", async () => {
    const world = new StoreWorld();
    const clock = world.scheduler.clock();
    await world.create(aLease("a"));
    world.storage.sync = () => clock.sleep(COMMIT_MS);
    const watches = Array.from({ length: 1_000 }, () => world.watch({ resourceVersion: "1" }));
    await world.scheduler.pass(10 * COMMIT_MS);
    expect(watches.at(-1)?.brief).toEqual(["ADDED a@2"]);
  });
});
