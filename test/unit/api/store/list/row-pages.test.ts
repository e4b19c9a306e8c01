/** A large list that is read page by page while others write: the objects of its revision, or no proper end. */
import { expect, it } from "vitest";
import type { KubeObject } from "../../../../../src/api/meta/kubernetes";
import type { CollectionRequest } from "../../../../../src/api/rpc/store";
import { KeptItems } from "../../../../../src/api/store/list/kept-items";
import { type ListBody, listPage } from "../../../../../src/api/store/list/list-page";
import { StreamedLists } from "../../../../../src/api/store/list/streamed-lists";
import { rowPages } from "../../../../../src/api/store/list/row-pages";
import { HistoryLost } from "../../../../../src/api/store/state/snapshot";
import { histories, playEach, seedsOf } from "../../../../support/sim/platform/seeds";
import { readStreamedList } from "../../../../support/values/list-body";
import { RandomHistory, SELECTIONS } from "../../../../support/worlds/random-store-history";
import { aLease, collectionRequest, StoreWorld } from "../../../../support/worlds/store-world";

/** A Lease has some 200 to 400 characters: some of them are held, and each page has one to three. */
const BOUNDS = { whole: 900, piece: 500 };
const AT_HAND = { now: () => 0 };
/** Enough for some changes, and for fewer than a long list meets. */
const SHORT_HISTORY = { entriesMax: 12, sizeMax: 1e9, trimEntries: 1 };

interface ListText {
  metadata: { resourceVersion: string; continue?: string };
  items: KubeObject[];
}

function listed({ store, definition }: StoreWorld, request: Partial<CollectionRequest>, kept?: KeptItems): ListBody {
  const page = listPage(store, collectionRequest(definition, request), definition, kept, BOUNDS);
  if (!page.ok) throw new Error(page.error.message);
  return page.value;
}

it(
  "random writes between the pieces of a list: it shows its revision, whatever has changed, or it is broken off",
  { timeout: 240_000 },
  async () => {
    const outcomes = { whole: 0, streamed: 0, changed: 0, lost: 0 };
    await playEach(seedsOf(histories(6)), async (seed) => {
      const kept = new KeptItems();
      const isShort = seed % 2 === 0;
      const history = new RandomHistory(seed, { observers: [kept], ...(isShort && { historyBounds: SHORT_HISTORY }) });
      const { world, past } = history;
      await history.steps(20);
      for (let round = 0; round < 12; round++) {
        const { request, sees } = history.pick(SELECTIONS);
        const revision = Math.max(world.store.revision - history.below(4), world.store.floor);
        const limit = history.below(3) === 0 ? 1 + history.below(6) : 0;
        const asked: Partial<CollectionRequest> = {
          ...request,
          limit,
          resourceVersion: String(revision),
          resourceVersionMatch: "Exact",
          ...(history.below(2) === 0 && { encoding: "protobuf" as const }),
        };
        const list = listed(world, asked, kept);
        const place = new StreamedLists(AT_HAND, 0, history.below(2_000)).begin();
        if (list.rest && place) list.rest.place = place;
        const between = () => history.steps(history.below(isShort ? 16 : 4));
        const expected = past.list(revision, sees);
        const shown = limit === 0 ? expected : expected.slice(0, limit);
        const reading = { between, waited: <T>(piece: Promise<T>) => world.scheduler.run(piece), pieceChars: BOUNDS.piece };
        try {
          const text = (await readStreamedList(list, reading)) as unknown as ListText;
          expect(text.metadata.resourceVersion, `seed ${seed}`).toBe(String(revision));
          expect(text.metadata.continue !== undefined, `seed ${seed}`).toBe(expected.length > shown.length);
          expect(text.items, `seed ${seed}`).toEqual(shown.map(({ data }) => JSON.parse(data) as KubeObject));
          outcomes[list.rest ? "streamed" : "whole"]++;
          if (list.rest && world.store.revision > revision) outcomes.changed++;
        } catch (error) {
          if (!(error instanceof HistoryLost)) throw error;
          expect(world.store.floor, `seed ${seed}`).toBeGreaterThan(revision);
          expect(isShort, `seed ${seed}`).toBe(true);
          outcomes.lost++;
        }
      }
    });
    for (const [outcome, count] of Object.entries(outcomes)) expect(count, outcome).toBeGreaterThan(0);
  },
);

async function worldOf(count: number): Promise<StoreWorld> {
  const world = new StoreWorld();
  for (let i = 0; i < count; i++) await world.create(aLease(`n${i}`));
  return world;
}

it("an object that is deleted and made anew, or changes twice, while the list is read: shown as it was", async () => {
  const world = await worldOf(8);
  const before = [...Array(8).keys()].map((i) => world.stored(`n${i}`));
  const list = listed(world, {});
  let turn = 0;
  const between = async (): Promise<void> => {
    if (turn++ > 0) return;
    await world.delete("n6");
    await world.create(aLease("n6", { holderIdentity: "another" }));
    await world.patch("n7", "merge", { spec: { holderIdentity: "first" } });
    await world.patch("n7", "merge", { spec: { holderIdentity: "second" } });
    await world.create(aLease("n55"));
    await world.delete("n55");
    await world.create(aLease("n9"));
  };
  const { items } = (await readStreamedList(list, { between, pieceChars: BOUNDS.piece })) as unknown as ListText;
  expect([turn > 1, items]).toEqual([true, before]);
});

it("a life of the store that begins while the list is read: the list is broken off", async () => {
  const world = await worldOf(8);
  const list = listed(world, {});
  const between = async (): Promise<void> => {
    await world.scheduler.run(world.store.beginAbove(undefined, 0));
  };
  await expect(readStreamedList(list, { between, pieceChars: BOUNDS.piece })).rejects.toThrow(HistoryLost);
});

it("a list that nobody reads: has read no more rows than it holds", async () => {
  const world = await worldOf(8);
  let rows = 0;
  const scan = world.storage.objectScan.bind(world.storage);
  world.storage.objectScan = (from, to) =>
    (function* () {
      for (const row of scan(from, to)) {
        rows++;
        yield row;
      }
    })() as unknown as ReturnType<typeof scan>;
  const list = listed(world, {});
  expect([list.begun.rows.length, rows]).toEqual([5, 6]);
});

it("pages of a selector that lets little through: the other work of the store has its turns in between", async () => {
  const world = await worldOf(8);
  let turns = 0;
  const clock = { ...world.store.clock, nextTurn: () => Promise.resolve(void turns++) };
  const { storage, history, floor, revision } = world.store;
  const matches = ({ metadata }: KubeObject): boolean => metadata?.name === "n7";
  const pages = rowPages({ storage, history, floor, clock }, { range: { from: "", to: "" }, revision, matches }, 100);
  const keys: string[] = [];
  for await (const page of pages) keys.push(...page.keys);
  expect([keys, turns]).toEqual([["ns/n7"], 7]);
});
