/** Rule 33: renewals that nobody reads have their history in memory alone. What a crash loses of it is 410, and nothing is a gap. */
import { describe, expect, it } from "vitest";
import { leasesDefinition } from "../../../../../src/api/registry/leases/definition";
import { ObjectFeedReader } from "../../../../../src/api/store/feeds/object-feed-reader";
import { ObjectLinksReader } from "../../../../../src/api/store/feeds/object-links-reader";
import { LISTED_LATELY_MS, REVISIONS_RESERVED } from "../../../../../src/api/store/state/limits";
import { rowsAt } from "../../../../../src/api/store/state/snapshot";
import { storedState } from "../../../../support/worlds/stored-history";
import { aLease, StoreWorld, type StoreWorldOptions } from "../../../../support/worlds/store-world";

const DEFINITION = { definition: leasesDefinition };

class LeaseWorld extends StoreWorld {
  #renewals = 0;

  constructor(options: Partial<StoreWorldOptions<undefined>> = {}) {
    super({ ...DEFINITION, ...options });
  }

  /** Answers the new revision. */
  async renew(name = "a"): Promise<number> {
    await this.patch(name, "merge", { spec: { holderIdentity: `h${this.#renewals++}` } });
    return this.store.revision;
  }

  /** The object dies; time passes, and nobody has come back. */
  async dies(serverStartedAt?: number): Promise<void> {
    this.restart(serverStartedAt);
    await this.forgets();
  }

  /** So long that nobody counts as a reader any more. */
  async forgets(): Promise<void> {
    await this.scheduler.pass(LISTED_LATELY_MS + 1_000);
  }

  /** Revisions of the history on the disk. */
  get onDisk(): number[] {
    return this.storage.historySince(0, 1e6).map(({ revision }) => revision);
  }

  /** What a watch from the revision gets at once, or the code of its refusal. */
  async since(revision: number): Promise<string[] | number> {
    const watch = this.watch({ resourceVersion: String(revision) });
    await this.scheduler.pass(10);
    watch.stop();
    return watch.refused?.code ?? watch.brief;
  }
}

async function oneLease(options: Partial<StoreWorldOptions<undefined>> = {}): Promise<LeaseWorld> {
  const world = new LeaseWorld(options);
  await world.create(aLease("a"));
  return world;
}

describe("a renewal that nobody reads", () => {
  it("unread renewals: no row of history, one of the state for a whole block of revisions; a watch from before gets each", async () => {
    const world = await oneLease();
    let saved = 0;
    const save = world.storage.stateSave.bind(world.storage);
    world.storage.stateSave = (state) => {
      saved++;
      save(state);
    };
    for (let i = 0; i < 2 * REVISIONS_RESERVED; i++) await world.renew();
    expect([world.onDisk, saved]).toEqual([[2], 2]);
    expect(world.history().length).toBe(1 + 2 * REVISIONS_RESERVED);
    const seen = await world.since(2);
    expect(seen).toEqual(Array.from({ length: 2 * REVISIONS_RESERVED }, (_, i) => `MODIFIED a@${i + 3}`));
    expect(world.stored("a")?.metadata?.resourceVersion).toBe(String(world.store.revision));
  });

  it("creates, deletes, and what garbage collection acts upon: are on the disk, whoever reads", async () => {
    const world = await oneLease();
    await world.renew();
    const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };
    await world.patch("a", "merge", { metadata: { ownerReferences: [owner] } });
    await world.renew();
    await world.patch("a", "merge", { metadata: { labels: { a: "b" } } });
    await world.delete("a");
    expect([world.onDisk, world.history().length]).toEqual([[2, 4, 7], 6]);
  });

  it("a resource that is not renewed: every update is on the disk", async () => {
    const { renewed: _, ...definition } = leasesDefinition;
    const world = new LeaseWorld({ definition });
    await world.create(aLease("a"));
    await world.renew();
    expect(world.onDisk).toEqual([2, 3]);
  });

  it("more renewals than memory may hold: the oldest go, what is left has no gap, and compaction drops the rows before it", async () => {
    const bounds = { entriesMax: 1e6, sizeMax: 1e9, trimEntries: 1, unwritten: { entriesMax: 10, charsMax: 1e9 } };
    const world = await oneLease({ historyBounds: bounds });
    for (let i = 0; i < 30; i++) await world.renew();
    expect([world.store.floor, await world.since(21), world.onDisk]).toEqual([22, 410, [2]]);
    expect(await world.since(22)).toEqual(Array.from({ length: 10 }, (_, i) => `MODIFIED a@${i + 23}`));
    expect([world.store.compact(), world.store.compact(), world.onDisk]).toEqual([true, false, []]);
    expect([storedState(world.storage), world.store.floor]).toMatchObject([{ historyEntries: 0, historySize: 0 }, 22]);
    const long = await oneLease({ historyBounds: { ...bounds, unwritten: { entriesMax: 1e6, charsMax: 5_000 } } });
    for (let i = 0; i < 50; i++) await long.renew();
    const left = await long.since(long.store.floor);
    expect(left).toHaveLength(long.store.revision - long.store.floor);
    expect(left).toHaveLength(long.history(long.store.floor).length);
    expect(long.store.floor).toBeGreaterThan(30);
  });

  it("lists at an earlier revision, and a selector that an object leaves: as if all were on the disk", async () => {
    const world = await oneLease();
    await world.patch("a", "merge", { metadata: { labels: { color: "red" } } });
    await world.patch("a", "merge", { metadata: { labels: { color: "blue" } } });
    const watch = world.watch({ resourceVersion: "2", labelSelector: "color=red" });
    await world.scheduler.pass(10);
    expect(watch.brief).toEqual(["ADDED a@3", "DELETED a@4"]);
    const rows = [...rowsAt(world.store, { from: "", to: "" }, 3)];
    expect(rows.map(({ data }) => (JSON.parse(data) as { metadata: object }).metadata)).toMatchObject([{ labels: { color: "red" } }]);
  });
});

