/** Which stores a controller need not ask: questions, failures, and stores that are read from their first write on. */
import { describe, expect, it } from "vitest";
import { FollowedStore } from "../../../../src/controllers/followed/followed-store";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { enteringOnce } from "../../../../src/controllers/frame/entering";
import { Frame } from "../../../../src/controllers/frame/frame";
import { madeOnce } from "../../../../src/controllers/frame/made-once";
import { type EnteredNames, UsedStores } from "../../../../src/controllers/followed/used-stores";
import { RPC_TIMEOUT_MS } from "../../../../src/core/base/limits";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

const RECORDER = { log: () => undefined };

describe("stores that were never written to", () => {
  it("questions of one moment: are one call; a store that is used is not asked about again, one that is not is", async () => {
    const scheduler = new SimScheduler();
    const known = ["pods"];
    let calls = 0;
    const used = new UsedStores(scheduler.clock(), () => Promise.resolve((calls++, [...known])));
    const ask = (): Promise<boolean[]> => scheduler.run(Promise.all(["pods", "nodes"].map((name) => used.isUnused(name))));
    expect([await ask(), calls]).toEqual([[false, true], 1]);
    known.push("nodes");
    expect([await ask(), calls]).toEqual([[false, false], 2]);
    expect([await ask(), calls]).toEqual([[false, false], 2]);
  });

  it.each<[string, EnteredNames | undefined]>([
    ["nobody answers for them", undefined],
    ["somebody may be missing", () => Promise.resolve(null)],
    ["the call fails", () => Promise.reject(new Error("down"))],
    ["the call hangs", () => new Promise(() => undefined)],
  ])("%s: each store may be used", async (_, entered) => {
    const scheduler = new SimScheduler();
    const used = new UsedStores(scheduler.clock(), entered);
    const asked = used.isUnused("pods");
    await scheduler.pass(RPC_TIMEOUT_MS);
    expect(await asked).toBe(false);
  });
});

const CURSOR = { incarnation: "only", revision: 7 };

/** A store of Pods with one object, for one controller; nobody knows yet that it is used. */
class World {
  isUnused = true;
  readonly calls: string[] = [];
  readonly found: string[] = [];
  readonly rows = new KeptRows(new MemoryRowStorage());
  readonly store: FollowedStore;

  constructor() {
    this.rows.load();
    const feed = {
      resource: "pods",
      isUnused: () => Promise.resolve(this.isUnused),
      objectsAfter: () => {
        this.calls.push("objectsAfter");
        return Promise.resolve({ objects: ['{"metadata":{"name":"a","namespace":"ns"}}'], cursor: CURSOR, next: "" });
      },
      objectsSince: () => {
        this.calls.push("objectsSince");
        return Promise.resolve({ kind: "changes" as const, changes: [], cursor: CURSOR, more: false });
      },
      objectsNamed: () => Promise.resolve([]),
    };
    const reader = { put: () => void this.found.push("a"), gone: () => undefined, keys: () => this.found };
    this.store = new FollowedStore("pods", feed, reader, this.rows, RECORDER);
  }

  pull(): Promise<boolean> {
    return this.store.pull(() => true);
  }
}

const LISTED = ["objectsAfter", "objectsSince"];

it("a store that a controller follows: is not called while nobody wrote to it, and is listed then", async () => {
  const world = new World();
  const { store, calls } = world;
  expect([await world.pull(), store.isRead, store.isBehind, calls]).toEqual([true, true, false, []]);
  world.isUnused = false;
  store.mustRead();
  expect([await world.pull(), calls]).toEqual([true, LISTED]);
  store.mustRead();
  expect([await world.pull(), calls.slice(2), world.found]).toEqual([true, ["objectsSince"], ["a"]]);
});

describe("a store that tells of its place while nobody knows it, as where the object that knows was brought back alone", () => {
  it.each<[string, number, string[]]>([
    ["it was written to", 2, LISTED],
    ["it was not", 1, []],
  ])("%s: it is read, or not asked, as in the row", async (_, revision, want) => {
    const world = new World();
    expect([await world.pull(), world.calls]).toEqual([true, []]);
    world.store.hears({ store: "pods", incarnation: "only", revision });
    expect([await world.pull(), world.calls]).toEqual([true, want]);
  });

  it("to an object that begins with this poke: it is read in the first pass", async () => {
    const world = new World();
    const ports = { clock: new SimScheduler().clock(), recorder: RECORDER };
    const pass = madeOnce(() => new Frame(ports, { rows: world.rows, follows: () => [world.store] }).pass);
    pass.hears?.([{ store: "pods", ...CURSOR }]);
    await pass(true);
    expect([world.calls, world.found, pass.wants]).toEqual([LISTED, ["a"], false]);
  });
});

it("a controller enters once; after a failure, or a death before its row, again", async () => {
  const rows = new MemoryRowStorage();
  const entered: string[] = [];
  let isDown = true;
  const entering = enteringOnce(rows, "controllers/a", (name) =>
    isDown ? Promise.reject(new Error("down")) : Promise.resolve(void entered.push(name)),
  );
  await expect(entering()).rejects.toThrow("down");
  isDown = false;
  await entering();
  await entering();
  await enteringOnce(rows, "controllers/b", (name) => Promise.resolve(void entered.push(name)))();
  expect(entered).toEqual(["controllers/a", "controllers/b"]);
});
