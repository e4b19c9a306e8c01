import { expect, it } from "vitest";
import type { CommittedChange } from "../../../../../src/api/store/state/extension";
import { type ChangeFilter, pokingFollowers } from "../../../../../src/api/store/feeds/follower-pokes";
import type { StoreNews } from "../../../../../src/api/rpc/store";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";

const CREATED: CommittedChange = { type: "ADDED", key: "ns/a", uid: "u", revision: 1, after: {} };
const CHANGED: CommittedChange = { ...CREATED, type: "MODIFIED", before: {} };

/** Nobody waits for answers. */
const deliveries = () => ({ send: (poke: () => Promise<unknown>): void => void poke().catch(() => undefined) });
const NEWS = (): StoreNews => ({ store: "pods", incarnation: "i", revision: 1 });

/** A store's turns; `pokes` has when, counted from the beginning, and whether only creations were told; `told` what each poke said. */
function world() {
  const scheduler = new SimScheduler();
  const start = scheduler.now;
  const pokes: [at: number, createdOnly: boolean][] = [];
  const told: (readonly StoreNews[] | undefined)[] = [];
  let revision = 0;
  const observer = pokingFollowers({
    deliveries,
    clock: scheduler.clock(),
    followers: (createdOnly) => {
      pokes.push([scheduler.now - start, createdOnly]);
      return [{ poke: (news) => Promise.reject(new Error(`lost ${told.push(news)}`)) }];
    },
    news: () => ({ store: "pods", incarnation: "i", revision }),
  });
  const turn = (...changes: CommittedChange[]): void => {
    revision++;
    observer.turnCommitted(changes);
  };
  return { scheduler, pokes, told, turn };
}

it("a lone change: told at once; a creation as such", () => {
  const { pokes, turn } = world();
  turn(CREATED);
  expect(pokes).toEqual([[0, true]]);
});

it("a turn with a creation and another change: told as more than creations", () => {
  const { pokes, turn } = world();
  turn(CREATED, CHANGED);
  expect(pokes).toEqual([[0, false]]);
});

it("a burst: told at its beginning and every 50 ms, with what came between, and where the store stands then", async () => {
  const { scheduler, pokes, told, turn } = world();
  for (let i = 0; i < 12; i++) {
    turn(i === 3 ? CHANGED : CREATED);
    await scheduler.pass(10);
  }
  await scheduler.pass(1_000);
  expect(pokes).toEqual([
    [0, true],
    [50, false],
    [100, true],
    [150, true],
  ]);
  expect(told).toEqual([1, 5, 10, 12].map((revision) => [{ store: "pods", incarnation: "i", revision }]));
});

it("a follower with a filter: told of the turns in which a change met it, also between two pokes", async () => {
  const scheduler = new SimScheduler();
  const bound: ChangeFilter = ({ before, after }) => before === undefined && after !== undefined;
  const pokes: boolean[] = [];
  const observer = pokingFollowers({
    deliveries,
    clock: scheduler.clock(),
    followers: (_, met) => {
      pokes.push(met.has(bound));
      return [];
    },
    news: NEWS,
    filters: [bound],
  });
  const turn = (change: CommittedChange): void => observer.turnCommitted([change]);
  turn(CHANGED);
  turn(CREATED);
  turn(CHANGED);
  await scheduler.pass(50);
  turn(CHANGED);
  await scheduler.pass(50);
  expect(pokes).toEqual([false, true, false]);
});

it("a filter that fails: counts as met, so its follower looks itself", async () => {
  const scheduler = new SimScheduler();
  const broken: ChangeFilter = () => {
    throw new Error("a bug");
  };
  const met: boolean[] = [];
  const observer = pokingFollowers({
    deliveries,
    clock: scheduler.clock(),
    followers: (_, filters) => {
      met.push(filters.has(broken));
      return [];
    },
    news: NEWS,
    filters: [broken],
  });
  observer.turnCommitted([CHANGED]);
  await scheduler.pass(50);
  expect(met).toEqual([true]);
});
