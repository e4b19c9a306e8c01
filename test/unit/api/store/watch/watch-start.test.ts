import { describe, expect, it } from "vitest";
import type { CollectionRequest, AnswerForm } from "../../../../../src/api/rpc/store";
import { definitions } from "../../../../../src/api/registry/all";
import { namespacesDefinition } from "../../../../../src/api/registry/namespaces/definition";
import { WATCH_BOOKMARK_INTERVAL_MS } from "../../../../../src/api/store/state/limits";
import { frameBytes } from "../../../../../src/api/store/hub/frame-buffer";
import { viewOf } from "../../../../../src/api/store/hub/view-of";
import { aLease, type SeenEvent, StoreWorld, type Watched } from "../../../../support/worlds/store-world";
import { itOfSeeds } from "../../../../support/sim/platform/seeds";
import { RandomHistory, SELECTIONS } from "../../../../support/worlds/random-store-history";

const TABLE: AnswerForm = { as: "table", includeObject: "Metadata", version: "v1" };
const red = { labels: { color: "red" } };
const blue = { labels: { color: "blue" } };

async function worldOf(...created: string[]): Promise<StoreWorld> {
  const world = new StoreWorld();
  for (const name of created) await world.create(aLease(name));
  return world;
}

/** Lets everything that is due now happen. */
const now = (world: StoreWorld): Promise<void> => world.scheduler.pass(0);

describe("the start of a watch", () => {
  it("resourceVersion unset or 0: ADDED for everything there is, then what comes", async () => {
    const world = await worldOf("a", "b");
    const watches = ["", "0"].map((resourceVersion) => world.watch({ resourceVersion }));
    await world.delete("a");
    await now(world);
    for (const watch of watches) expect(watch.brief).toEqual(["ADDED a@2", "ADDED b@3", "DELETED a@4"]);
    expect(watches[0]?.events[0]).toEqual({
      type: "ADDED",
      object: { kind: "Lease", apiVersion: "coordination.k8s.io/v1", ...JSON.parse(world.storage.historySince(1, 1)[0]?.data ?? "") },
    });
  });

  it("resourceVersion N: only what comes after N", async () => {
    const world = await worldOf("a", "b");
    const watches = ["2", "3"].map((resourceVersion) => world.watch({ resourceVersion }));
    await world.create(aLease("c"));
    await now(world);
    expect(watches.map(({ brief }) => brief)).toEqual([["ADDED b@3", "ADDED c@4"], ["ADDED c@4"]]);
  });

  it("sendInitialEvents: everything there is, the bookmark that ends it, then what comes", async () => {
    const world = await worldOf("a", "b");
    for (const resourceVersion of ["", "0", "2"]) {
      const watch = world.watch({
        sendInitialEvents: true,
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: true,
        resourceVersion,
      });
      await now(world);
      expect(watch.brief).toEqual(["ADDED a@2", "ADDED b@3", "BOOKMARK @3"]);
      expect(watch.events[2]?.object).toMatchObject({
        kind: "Lease",
        apiVersion: "coordination.k8s.io/v1",
        metadata: { annotations: { "k8s.io/initial-events-end": "true" } },
      });
      watch.stop();
    }
    const nothing = await worldOf();
    const empty = nothing.watch({ sendInitialEvents: true, allowWatchBookmarks: true });
    await now(nothing);
    expect(empty.brief).toEqual(["BOOKMARK @1"]);
  });

  it("resourceVersion unset or 0 with bookmarks: the bookmark that ends the start, as with sendInitialEvents", async () => {
    const world = await worldOf("a");
    const watches = ["", "0", "1"].map((resourceVersion) => world.watch({ resourceVersion, allowWatchBookmarks: true }));
    await now(world);
    expect(watches.map(({ brief }) => brief)).toEqual([["ADDED a@2", "BOOKMARK @2"], ["ADDED a@2", "BOOKMARK @2"], ["ADDED a@2"]]);
    for (const watch of watches.slice(0, 2)) {
      expect(watch.events[1]?.object.metadata?.annotations).toMatchObject({ "k8s.io/initial-events-end": "true" });
    }
  });

  it("sendInitialEvents=false: only what comes, from now or from resourceVersion N", async () => {
    const world = await worldOf("a", "b");
    const ask = { sendInitialEvents: false, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };
    const watches = ["", "0", "2"].map((resourceVersion) => world.watch({ ...ask, resourceVersion }));
    await world.create(aLease("c"));
    await now(world);
    expect(watches.map(({ brief }) => brief)).toEqual([["ADDED c@4"], ["ADDED c@4"], ["ADDED b@3", "ADDED c@4"]]);
    const bounded = new StoreWorld({ historyBounds: { entriesMax: 2, sizeMax: 1e9, trimEntries: 1 } });
    for (const name of ["a", "b", "c", "d"]) await bounded.create(aLease(name));
    expect(bounded.watch({ ...ask, resourceVersion: "1" }).refused?.code).toBe(410);
    expect(bounded.watch({ ...ask, sendInitialEvents: true, resourceVersion: "1" }).refused).toBeUndefined();
  });

  it("the bookmark after the initial events: has the shape of the list; without bookmarks: absent", async () => {
    const world = await worldOf("a");
    const [watch, silent] = [true, false].map((allowWatchBookmarks) => world.watch({ sendInitialEvents: true, allowWatchBookmarks }));
    await now(world);
    expect(silent?.brief).toEqual(["ADDED a@2"]);
    const annotations = watch?.events[1]?.object.metadata?.annotations ?? {};
    expect(annotations["k8s.io/initial-events-end"]).toBe("true");
    expect(JSON.parse(atob(annotations["kubernetes.io/initial-events-list-blueprint"] ?? ""))).toEqual({
      kind: "LeaseList",
      apiVersion: "coordination.k8s.io/v1",
      metadata: {},
      items: null,
    });
  });

  it("beyond the newest revision: 504; below the history: 410; a selector that cannot be read: 400", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 2, sizeMax: 1e9, trimEntries: 1 } });
    for (const name of ["a", "b", "c", "d"]) await world.create(aLease(name));
    const { floor, revision } = world.store;
    expect(world.watch({ resourceVersion: String(revision + 1) }).refused).toMatchObject({
      code: 504,
      details: { causes: [{ reason: "ResourceVersionTooLarge" }] },
    });
    expect(world.watch({ resourceVersion: String(floor - 1) }).refused).toMatchObject({
      code: 410,
      reason: "Expired",
      message: `too old resource version: ${floor - 1} (${floor})`,
    });
    expect(world.watch({ labelSelector: "a b" }).refused?.code).toBe(400);
    expect(world.watch({ resourceVersion: String(floor) }).refused).toBeUndefined();
    expect(world.store.hub.size).toBe(1);
  });
});

