/** Rule 33 in random lives: renewals that nobody reads, beside informers, crashes and other readers. */
import { describe, expect, it } from "vitest";
import { leasesDefinition } from "../../../../../src/api/registry/leases/definition";
import { ObjectFeedReader } from "../../../../../src/api/store/feeds/object-feed-reader";
import type { CommittedChange } from "../../../../../src/api/store/state/extension";
import { LISTED_LATELY_MS } from "../../../../../src/api/store/state/limits";
import { rowsAt } from "../../../../../src/api/store/state/snapshot";
import { itOfSeeds } from "../../../../support/sim/platform/seeds";
import { RandomHistory, SELECTIONS } from "../../../../support/worlds/random-store-history";
import type { StoreWorld } from "../../../../support/worlds/store-world";

const DEFINITION = { definition: leasesDefinition };

/** The revisions that a controller pulls, so many at a time. */
function pulled(world: StoreWorld, since: number, limit: number): number[] {
  const feed = new ObjectFeedReader(world.store);
  const revisions: number[] = [];
  for (let cursor = { incarnation: world.store.incarnation, revision: since }; ;) {
    const answer = feed.objectsSince(cursor, limit);
    if (answer.kind === "expired") throw new Error(`expired at ${cursor.revision}`);
    expect(answer.changes.length).toBeLessThanOrEqual(limit);
    revisions.push(...answer.changes.map(({ revision }) => revision ?? 0));
    if (!answer.more) return revisions;
    cursor = answer.cursor;
  }
}

describe("random lives", () => {
  const exact =
    "watches, lists and pulls at any retained revision of unread changes (seed %i): are those of a history that is all on the disk";
  itOfSeeds(exact, { fixed: [1, 2], further: 2 }, async (seed) => {
    const unwritten = { entriesMax: 25, charsMax: 1e9 };
    const random = new RandomHistory(seed, { ...DEFINITION, historyBounds: { entriesMax: 40, sizeMax: 1e9, trimEntries: 5, unwritten } });
    const { world, past } = random;
    await random.steps(80);
    // What is not written is written by a reader or a death, which may have been the last step.
    const isTrimmed = (): boolean => world.store.floor > 1;
    const isUnwritten = (): boolean => world.storage.historySince(0, 1e3).length < world.store.revision - world.store.floor;
    for (let more = 0; more < 20 && !(isTrimmed() && isUnwritten()); more++) await random.steps(5);
    expect([isTrimmed(), isUnwritten()]).toEqual([true, true]);
    for (let since = world.store.floor; since <= world.store.revision; since++) {
      for (const { request, sees } of SELECTIONS) {
        const watch = world.watch({ ...request, resourceVersion: String(since) });
        await world.scheduler.pass(5);
        watch.stop();
        const seen = watch.events.map(({ type, object: { metadata } }) => ({
          type,
          key: `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`,
          revision: Number(metadata?.resourceVersion),
        }));
        expect(seen, `since ${since}, ${JSON.stringify(request)}`).toEqual(past.events(since, world.store.revision, sees));
      }
      const listed = [...rowsAt(world.store, { from: "", to: "" }, since)].map(({ key, data }) => ({ key, data }));
      expect(listed, `at ${since}`).toEqual(past.list(since, () => true));
      const later = past.events(since, world.store.revision, () => true).map(({ revision }) => revision);
      expect(pulled(world, since, 1 + random.below(6)), `pulled since ${since}`).toEqual(later);
    }
  });

  const met = { refusals: 0, unwritten: 0, written: 0, lives: 0 };
  const informer = "an informer under crashes, pauses and other readers (seed %i): misses nothing, and lists anew only after a loss";
  itOfSeeds(informer, { fixed: [1, 2, 3, 4, 5, 6], further: 6 }, async (seed) => {
    const changes: CommittedChange[] = [];
    const observer = { turnCommitted: (committed: readonly CommittedChange[]) => void changes.push(...committed) };
    const unwritten = { entriesMax: 12, charsMax: 1e9 };
    const random = new RandomHistory(seed, {
      ...{ ...DEFINITION, observers: [observer] },
      historyBounds: { entriesMax: 60, sizeMax: 1e9, trimEntries: 5, unwritten },
    });
    const { world } = random;
    const held = new Map<string, string>();
    const given = new Set<number>();
    let place = world.store.revision;
    for (let round = 0; round < 60; round++) {
      const watch = world.watch({ resourceVersion: String(place) });
      // Below the floor it lists, and only there.
      expect([watch.refused?.code, round], `place ${place}`).toEqual([place < world.store.floor ? 410 : undefined, round]);
      if (watch.refused) {
        met.refusals++;
        held.clear();
        for (const { key, revision } of world.storage.objectScan("", "")) held.set(key, String(revision));
        world.store.noteList();
        place = world.store.revision;
      }
      if (random.below(2) === 0) {
        watch.stop();
        if (random.below(2) === 0) await world.scheduler.pass(LISTED_LATELY_MS + 1_000);
      }
      const before = changes.length;
      await random.steps(1 + random.below(6));
      await world.scheduler.pass(10);
      for (const { type, object } of watch.events) {
        const revision = Number(object.metadata?.resourceVersion);
        expect(revision, `after ${place}`).toBeGreaterThan(place);
        place = revision;
        const key = `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`;
        if (type === "DELETED") held.delete(key);
        else held.set(key, String(revision));
      }
      for (const { revision } of changes.slice(before)) {
        expect(given.has(revision), `revision ${revision} twice`).toBe(false);
        given.add(revision);
      }
      // Exactly the later changes, from wherever the history reaches.
      const onDisk = world.storage.historySince(0, 1e6).length;
      met.written += onDisk;
      met.unwritten += world.history().length - onDisk;
      const since = Math.max(world.store.floor, random.pick([...given]));
      const resumed = world.watch({ resourceVersion: String(since) });
      await world.scheduler.pass(10);
      resumed.stop();
      const later = changes.filter(({ revision }) => revision > since).map(({ revision }) => revision);
      const seen = resumed.events.map(({ object }) => Number(object.metadata?.resourceVersion));
      expect(seen, `seed ${seed}, round ${round}, since ${since}`).toEqual(later);
      watch.stop();
      if (random.below(3) === 0) await world.scheduler.pass(LISTED_LATELY_MS + 1_000);
      if (random.below(6) === 0) world.store.compact();
      if (random.below(5) === 0) {
        world.storage.crashNext = random.pick(["beforeCommit", "afterCommit"] as const);
        await random.steps(1).catch(() => undefined);
        world.storage.crashNext = undefined;
        // Nobody was told whether its changes are stored.
        const told = changes.at(-1)?.revision ?? 0;
        changes.push(...world.storage.historySince(told, 100).map(({ revision, type, key }) => ({ revision, type, key, uid: "" })));
        met.lives++;
      }
      if (random.below(6) === 0) {
        world.restart();
        met.lives++;
      }
    }
    const last = world.watch({ resourceVersion: String(place) });
    await world.scheduler.pass(10);
    if (last.refused) return;
    for (const { type, object } of last.events) {
      const key = `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`;
      if (type === "DELETED") held.delete(key);
      else held.set(key, object.metadata?.resourceVersion ?? "");
    }
    const stored = [...world.storage.objectScan("", "")].map(({ key, revision }) => [key, String(revision)]);
    expect([...held].sort(), `seed ${seed}`).toEqual(stored.sort());
  });

  it("what the fixed seeds met: refusals after losses, and changes of both kinds", () => {
    expect(
      Object.values(met).every((count) => count > 0),
      JSON.stringify(met),
    ).toBe(true);
  });
});
