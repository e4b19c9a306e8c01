import { expect, it } from "vitest";
import type { StoreCursor } from "../../../../../src/api/rpc/object-links";
import { touchedSince } from "../../../../../src/api/store/feeds/touched-objects-reader";
import { FEED_PAGE_MAX_CHARS } from "../../../../../src/api/store/state/limits";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";

const OWNER = "kubernetes.io/service-name";

const owned = (name: string, owner: string, spec = {}) => {
  const lease = aLease(name, spec);
  return { ...lease, metadata: { ...lease.metadata, labels: { [OWNER]: owner } } };
};

async function worldOf(entriesMax = 1_000): Promise<{ world: StoreWorld; begin: StoreCursor }> {
  const world = new StoreWorld({ historyBounds: { entriesMax, sizeMax: 100 * FEED_PAGE_MAX_CHARS, trimEntries: 1 } });
  await world.create(aLease("first"));
  return { world, begin: { incarnation: world.store.incarnation, revision: world.store.revision } };
}

function pages(world: StoreWorld, begin: StoreCursor, label?: string): string[][] {
  const told: string[][] = [];
  for (let cursor = begin, more = true; more;) {
    const page = touchedSince(world.store, cursor, label);
    if (page.kind === "expired") throw new Error("expired");
    told.push(page.keys);
    ({ cursor, more } = page);
    if (!more) expect(cursor.revision).toBe(world.store.revision);
  }
  return told;
}

it("changes: the keys of their objects, each once, those that are gone too", async () => {
  const { world, begin } = await worldOf();
  expect(pages(world, begin)).toEqual([[]]);
  await world.create(aLease("a"));
  await world.create(aLease("b"));
  await world.delete("a");
  expect(pages(world, begin)).toEqual([["ns/a", "ns/b"]]);
});

it("with a label: who had an object before a change or has it after", async () => {
  const { world, begin } = await worldOf();
  await world.create(owned("a", "web"));
  const after = { ...begin, revision: world.store.revision };
  await world.patch("a", "merge", { metadata: { labels: { [OWNER]: "api" } } });
  await world.create(aLease("of-nobody"));
  expect(pages(world, begin, OWNER)).toEqual([["ns/web", "ns/api"]]);
  expect(pages(world, after, OWNER)).toEqual([["ns/web", "ns/api"]]);
  const moved = { ...begin, revision: world.store.revision };
  await world.delete("a");
  expect(pages(world, moved, OWNER)).toEqual([["ns/api"]]);
});

it("large objects: a call reads about a page of them", async () => {
  const { world, begin } = await worldOf();
  for (const name of ["a", "b", "c", "d", "e"])
    await world.create(owned(name, name, { holderIdentity: "x".repeat(FEED_PAGE_MAX_CHARS / 4) }));
  expect(pages(world, begin, OWNER)).toEqual([["ns/a", "ns/b", "ns/c", "ns/d"], ["ns/e"]]);
});

it("more changes than a call tells: the next one goes on behind them", async () => {
  const { world, begin } = await worldOf(10_000);
  for (let i = 0; i < 5_001; i++) await world.create(aLease(`l${i}`));
  expect(pages(world, begin).map(({ length }) => length)).toEqual([5_000, 1]);
});

it("a cursor of another incarnation, of the future, or before the history: is expired", async () => {
  const { world, begin } = await worldOf(2);
  for (const name of ["a", "b", "c", "d"]) await world.create(aLease(name));
  const now = { ...begin, revision: world.store.revision };
  for (const cursor of [{ ...now, incarnation: "another" }, { ...now, revision: now.revision + 1 }, begin]) {
    expect(touchedSince(world.store, cursor)).toEqual({ kind: "expired" });
    expect(touchedSince(world.store, cursor, OWNER)).toEqual({ kind: "expired" });
  }
  expect(touchedSince(world.store, now)).toMatchObject({ kind: "touched", keys: [], more: false });
});
