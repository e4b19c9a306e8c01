/** The lives of a store (rule 32): what was seen of another life is 410, and nothing of it is given out again. */
import { describe, expect, it } from "vitest";
import { namespacesDefinition } from "../../../../../src/api/registry/namespaces/definition";
import { encodeContinue } from "../../../../../src/api/meta/continue-token";
import { listPage } from "../../../../../src/api/store/list/list-page";
import { ObjectFeedReader } from "../../../../../src/api/store/feeds/object-feed-reader";
import { ObjectLinksReader } from "../../../../../src/api/store/feeds/object-links-reader";
import { objectValuesSince } from "../../../../../src/api/store/feeds/object-values-reader";
import { newestStored } from "../../../../support/worlds/stored-history";
import { aLease, collectionRequest, StoreWorld } from "../../../../support/worlds/store-world";

const STARTED = Date.UTC(2026, 10, 1);
const BEHIND_GAP = 10_000;

/** How the store answers to a client that has seen the revision: a list of at least it, of exactly it, one object, a watch. */
function answers(world: StoreWorld, revision: number): (number | "ok")[] {
  const resourceVersion = String(revision);
  const list = (resourceVersionMatch: string) => {
    const page = listPage(world.store, collectionRequest(world.definition, { resourceVersion, resourceVersionMatch }), world.definition);
    return page.ok ? "ok" : (page.error.code ?? 0);
  };
  const got = world.store.get({ namespace: "ns", name: "a" }, resourceVersion);
  const watch = world.watch({ resourceVersion });
  watch.stop();
  return [list("NotOlderThan"), list("Exact"), got.ok ? "ok" : (got.status.code ?? 0), watch.refused?.code ?? "ok"];
}

const GOOD = ["ok", "ok", "ok", "ok"];
const GONE = [410, 410, 410, 410];