describe("readers", () => {
  it("while a watch is open, and for a while after it: each renewal is on the disk", async () => {
    const world = await oneLease();
    await world.renew();
    const watch = world.watch({ resourceVersion: "2" });
    await world.renew();
    watch.stop();
    await world.scheduler.pass(LISTED_LATELY_MS - 1_000);
    await world.renew();
    await world.scheduler.pass(2_000);
    await world.renew();
    expect(world.onDisk).toEqual([2, 4, 5]);
    expect(watch.brief).toEqual(["MODIFIED a@3", "MODIFIED a@4"]);
  });

  it("a watch in which nothing is written: counts for a while after its end, however long it was open", async () => {
    const world = await oneLease();
    const watch = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(2 * LISTED_LATELY_MS);
    watch.stop();
    await world.scheduler.pass(LISTED_LATELY_MS - 1_000);
    await world.renew();
    await world.scheduler.pass(2_000);
    await world.renew();
    expect(world.onDisk).toEqual([2, 3]);
  });

  it("hazard 31: a list counts as a coming watch for a while; a list at the same time as a crash costs one more list", async () => {
    const world = await oneLease();
    for (let i = 0; i < 5; i++) await world.renew();
    world.store.noteList();
    const listed = world.store.revision;
    await world.renew();
    await world.renew();
    await world.dies();
    expect([world.store.floor, world.store.revision]).toEqual([listed, listed + 2]);
    // In memory again.
    const next = await world.renew();
    expect(world.onDisk.at(-1)).toBe(listed + 2);
    expect(await world.since(listed)).toEqual([`MODIFIED a@${listed + 1}`, `MODIFIED a@${listed + 2}`, `MODIFIED a@${next}`]);
    expect(await world.since(listed + 1)).toEqual([`MODIFIED a@${listed + 2}`, `MODIFIED a@${next}`]);

    const other = await oneLease();
    await other.renew();
    other.store.noteList();
    const seen = other.store.revision;
    other.restart();
    expect([await other.since(seen), await other.since(other.store.revision)]).toEqual([410, []]);
  });

  it("a watch between a renewal in memory and its turn, or its commit: gets it once", async () => {
    const world = await oneLease();
    world.storage.holdSync();
    const early = world.store.write({
      verb: "patch",
      key: { namespace: "ns", name: "a" },
      subresource: "",
      patchType: "merge",
      patch: JSON.stringify({ spec: { holderIdentity: "early" } }),
      options: { dryRun: false, fieldManager: "test", fieldValidation: "Warn", force: false, group: "coordination.k8s.io", version: "v1" },
    });
    const beforeItsTurn = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(10);
    const beforeItsCommit = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(10);
    expect([beforeItsTurn.brief, beforeItsCommit.brief]).toEqual([[], []]);
    world.storage.releaseSync();
    await world.scheduler.run(early);
    await world.renew();
    await world.scheduler.pass(10);
    for (const watch of [beforeItsTurn, beforeItsCommit]) expect(watch.brief).toEqual(["MODIFIED a@3", "MODIFIED a@4"]);
    // Somebody was there before the turn: nothing of this is in memory.
    expect(world.onDisk).toEqual([2, 3, 4]);
  });

  it("a watch after the turn of a renewal in memory and before its commit: gets it once, when it is durable", async () => {
    const world = await oneLease();
    world.storage.holdSync();
    const renewal = world.store.internally((turn) => turn.put("ns/a", aLease("a", { holderIdentity: "b" })));
    await world.scheduler.run(renewal);
    const watch = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(10);
    expect([watch.brief, world.onDisk]).toEqual([[], [2]]);
    world.storage.releaseSync();
    await world.scheduler.pass(10);
    expect(watch.brief).toEqual(["MODIFIED a@3"]);
  });
});

