import { expect, it } from "vitest";
import { FEED_PAGE_MAX_CHARS } from "../../../../../src/api/store/state/limits";
import { ObjectFeedReader } from "../../../../../src/api/store/feeds/object-feed-reader";
import { pagesOf } from "../../../../../src/api/rpc/object-feed";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";

const LIMIT = 500;
/** Three of them fill a page. */
const LARGE = "x".repeat(FEED_PAGE_MAX_CHARS / 4);

/** Leases `0`, `1`, … of about a quarter of a page each. */
async function largeLeases(count: number): Promise<{ world: StoreWorld; feed: ObjectFeedReader }> {
  const world = new StoreWorld({ historyBounds: { entriesMax: 100, sizeMax: 100 * FEED_PAGE_MAX_CHARS, trimEntries: 1 } });
  for (let i = 0; i < count; i++) await world.create(aLease(String(i), { holderIdentity: LARGE }));
  return { world, feed: new ObjectFeedReader(world.store) };
}

const names = (texts: readonly string[]): string[] =>
  texts.map((text) => (JSON.parse(text) as { metadata: { name: string } }).metadata.name);

it("changes of large objects: a page ends before its bound, and the next one goes on behind it", async () => {
  const { world, feed } = await largeLeases(7);
  let cursor = { incarnation: world.store.incarnation, revision: world.store.floor };
  const pages: string[][] = [];
  for (let more = true; more;) {
    const answer = feed.objectsSince(cursor, LIMIT);
    if (answer.kind === "expired") throw new Error("expired");
    pages.push(names(answer.changes.map(({ object }) => object)));
    ({ cursor, more } = answer);
  }
  expect(pages).toEqual([["0", "1", "2"], ["3", "4", "5"], ["6"]]);
  expect(cursor.revision).toBe(world.store.revision);
});

it("a list of large objects: a page ends before its bound, and the next one goes on behind it", async () => {
  const { feed } = await largeLeases(7);
  const pages: string[][] = [];
  for await (const { objects, keys } of pagesOf((after) => Promise.resolve(feed.objectsAfter(after, LIMIT)))) {
    pages.push(names(objects));
    expect(keys).toEqual(names(objects).map((name) => `ns/${name}`));
  }
  expect(pages).toEqual([["0", "1", "2"], ["3", "4", "5"], ["6"]]);
});

it("an object larger than a page: a page of its own", async () => {
  const world = new StoreWorld();
  await world.create(aLease("a"));
  const { storage, revision } = world.store;
  const text = JSON.stringify({ ...aLease("b"), spec: { holderIdentity: "x".repeat(2 * FEED_PAGE_MAX_CHARS) } });
  storage.objectPut({ key: "ns/b", uid: "u", revision, data: text });
  const feed = new ObjectFeedReader(world.store);
  expect(names(feed.objectsAfter("", LIMIT).objects)).toEqual(["a"]);
  expect(names(feed.objectsAfter("ns/a", LIMIT).objects)).toEqual(["b"]);
});

it("changes with a page: both are of one moment; changes that are expired: no page", async () => {
  const world = new StoreWorld();
  await world.create(aLease("a"));
  const feed = new ObjectFeedReader(world.store);
  const { cursor } = feed.objectsAfter("", LIMIT);
  await world.create(aLease("b"));
  const answer = feed.objectsSince(cursor, LIMIT, { after: "ns/a", limit: LIMIT });
  if (answer.kind === "expired") throw new Error("expired");
  expect([names(answer.changes.map(({ object }) => object)), names(answer.page?.objects ?? [])]).toEqual([["b"], ["b"]]);
  expect(answer.page?.cursor).toEqual(answer.cursor);
  expect(feed.objectsSince({ ...cursor, incarnation: "another" }, LIMIT, { after: "", limit: LIMIT })).toEqual({ kind: "expired" });
});