describe("a start of a local server", () => {
  it("watches and lists at or below the kept revision: go on", async () => {
    const world = new StoreWorld({ serverStartedAt: STARTED });
    for (const name of ["a", "b"]) await world.create(aLease(name));
    world.restart(STARTED + 1_000);
    expect([answers(world, 2), answers(world, 3)]).toEqual([GOOD, GOOD]);
    const watch = world.watch({ resourceVersion: "2" });
    await world.create(aLease("c"));
    await world.scheduler.pass(100);
    expect(watch.brief).toEqual(["ADDED b@3", `ADDED c@${world.store.revision}`]);
  });

  it("revisions of the gap: 410; those above the newest one: 504", async () => {
    const world = new StoreWorld({ serverStartedAt: STARTED });
    await world.create(aLease("a"));
    world.restart(STARTED + 1_000);
    const head = world.store.revision;
    expect([answers(world, 3), answers(world, head - 1), answers(world, head)]).toEqual([GONE, GONE, GOOD]);
    expect(answers(world, head + 1)).toEqual([504, 504, 504, 504]);
  });

  it("an older copy of the data: what was seen of the lost changes is 410, also when the store has written as much again", async () => {
    const world = new StoreWorld({ serverStartedAt: STARTED });
    await world.create(aLease("a"));
    const putBack = world.storage.remembered();
    world.restart(STARTED + 1_000);
    for (let i = 0; i < 20; i++) await world.create(aLease(`lost-${i}`));
    const seen = world.store.revision;
    putBack();
    world.restart(STARTED + 3_000);
    expect(world.store.revision).toBeGreaterThan(seen);
    expect([answers(world, seen), answers(world, 2)]).toEqual([GONE, GOOD]);
    for (let i = 0; i < 30; i++) await world.create(aLease(`next-${i}`));
    expect(answers(world, seen)).toEqual(GONE);
  });

  it("one start: one row, however often its objects start; a deployed server: none", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const { commits } = world.storage;
    world.restart();
    expect(world.storage.commits).toBe(commits);
    world.restart(STARTED);
    const { revision } = world.store;
    world.restart(STARTED);
    expect([world.store.revision, world.storage.commits]).toEqual([revision, commits + 1]);
    expect(newestStored(world.storage)).toBe(2);
  });

  it("the start is lost before it is kept: the next one begins anew; the first write behind it is lost: so is nothing else", async () => {
    const world = new StoreWorld({ serverStartedAt: STARTED });
    await world.create(aLease("a"));
    world.storage.crashNext = "beforeCommit";
    expect(() => world.restart(STARTED + 1_000)).toThrow();
    world.restart(STARTED + 2_000);
    const head = world.store.revision;
    world.storage.crashNext = "beforeCommit";
    await world.create(aLease("b")).catch(() => undefined);
    expect(world.store.revision).toBe(head);
    await world.create(aLease("b"));
    expect(world.stored("b")?.metadata?.resourceVersion).toBe(String(head + 1));
    expect(answers(world, 2)).toEqual(GOOD);
  });

  it("nothing was written behind the gap: the next start goes on above it", async () => {
    const world = new StoreWorld({ serverStartedAt: STARTED });
    await world.create(aLease("a"));
    world.restart(STARTED + 1_000);
    const { revision: head } = world.store;
    world.restart(STARTED + 2_000);
    expect(world.store.revision).toBeGreaterThan(head);
    expect(answers(world, 3)).toEqual(GONE);
  });

  it("a long history: the gap counts for no change, and readers come to its end", async () => {
    const world = new StoreWorld({ serverStartedAt: STARTED, historyBounds: { entriesMax: 6, sizeMax: 1e9, trimEntries: 1 } });
    for (let i = 0; i < 4; i++) await world.create(aLease(`a-${i}`));
    world.restart(STARTED + 1_000);
    await world.create(aLease("b"));
    await world.create(aLease("c"));
    expect([world.store.floor, world.history()]).toEqual([1, ["a-0", "a-1", "a-2", "a-3", "b", "c"].map((name) => `ADDED ns/${name}`)]);
    await world.create(aLease("d"));
    expect(world.history()).toEqual(["a-2", "a-3", "b", "c", "d"].map((name) => `ADDED ns/${name}`));
    expect(answers(world, 3)).toEqual(["ok", "ok", 404, "ok"]);
  });

  it("a large history before the gap: a watch gets all of it, then what comes", async () => {
    const world = new StoreWorld({ serverStartedAt: STARTED });
    const labels = { annotations: { large: "x".repeat(100_000) } };
    for (let i = 0; i < 25; i++) await world.create(aLease(`a-${i}`, {}, labels));
    world.restart(STARTED + 1_000);
    const watch = world.watch({ resourceVersion: "2" });
    await world.scheduler.pass(5_000);
    expect(watch.brief).toHaveLength(24);
    await world.create(aLease("live"));
    await world.scheduler.pass(1_000);
    expect([watch.state, watch.brief.at(-1)]).toEqual(["open", `ADDED live@${world.store.revision}`]);
  });

  it("cursors of peers: go on behind the gap, and are expired inside it", async () => {
    const world = new StoreWorld({ serverStartedAt: STARTED });
    await world.create(aLease("a", { holderIdentity: "me" }));
    const { cursor } = new ObjectFeedReader(world.store).objectsAfter("", 10);
    await world.create(aLease("b", { holderIdentity: "me" }));
    world.restart(STARTED + 1_000);
    const { revision, incarnation } = world.store;
    const here = { incarnation, revision };
    const feed = new ObjectFeedReader(world.store);
    const links = new ObjectLinksReader(world.store);
    expect(feed.objectsSince(cursor, 10)).toMatchObject({ kind: "changes", changes: [{ key: "ns/b" }], cursor: here, more: false });
    expect(feed.objectsSince(cursor, 1)).toMatchObject({ cursor: { revision: 3 }, more: true });
    expect(feed.objectsSince({ incarnation, revision: 3 }, 10)).toMatchObject({ changes: [], cursor: here, more: false });
    expect(links.changesSince(cursor, 10)).toMatchObject({ kind: "changes", cursor: here, more: false });
    const lost = { incarnation, revision: 4 };
    expect([feed.objectsSince(lost, 10).kind, links.changesSince(lost, 10).kind]).toEqual(["expired", "expired"]);
    const question = { namespace: "ns", path: ["spec", "holderIdentity"] };
    const values = (since: typeof lost) => objectValuesSince(world.store, world.scheduler.clock(), question, since);
    expect([(await values(cursor)).values.length, (await values(lost)).values.length]).toEqual([1, 2]);
  });
});