describe("a crash", () => {
  it("hazard 31: a block that is half used: the start begins above it, what was in memory is 410, and no revision is given out twice", async () => {
    const world = await oneLease();
    const given = new Set([world.store.revision]);
    for (let life = 0; life < 4; life++) {
      for (let i = 0; i < 20; i++) {
        const revision = await world.renew();
        expect(given.has(revision)).toBe(false);
        given.add(revision);
      }
      const before = world.store.revision;
      await world.dies();
      expect(world.store.revision).toBeGreaterThanOrEqual(Math.max(...given));
      expect(world.store.floor).toBe(world.store.revision);
      expect([await world.since(before), await world.since(world.store.revision)]).toEqual([410, []]);
      await world.forgets();
    }
    expect(world.stored("a")?.spec?.holderIdentity).toBe("h79");
  });

  it("watches that come back after a start: find all that came since, however soon the object dies again", async () => {
    const world = await oneLease();
    const first = world.watch({ resourceVersion: "2" });
    let place = await world.renew();
    await world.scheduler.pass(10);
    expect(first.brief).toEqual([`MODIFIED a@${place}`]);
    for (let life = 0; life < 3; life++) {
      world.restart();
      const next = await world.renew();
      const watch = world.watch({ resourceVersion: String(place) });
      await world.scheduler.pass(10);
      expect([watch.brief, world.onDisk.at(-1)]).toEqual([[`MODIFIED a@${next}`], next]);
      place = next;
    }
  });

  it("a start after which nobody writes: begins at the same revision again, without a write", async () => {
    const world = await oneLease();
    await world.renew();
    const { commits } = world.storage;
    world.restart();
    const { revision } = world.store;
    world.restart();
    expect([world.store.revision, world.storage.commits]).toEqual([revision, commits]);
    expect(await world.renew()).toBe(revision + 1);
  });

  it.each(["beforeCommit", "afterCommit"] as const)(
    "a turn lost %s: the renewal is stored or not, and whoever may miss it is told",
    async (point) => {
      const world = await oneLease();
      await world.renew();
      const before = world.store.revision;
      const open = world.watch({ resourceVersion: String(before) });
      open.stop();
      await world.scheduler.pass(LISTED_LATELY_MS + 1_000);
      await world.renew();
      world.storage.crashNext = point;
      await world.renew().catch(() => undefined);
      const stored = Number(world.stored("a")?.metadata?.resourceVersion);
      expect([stored, world.store.revision >= stored]).toEqual([point === "beforeCommit" ? before + 1 : before + 2, true]);
      expect(await world.since(before)).toBe(410);
      const head = world.store.revision;
      expect(await world.renew()).toBeGreaterThan(stored);
      expect(await world.since(head)).toEqual([`MODIFIED a@${world.store.revision}`]);
    },
  );

  it("the first renewal of a block is lost with its state: nothing of it was given, and the next one reserves again", async () => {
    const world = await oneLease();
    world.storage.crashNext = "beforeCommit";
    await world.renew().catch(() => undefined);
    expect([world.store.revision, world.store.floor, await world.since(1)]).toEqual([2, 1, ["ADDED a@2"]]);
    expect(await world.renew()).toBe(3);
    expect(await world.since(1)).toEqual(["ADDED a@2", "MODIFIED a@3"]);
  });

  it("cursors after it: a controller that pulls objects lists anew, garbage collection goes on", async () => {
    const world = await oneLease();
    const links = new ObjectLinksReader(world.store);
    const { incarnation } = world.store;
    const cursor = { incarnation, revision: await world.renew() };
    expect(new ObjectFeedReader(world.store).objectsSince({ incarnation, revision: 2 }, 10)).toMatchObject({ changes: [{ revision: 3 }] });
    await world.renew();
    world.restart();
    const here = { incarnation, revision: world.store.revision };
    expect(new ObjectFeedReader(world.store).objectsSince(cursor, 10)).toEqual({ kind: "expired" });
    expect(new ObjectLinksReader(world.store).changesSince(cursor, 10)).toEqual({
      kind: "changes",
      changes: [],
      cursor: here,
      more: false,
    });
    await world.delete("a");
    const after = new ObjectLinksReader(world.store);
    after.noteRelevant(world.store.revision);
    expect(after.changesSince(cursor, 10)).toMatchObject({ changes: [{ type: "deleted", key: { name: "a" } }] });
    expect(links.changesSince({ incarnation, revision: 1 }, 10).kind).toBe("changes");
  });

  it("a start of a local server: renewals in memory are of another life for everybody, and the gap begins above them", async () => {
    const started = Date.UTC(2026, 10, 1);
    const world = await oneLease({ serverStartedAt: started });
    const last = await world.renew();
    world.restart(started + 1_000);
    expect([world.store.isOfAnotherLife(2), world.store.isOfAnotherLife(last)]).toEqual([false, true]);
    const next = await world.renew();
    expect([await world.since(last), await world.since(next - 1)]).toEqual([410, [`MODIFIED a@${next}`]]);
  });

  it("a life that begins: above what was reserved, with nothing in memory", async () => {
    const world = await oneLease();
    await world.renew();
    const beginning = await world.scheduler.run(world.store.beginAbove(4_711, world.scheduler.clock().now()));
    expect([beginning, await world.since(3)]).toEqual([1_000_004_711, 410]);
    expect(await world.since(1_000_004_711)).toEqual(["MODIFIED a@1000004712"]);
    const next = await world.renew();
    expect(await world.since(1_000_004_712)).toEqual([`MODIFIED a@${next}`]);
  });
});