describe("rule 21: watchers hear of a change only when it is durable", () => {
  it("a watcher: gets nothing before sync has resolved, then everything in order", async () => {
    const world = await worldOf("a");
    const live = world.watch({ resourceVersion: "2" });
    world.storage.holdSync();
    await world.create(aLease("b"));
    await world.create(aLease("c"));
    await now(world);
    expect(live.text).toBe("");
    world.storage.releaseSync();
    await now(world);
    expect(live.brief).toEqual(["ADDED b@3", "ADDED c@4"]);
  });

  it("the start of a new watch: waits for sync too", async () => {
    const world = await worldOf("a");
    world.storage.holdSync();
    await world.create(aLease("b"));
    const watches = [world.watch(), world.watch({ resourceVersion: "2" }), world.watch({ resourceVersion: "3" })];
    await world.create(aLease("c"));
    await now(world);
    expect(watches.map(({ text }) => text)).toEqual(["", "", ""]);
    world.storage.releaseSync();
    await now(world);
    expect(watches.map(({ brief }) => brief.join())).toEqual(["ADDED a@2,ADDED b@3,ADDED c@4", "ADDED b@3,ADDED c@4", "ADDED c@4"]);
  });

  it("bookmarks: name no revision that sync has not resolved for", async () => {
    const world = await worldOf("a");
    const live = world.watch({ resourceVersion: "2", allowWatchBookmarks: true });
    world.storage.holdSync();
    await world.create(aLease("b"));
    const late = world.watch({ allowWatchBookmarks: true });
    await world.scheduler.pass(200_000);
    expect([live.text, late.text]).toEqual(["", ""]);
    world.storage.releaseSync();
    await now(world);
    // Bookmarks that were due meanwhile come behind the events that they speak of.
    expect(live.brief.slice(0, 2)).toEqual(["ADDED b@3", "BOOKMARK @3"]);
    expect(late.brief.slice(0, 3)).toEqual(["ADDED a@2", "ADDED b@3", "BOOKMARK @3"]);
  });

  it("a sync that fails: ends the watches, and no change of the turn is sent", async () => {
    const world = await worldOf("a");
    const live = world.watch({ resourceVersion: "2" });
    world.storage.holdSync();
    await world.create(aLease("b"));
    const late = world.watch({ resourceVersion: "2" });
    world.storage.failSync();
    await now(world);
    expect([live.text, late.text, world.store.hub.size]).toEqual(["", "", 0]);
    expect([live.state, late.state].includes("open")).toBe(false);
    expect(world.logged.map(({ level, event }) => `${level}: ${event}`)).toEqual([
      "error: a store did not publish its changes",
      "error: a commit was lost",
    ]);
    expect(world.aborted).toEqual(["a commit was lost"]);
  });

  it("changes of one turn: one piece, in the order of their revisions", async () => {
    const world = await worldOf();
    const watch = world.watch({ resourceVersion: "1" });
    await world.scheduler.run(
      Promise.all(["c", "a", "b"].map((name) => world.store.internally((turn) => turn.put(`ns/${name}`, aLease(name))))),
    );
    await now(world);
    expect([watch.chunks.length, watch.brief]).toEqual([1, ["ADDED c@2", "ADDED a@3", "ADDED b@4"]]);
  });
});