describe("a store that begins above", () => {
  const above = (world: StoreWorld, head?: number, ageMs = 0): Promise<number | undefined> =>
    world.scheduler.run(world.store.beginAbove(head, world.scheduler.clock().now() - ageMs));

  it("the head of a backup: every older revision is 410, watches end, and objects that were there have new revisions", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    const watch = world.watch();
    const { incarnation } = world.store;
    expect(await above(world, 4_711)).toBe(1_000_004_711);
    expect(watch.state).toBe("ended");
    expect(world.stored("a")?.metadata?.resourceVersion).toBe("1000004712");
    for (const revision of [1, 2, 4_711, 1_000_004_710]) expect(answers(world, revision)).toEqual(GONE);
    expect([answers(world, 1_000_004_711), answers(world, 1_000_004_712)]).toEqual([["ok", "ok", "ok", "ok"], GOOD]);
    expect(world.store.incarnation).not.toBe(incarnation);
    const continued = encodeContinue({ revision: 2, start: "ns/a", incarnation, madeAt: world.scheduler.clock().now() });
    const page = listPage(world.store, collectionRequest(world.definition, { continueToken: continued }), world.definition);
    expect(page.ok ? "ok" : page.error.code).toBe(410);
  });

  it("a new watch: gets what is written from then on", async () => {
    const world = new StoreWorld();
    await above(world, 4_711);
    const watch = world.watch({ resourceVersion: String(world.store.revision) });
    await world.create(aLease("a"));
    await world.scheduler.pass(100);
    expect(watch.brief).toEqual(["ADDED a@1000004712"]);
  });

  it("the same backup once more: nothing changes; an older object of its own: begins above the own head", async () => {
    const world = new StoreWorld();
    await above(world, 4_711);
    await world.create(aLease("a"));
    const { revision } = world.store;
    await above(world, 4_711);
    expect([world.store.revision, world.stored("a")?.metadata?.resourceVersion]).toEqual([revision, "1000004712"]);
    await above(world, undefined, 86_400_000);
    expect([world.store.revision, world.store.floor]).toEqual([revision + 1_000_000_000, revision + 1_000_000_000]);
    // A recovered object is what clients have seen under this revision.
    expect(world.stored("a")?.metadata?.resourceVersion).toBe("1000004712");
  });

  it("an interrupted restore of an old backup that goes on later: what it has written stays as it is", async () => {
    const world = new StoreWorld();
    await above(world, 4_711, 30 * 86_400_000);
    await world.create(aLease("a"));
    const before = world.stored("a")?.metadata?.resourceVersion;
    await above(world, 4_711, 31 * 86_400_000);
    expect(world.stored("a")?.metadata?.resourceVersion).toBe(before);
    expect(answers(world, Number(before))).toEqual(GONE);
  });

  it("a store that is above already: begins above itself", async () => {
    const world = new StoreWorld();
    await above(world, 10 ** 12);
    await above(world, 10 ** 12 - 5, 10 ** 6);
    expect(world.store.revision).toBe(10 ** 12 + 10 ** 9);
  });

  it("no revisions left: nothing changes", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    expect(await above(world, 2 ** 53 - 10)).toBeUndefined();
    expect(answers(world, 2)).toEqual(GOOD);
  });

  it.each(["beforeCommit", "afterCommit"] as const)("a crash %s: the call fails, and its repeat begins", async (point) => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    world.storage.crashNext = point;
    await expect(above(world, 4_711)).rejects.toThrow();
    expect(world.store.revision).toBe(point === "beforeCommit" ? 2 : 1_000_004_712);
    world.restart();
    expect(await above(world, 4_711)).toBe(1_000_004_711);
    expect([answers(world, 2), world.store.revision]).toEqual([GONE, 1_000_004_712]);
  });

  it("initial objects: have revisions that no client of another cluster can have seen", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    await above(world, 4_711);
    const rows = [...world.storage.objectScan("", "")];
    expect(rows.length).toBeGreaterThan(1);
    for (const { revision } of rows) expect(revision).toBeGreaterThan(1_000_004_711);
    expect(world.store.countIn("")).toBe(rows.length);
  });

  it("a write in the same turn: is the old life's, or the new one's", async () => {
    const world = new StoreWorld();
    const [first, , second] = await world.scheduler.run(
      Promise.all([
        world.store.internally((turn) => turn.add("ns/a", aLease("a"))),
        world.store.beginAbove(4_711, world.scheduler.clock().now()),
        world.store.internally((turn) => turn.add("ns/b", aLease("b"))),
      ]),
    );
    expect([first, second]).toEqual([undefined, undefined]);
    expect(["a", "b"].map((name) => world.stored(name)?.metadata?.resourceVersion)).toEqual(["1000004712", "1000004713"]);
    expect([world.history(), world.store.countIn("")]).toEqual([["MODIFIED ns/a", "ADDED ns/b"], 2]);
  });

  it("a restart: the store stays above, and a start of a local server leaves its gap", async () => {
    const world = new StoreWorld();
    await above(world, 4_711);
    world.restart();
    expect([world.store.revision, answers(world, 4_711)]).toEqual([1_000_004_711, GONE]);
    world.restart(1);
    expect([world.store.revision, answers(world, 1_000_004_712), world.store.isUntouched]).toEqual([
      1_000_004_711 + BEHIND_GAP,
      GONE,
      false,
    ]);
  });
});