describe("selectors", () => {
  it("an object that leaves a selector: DELETED as it was, with the new revision; one that enters: ADDED", async () => {
    const world = new StoreWorld();
    const watch = world.watch({ labelSelector: "color=red", resourceVersion: "1" });
    await world.create(aLease("a", { holderIdentity: "1" }, red));
    await world.patch("a", "merge", { metadata: blue, spec: { holderIdentity: "2" } });
    await world.patch("a", "merge", { spec: { holderIdentity: "3" } });
    await world.patch("a", "merge", { metadata: red });
    await world.patch("a", "merge", { spec: { holderIdentity: "4" } });
    await world.delete("a");
    await now(world);
    const seen = watch.events.map(({ type, object }) => {
      const { metadata, spec } = object as ReturnType<typeof aLease>;
      return `${type} ${spec?.holderIdentity ?? ""} ${metadata?.labels?.["color"] ?? ""}@${metadata?.resourceVersion ?? ""}`;
    });
    expect(seen).toEqual(["ADDED 1 red@2", "DELETED 1 red@3", "ADDED 3 red@5", "MODIFIED 4 red@6", "DELETED 4 red@7"]);
    const resumed = world.watch({ labelSelector: "color=red", resourceVersion: "2" });
    await now(world);
    expect(resumed.text.split("\n")).toEqual(watch.text.split("\n").slice(1));
  });

  it("a selector of a kind's own field: selects events", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    const watch = world.watch({ fieldSelector: "status.phase=Active", resourceVersion: String(world.store.revision) });
    await world.create({ metadata: { name: "a" } });
    await world.delete("a", {}, "");
    await now(world);
    expect(watch.brief).toEqual(["ADDED a@6", "DELETED a@7"]);
  });
});

describe("resuming", () => {
  const exact = "a watch from any retained revision: gets exactly the later changes, in order (seed %i)";
  itOfSeeds(exact, { fixed: [1, 2], further: 2 }, async (seed) => {
    const random = new RandomHistory(seed, { historyBounds: { entriesMax: 40, sizeMax: 1e9, trimEntries: 5 } });
    const { world, past } = random;
    await random.steps(60);
    expect(world.store.floor).toBeGreaterThan(1);
    const begun: { since: number; watch: Watched; selection: (typeof SELECTIONS)[number] }[] = [];
    for (let since = world.store.floor; since <= world.store.revision; since++) {
      for (const selection of SELECTIONS)
        begun.push({ since, selection, watch: world.watch({ ...selection.request, resourceVersion: String(since) }) });
      if (since % 4 === 0) await random.steps(1);
    }
    await random.steps(10);
    await now(world);
    for (const { since, selection, watch } of begun) {
      const expected = past.events(since, world.store.revision, (key, object) => selection.sees(key, object));
      const seen = watch.events.map(({ type, object }) => ({
        type,
        key: `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`,
        revision: Number(object.metadata?.resourceVersion),
      }));
      expect(seen, `seed ${seed}, since ${since}, ${JSON.stringify(selection.request)}`).toEqual(expected);
    }
  });

  const cutOff = "a client that is cut off again and again (seed %i): ends with the stored objects";
  itOfSeeds(cutOff, { fixed: [11], further: 3 }, async (seed) => {
    const random = new RandomHistory(seed);
    const { world } = random;
    const held = new Map<string, string>();
    let since = 1;
    for (let round = 0; round < 25; round++) {
      const watch = world.watch({ resourceVersion: String(since) });
      await random.steps(1 + random.below(4));
      if (random.below(3) > 0) await now(world);
      watch.stop();
      if (random.below(5) === 0) world.restart();
      for (const { type, object } of watch.events) {
        since = Number(object.metadata?.resourceVersion);
        const key = `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`;
        if (type === "DELETED") held.delete(key);
        else held.set(key, object.metadata?.resourceVersion ?? "");
      }
    }
    const last = world.watch({ resourceVersion: String(since) });
    await now(world);
    for (const { type, object } of last.events) {
      const key = `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`;
      if (type === "DELETED") held.delete(key);
      else held.set(key, object.metadata?.resourceVersion ?? "");
    }
    const stored = [...world.storage.objectScan("", "")].map(({ key, revision }) => [key, String(revision)]);
    expect([...held].sort(), `seed ${seed}`).toEqual(stored.sort());
  });
});

describe("representations", () => {
  it("columns of a Table: in the first event only, of the start or later", async () => {
    const world = await worldOf("a", "b");
    const watches = [world.watch({ representation: TABLE }), world.watch({ representation: TABLE, resourceVersion: "3" })];
    await world.create(aLease("c"));
    await world.delete("c");
    await now(world);
    for (const watch of watches) {
      const columns = watch.events.map(({ object }) => object.columnDefinitions !== null);
      expect(columns).toEqual(columns.map((_, i) => i === 0));
      expect(watch.events.every(({ object }) => object.rows?.length === 1 && object.kind === "Table")).toBe(true);
    }
    expect(watches.map(({ events }) => events.map(({ object }) => object.rows?.[0]?.cells[0]).join(""))).toEqual(["abcc", "cc"]);
  });

  it("a Table's bookmarks: one row, with columns where it is the first event, and with the annotation whatever rows hold", async () => {
    for (const includeObject of ["Metadata", "Object", "None"] as const) {
      const world = await worldOf("a");
      const nothing = { labelSelector: "no=match" };
      const ask = { representation: { ...TABLE, includeObject }, sendInitialEvents: true, allowWatchBookmarks: true };
      const watches = [world.watch(ask), world.watch({ ...ask, ...nothing })];
      await now(world);
      expect(watches.map(({ events }) => events.map(({ type }) => type))).toEqual([["ADDED", "BOOKMARK"], ["BOOKMARK"]]);
      for (const { events } of watches) {
        expect(events.map(({ object }) => object.columnDefinitions !== null)).toEqual(events.map((_, i) => i === 0));
        const end = events.at(-1)?.object;
        expect(end).toMatchObject({ kind: "Table", metadata: { resourceVersion: "2" } });
        expect(end?.rows).toMatchObject([
          { object: { metadata: { resourceVersion: "2", annotations: { "k8s.io/initial-events-end": "true" } } } },
        ]);
      }
    }
  });

  it("a Table's later bookmarks: one row too, and the columns stand in the first event only", async () => {
    const world = await worldOf("a");
    const watch = world.watch({ representation: TABLE, resourceVersion: "2", allowWatchBookmarks: true });
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS + 1_000);
    await world.create(aLease("b"));
    await now(world);
    const seen = watch.events.map(({ type, object }) => [type, object.rows?.length, object.columnDefinitions !== null]);
    expect(seen).toEqual([
      ["BOOKMARK", 1, true],
      ["ADDED", 1, false],
    ]);
  });

  it.each(definitions)("a Table's bookmark of $resource: its row has a cell for each column", (definition) => {
    const view = viewOf(definition, { version: definition.versions[0] ?? "", representation: TABLE }, () => 0);
    const { object } = JSON.parse(new TextDecoder().decode(frameBytes(view.bookmark(7, true, true)))) as SeenEvent;
    expect(object.rows?.[0]?.cells).toHaveLength(definition.columns.length);
  });

  it("a watch of metadata alone: bookmarks are metadata too", async () => {
    const world = await worldOf("a");
    const watch = world.watch({ representation: { as: "partial", version: "v1" }, sendInitialEvents: true, allowWatchBookmarks: true });
    await now(world);
    for (const { object } of watch.events) expect([object.kind, object.apiVersion]).toEqual(["PartialObjectMetadata", "meta.k8s.io/v1"]);
    expect(watch.brief).toEqual(["ADDED a@2", "BOOKMARK @2"]);
  });

  it("watchers of one view on one range: the same bytes", async () => {
    const world = await worldOf("a");
    const request: Partial<CollectionRequest>[] = [
      {},
      {},
      { namespace: "ns" },
      { representation: TABLE },
      { representation: TABLE },
      { labelSelector: "!x" },
    ];
    const watches = request.map((each) => world.watch(each));
    await now(world);
    await world.create(aLease("b"));
    await now(world);
    const [all, again, inNamespace, table, tableAgain, selected] = watches.map(({ chunks }) => chunks.at(-1));
    expect(all).toBe(again);
    expect(table).toBe(tableAgain);
    expect(inNamespace).not.toBe(all);
    for (const other of [inNamespace, selected]) expect(other).toEqual(all);
    expect(table).not.toEqual(all);
  });
});
