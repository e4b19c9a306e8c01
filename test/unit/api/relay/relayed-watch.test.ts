/** Watches of clients over sleeping stores: real stores, sockets and relay, in virtual time. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { Feed } from "../../../../src/api/relay/feed";
import { FEED_PATIENCE_MS, REOPEN_MAX_MS, REQUEST_DELIVERIES_MAX, WATCH_SILENT_MS, WATCH_TEND_MS } from "../../../../src/api/relay/limits";
import { WATCH_BACKLOG_MAX_BYTES, WATCH_BOOKMARK_INTERVAL_MS, WATCH_PROGRESS_MS } from "../../../../src/api/store/state/limits";
import { RELAY_WINDOW_BYTES } from "../../../../src/api/store/watch/relay-frames";
import { RelayWorld, SimClient } from "../../../support/relay/relay-world";
import { aLease } from "../../../support/worlds/store-world";

const SOON_MS = 100;

async function worldOf(...created: string[]): Promise<RelayWorld> {
  const world = new RelayWorld();
  for (const name of created) await world.create(aLease(name));
  return world;
}

const pass = (world: RelayWorld, ms = SOON_MS): Promise<void> => world.scheduler.pass(ms);
const bulky = (name: string, size = 50_000) => aLease(name, { holderIdentity: "x".repeat(size) });
const followersOf = ({ watch }: { watch: { feed: { followers: Set<unknown> } | undefined } | undefined }): number =>
  watch?.feed?.followers.size ?? 0;

describe("watches of one cohort", () => {
  it("from one revision, begun together: one question and one socket for all", async () => {
    const world = await worldOf("a");
    const clients = await Promise.all(Array.from({ length: 5 }, () => world.client({ resourceVersion: "2" })));
    await world.create(aLease("b"));
    await pass(world);
    expect(clients.map(({ brief }) => brief)).toEqual(Array.from({ length: 5 }, () => ["ADDED b@3"]));
    expect([world.askedOfStore.length, world.open.length]).toEqual([1, 1]);
  });

  it("from a revision that the isolate has: the store is not asked", async () => {
    const world = await worldOf("a");
    const first = await world.client({ resourceVersion: "2" });
    for (const name of ["b", "c", "d"]) {
      await world.create(aLease(name));
      await pass(world);
    }
    const second = await world.client({ resourceVersion: "3" });
    const third = await world.client({ resourceVersion: "5" });
    await world.create(aLease("e"));
    await pass(world);
    expect(world.askedOfStore).toHaveLength(1);
    expect(first.brief).toEqual(["ADDED b@3", "ADDED c@4", "ADDED d@5", "ADDED e@6"]);
    expect(second.brief).toEqual(["ADDED c@4", "ADDED d@5", "ADDED e@6"]);
    expect(third.brief).toEqual(["ADDED e@6"]);
  });

  it("from before what the isolate has, and from the objects there are: a socket of their own until they stand at one place", async () => {
    const world = await worldOf("a", "b");
    const first = await world.client({ resourceVersion: "3" });
    const older = await world.client({ resourceVersion: "2" });
    const whole = await world.client({ allowWatchBookmarks: true });
    expect(world.askedOfStore).toHaveLength(3);
    await world.create(aLease("c"));
    await pass(world, WATCH_PROGRESS_MS + SOON_MS);
    expect([first.brief, older.brief]).toEqual([["ADDED c@4"], ["ADDED b@3", "ADDED c@4"]]);
    expect(whole.brief).toEqual(["ADDED a@2", "ADDED b@3", "BOOKMARK @3", "ADDED c@4"]);
    expect(world.open).toHaveLength(1);
    expect(followersOf(first)).toBe(3);
    await world.create(aLease("d"));
    await pass(world);
    for (const client of [first, older, whole]) expect(client.brief.at(-1)).toBe("ADDED d@5");
  });

  it("other selectors, places and forms: sockets of their own; Tables share none", async () => {
    const world = await worldOf("a");
    const table = { as: "table", includeObject: "Metadata", version: "v1" } as const;
    const asks = [{}, { labelSelector: "a=b" }, { namespace: "ns" }, { representation: table }, { representation: table }];
    for (const ask of asks) await world.client({ resourceVersion: "2", ...ask });
    expect(world.open).toHaveLength(5);
  });
});

describe("a store that sleeps", () => {
  it("a change after each sleep: arrives once and in order, at every client", async () => {
    const world = await worldOf("a");
    const clients = [await world.client({ resourceVersion: "2" }), await world.client({}), await world.client({ labelSelector: "x=y" })];
    for (const name of ["b", "c", "d"]) {
      world.sleep();
      await world.create(aLease(name));
      await pass(world);
    }
    expect(clients[0]?.brief).toEqual(["ADDED b@3", "ADDED c@4", "ADDED d@5"]);
    expect(clients[1]?.brief).toEqual(["ADDED a@2", "ADDED b@3", "ADDED c@4", "ADDED d@5"]);
    expect(clients[2]?.brief).toEqual([]);
    expect(world.askedOfStore).toHaveLength(3);
  });

  it("asleep between the commit and the hand-over: the change arrives once when it wakes", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    const written = world.store.write({ verb: "create", namespace: "ns", object: JSON.stringify(aLease("b")), options: OPTIONS });
    await world.scheduler.run(written);
    world.sleep();
    await pass(world);
    world.sleep();
    await pass(world);
    expect(client.brief).toEqual(["ADDED b@3"]);
  });

  it("nothing happens: no timer of the store is left, and its clients get bookmarks at revisions that it has declared complete", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2", allowWatchBookmarks: true, labelSelector: "x=y" });
    await world.create(aLease("b"));
    await pass(world, WATCH_PROGRESS_MS + SOON_MS);
    world.sleep();
    await pass(world, WATCH_BOOKMARK_INTERVAL_MS + WATCH_TEND_MS);
    expect(client.brief).toEqual(["BOOKMARK @3"]);
    expect(world.opened[0]?.frames.map(({ kind, revision }) => `${kind} ${String(revision)}`)).toEqual(["live 2", "through 3"]);
  });

  it("asleep while a client takes nothing: the rest comes when it does", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    client.slow = true;
    for (let i = 0; i < 40; i++) await world.create(bulky(`b${String(i)}`));
    await pass(world, 2 * FEED_PATIENCE_MS);
    const got = client.brief.length;
    expect(got * 50_000).toBeLessThan(3 * RELAY_WINDOW_BYTES);
    world.sleep();
    await pass(world);
    expect(client.brief).toHaveLength(got);
    client.takeAll();
    await pass(world);
    expect(client.brief).toEqual(Array.from({ length: 40 }, (_, i) => `ADDED b${String(i)}@${String(i + 3)}`));
    expect(world.askedOfStore).toHaveLength(1);
  });

  it("asleep before the start was taken: the client's connection is cut", async () => {
    const world = await worldOf();
    for (let i = 0; i < 20; i++) await world.create(bulky(`b${String(i)}`));
    const client = await world.client({});
    client.slow = true;
    await pass(world, 5);
    world.sleep();
    await pass(world);
    expect([client.state, client.brief.length < 20]).toEqual(["aborted", true]);
  });
});

const OPTIONS = {
  dryRun: false,
  fieldManager: "test",
  fieldValidation: "Warn",
  force: false,
  group: "coordination.k8s.io",
  version: "v1",
} as const;

describe("a feed that ends", () => {
  it.each<[string, (world: RelayWorld) => void]>([
    ["the store dies", (world) => world.die()],
    ["the socket is lost", (world) => world.open.forEach((socket) => socket.lose())],
    ["every watch is ended by the store", (world) => world.store.hub.endAll()],
  ])("%s: all go on from their revision over one new socket, and miss nothing", async (_, lose) => {
    const world = await worldOf("a");
    const clients = await Promise.all(Array.from({ length: 4 }, () => world.client({ resourceVersion: "2" })));
    await world.create(aLease("b"));
    await pass(world);
    lose(world);
    await world.create(aLease("c"));
    await pass(world);
    for (const { brief, state } of clients) expect([state, brief]).toEqual(["open", ["ADDED b@3", "ADDED c@4"]]);
    expect([world.open.length, world.askedOfStore.length]).toEqual([1, 2]);
    expect(world.askedOfStore[1]).toMatchObject({ resourceVersion: "3", sendInitialEvents: false });
    expect(clients.filter(({ probes }) => probes === 2)).toHaveLength(1);
  });

  it("the client whose request had the socket leaves: the others go on", async () => {
    const world = await worldOf("a");
    const [owner, other] = [await world.client({ resourceVersion: "2" }), await world.client({ resourceVersion: "2" })];
    expect(world.askedOfStore).toHaveLength(1);
    owner.watch?.leave();
    await pass(world);
    await world.create(aLease("b"));
    await pass(world);
    expect([owner.brief, other.brief]).toEqual([[], ["ADDED b@3"]]);
    expect(world.open).toHaveLength(1);
  });

  it("the last client leaves: so does its socket", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    client.watch?.leave();
    await pass(world);
    expect([world.open.length, world.store.hub.size, world.relay.size]).toEqual([0, 0, 0]);
  });

  it("a client that is gone shows by the probes: nobody opens a socket for it", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    client.isGone = true;
    world.die();
    await pass(world, 2 * WATCH_TEND_MS);
    expect([world.askedOfStore.length, world.relay.size]).toEqual([1, 0]);
  });

  it("the history does not reach back: an ERROR event with 410, then the end", async () => {
    const world = new RelayWorld({ historyBounds: { entriesMax: 2, sizeMax: 1e9, trimEntries: 1 } });
    await world.create(aLease("a"));
    const client = await world.client({ resourceVersion: "2" });
    world.isUnreachable = true;
    world.die();
    for (const name of ["b", "c", "d", "e"]) await world.create(aLease(name));
    world.isUnreachable = false;
    await pass(world, WATCH_TEND_MS + SOON_MS);
    expect(client.events).toMatchObject([{ type: "ERROR", object: { code: 410, reason: "Expired" } }]);
    expect(client.state).toBe("ended");
  });

  it("a store that cannot be reached: the watch waits for it, and ends properly when it stays away", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    world.isUnreachable = true;
    world.die();
    await pass(world, REOPEN_MAX_MS / 2);
    expect(client.state).toBe("open");
    await pass(world, REOPEN_MAX_MS + WATCH_TEND_MS);
    expect([client.state, client.text.trim()]).toEqual(["ended", ""]);
    expect(world.askedOfStore.length).toBeGreaterThan(3);
  });

  it("a start that was broken off: the connection is cut, for its revision is not the client's", async () => {
    const world = await worldOf();
    for (let i = 0; i < 20; i++) await world.create(bulky(`b${String(i)}`));
    const client = await world.client({});
    world.die();
    await pass(world);
    expect(client.state).toBe("aborted");
  });

  it("a Table whose first event is a bookmark has its columns once", async () => {
    const world = await worldOf("a");
    const representation = { as: "table", includeObject: "Metadata", version: "v1" } as const;
    const client = await world.client({ resourceVersion: "2", allowWatchBookmarks: true, representation });
    await pass(world, WATCH_BOOKMARK_INTERVAL_MS + WATCH_TEND_MS);
    await world.create(aLease("b"));
    await pass(world);
    expect(client.events.map(({ type, object }) => [type, Array.isArray(object.columnDefinitions)])).toEqual([
      ["BOOKMARK", true],
      ["ADDED", false],
    ]);
  });

  it("a Table goes on without its columns", async () => {
    const world = await worldOf("a");
    const client = await world.client({ representation: { as: "table", includeObject: "Metadata", version: "v1" } });
    await pass(world);
    world.die();
    await world.create(aLease("b"));
    await pass(world);
    const columns = client.events.map(({ object }) => Array.isArray(object.columnDefinitions));
    expect(columns).toEqual([true, false]);
  });
});

describe("a slow client", () => {
  it("beside others: leaves their feed after a second, is fed from the history, and comes back", async () => {
    const world = await worldOf("a");
    const [slow, quick] = [await world.client({ resourceVersion: "2" }), await world.client({ resourceVersion: "2" })];
    slow.slow = true;
    for (let i = 0; i < 40; i++) await world.create(bulky(`b${String(i)}`));
    await pass(world, 3 * FEED_PATIENCE_MS);
    const all = Array.from({ length: 40 }, (_, i) => `ADDED b${String(i)}@${String(i + 3)}`);
    expect(quick.brief).toEqual(all);
    expect(slow.text.length).toBeLessThan(3 * RELAY_WINDOW_BYTES);
    expect([slow.state, slow.watch?.feed]).toEqual(["open", undefined]);
    slow.takeAll();
    await pass(world, WATCH_TEND_MS);
    expect(slow.brief).toEqual(all);
    await world.create(aLease("last"));
    await pass(world, WATCH_PROGRESS_MS);
    expect([slow.brief.at(-1), quick.brief.at(-1)]).toEqual(["ADDED last@43", "ADDED last@43"]);
    expect(world.open).toHaveLength(1);
  });

  it("of which the history has forgotten what it lacks: 410", async () => {
    const world = new RelayWorld({ historyBounds: { entriesMax: 5, sizeMax: 1e9, trimEntries: 1 } });
    await world.create(aLease("a"));
    const slow = await world.client({ resourceVersion: "2" });
    slow.slow = true;
    for (let i = 0; i < 40; i++) await world.create(bulky(`b${String(i)}`));
    await pass(world);
    slow.takeAll();
    await pass(world, WATCH_TEND_MS);
    expect(slow.events.at(-1)).toMatchObject({ type: "ERROR", object: { code: 410 } });
    expect(slow.state).toBe("ended");
  });
});

describe("a client that was slow, and whose request has the socket of others", () => {
  it("reads again over a socket of its own, and leaves: the others miss nothing", async () => {
    const world = await worldOf("a");
    const clients = [await world.client({ resourceVersion: "2" }), await world.client({ resourceVersion: "2" })];
    const [owner, other] = clients;
    if (!owner || !other) throw new Error("nobody");
    owner.slow = true;
    for (let i = 0; i < 40; i++) await world.create(bulky(`b${String(i)}`));
    await pass(world, 3 * FEED_PATIENCE_MS);
    expect([owner.watch?.feed, other.brief.length]).toEqual([undefined, 40]);
    owner.takeAll();
    await pass(world, WATCH_TEND_MS);
    expect(owner.brief).toHaveLength(40);
    owner.watch?.leave();
    await pass(world, WATCH_TEND_MS);
    await world.create(aLease("last"));
    await pass(world, WATCH_TEND_MS);
    expect([other.brief.at(-1), world.open.length]).toEqual(["ADDED last@43", 1]);
  });
});

describe("sockets that end at once", () => {
  it("are opened again after pauses that grow; what is heard over one of them makes the next pause short", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    const lose = async (ms: number): Promise<number> => {
      const before = world.askedOfStore.length;
      for (let passed = 0; passed < ms; passed += 5) {
        for (const socket of world.open) socket.lose();
        await pass(world, 5);
      }
      return world.askedOfStore.length - before;
    };
    expect(await lose(30_000)).toBeLessThan(20);
    expect(client.state).toBe("open");
    await pass(world, 2 * REOPEN_MAX_MS);
    await world.create(aLease("b"));
    await pass(world);
    expect([client.state, client.brief]).toEqual(["open", ["ADDED b@3"]]);
    expect(await lose(50)).toBeGreaterThan(0);
  });
});

describe("a client whose reading does not show", () => {
  it("gets its start, however large, and a MiB besides what its sink allows; then its watch ends properly", async () => {
    const world = await worldOf();
    for (let i = 0; i < 30; i++) await world.create(bulky(`b${String(i)}`));
    const blind = Object.assign(new SimClient(), { isBlind: true as const, slow: true });
    await world.client({}, {}, false, blind);
    await pass(world);
    expect([blind.state, blind.brief.length]).toEqual(["open", 30]);
    for (let i = 0; i < 30; i++) await world.create(bulky(`c${String(i)}`));
    await pass(world);
    expect([blind.state, world.relay.size]).toEqual(["ended", 0]);
    expect(blind.text.length - 30 * 50_000).toBeGreaterThan(WATCH_BACKLOG_MAX_BYTES);
    expect(blind.text.length - 30 * 50_000).toBeLessThan(2 * WATCH_BACKLOG_MAX_BYTES);
  });
});

describe("a request that has made as many deliveries as it may", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("beside others: the socket passes to another request, and all go on", async () => {
    const world = await worldOf("a");
    const clients = [await world.client({ resourceVersion: "2" }), await world.client({ resourceVersion: "2" })];
    vi.spyOn(Feed.prototype, "deliveries", "get").mockReturnValueOnce(REQUEST_DELIVERIES_MAX);
    await pass(world, 2 * WATCH_TEND_MS);
    await world.create(aLease("b"));
    await pass(world);
    for (const { state, brief } of clients) expect([state, brief]).toEqual(["open", ["ADDED b@3"]]);
    expect([world.askedOfStore.length, world.open.length]).toEqual([2, 1]);
  });

  it("counts over all its sockets", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    vi.spyOn(Feed.prototype, "deliveries", "get").mockReturnValue(REQUEST_DELIVERIES_MAX / 2);
    await pass(world, WATCH_TEND_MS);
    world.die();
    await pass(world, REOPEN_MAX_MS + 3 * WATCH_TEND_MS);
    expect([client.state, world.askedOfStore.length]).toEqual(["ended", 2]);
  });

  it("alone: its watch ends properly", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    vi.spyOn(Feed.prototype, "deliveries", "get").mockReturnValueOnce(REQUEST_DELIVERIES_MAX);
    await pass(world, REOPEN_MAX_MS + 3 * WATCH_TEND_MS);
    expect([client.state, world.askedOfStore.length, world.open.length]).toEqual(["ended", 1, 0]);
  });
});

describe("a watch that was taken for silent, and is not", () => {
  it("ends properly", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    client.watch?.forget();
    await pass(world);
    expect([client.state, world.relay.size, world.open.length]).toEqual(["ended", 0, 0]);
  });
});

describe("watches that come to one place while the store is away", () => {
  it("hear what the first one has heard", async () => {
    const world = await worldOf("a");
    world.isUnreachable = true;
    const clients = await Promise.all(Array.from({ length: 5 }, () => world.client({ resourceVersion: "2" })));
    expect(clients.map(({ refused }) => refused?.code)).toEqual([503, 503, 503, 503, 503]);
    expect(world.askedOfStore).toHaveLength(1);
  });

  it("fail together when its call does", async () => {
    const world = await worldOf("a");
    world.broken = new Error("the cluster is gone");
    const begun = Array.from({ length: 5 }, () => world.client({ resourceVersion: "2" }).catch((error: unknown) => error));
    expect(await Promise.all(begun)).toEqual(Array.from({ length: 5 }, () => world.broken));
    expect(world.askedOfStore).toHaveLength(1);
  });

  it("end together when the call fails by which their feed would go on", async () => {
    const world = await worldOf("a");
    const clients = await Promise.all(Array.from({ length: 5 }, () => world.client({ resourceVersion: "2" })));
    world.broken = new Error("the cluster is gone");
    for (const socket of world.open) socket.lose();
    await pass(world);
    expect(clients.map(({ state }) => state)).toEqual(["ended", "ended", "ended", "ended", "ended"]);
    expect(world.askedOfStore).toHaveLength(2);
  });
});

describe("time", () => {
  it("timeoutSeconds: a bookmark shortly before the end, then the end; the store is asked for nothing", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2", timeoutSeconds: 10, allowWatchBookmarks: true });
    await pass(world, 9_000);
    expect([client.state, client.brief]).toEqual(["open", ["BOOKMARK @2"]]);
    await pass(world, 1_500);
    expect([client.state, world.relay.size, world.open.length]).toEqual(["ended", 0, 0]);
  });

  it("without bookmarks: a probe each minute", async () => {
    const world = await worldOf("a");
    const client = await world.client({ resourceVersion: "2" });
    await pass(world, 5 * WATCH_BOOKMARK_INTERVAL_MS + WATCH_TEND_MS);
    expect([client.probes, client.text]).toEqual([5, ""]);
  });
});

describe("the relay", () => {
  it("a user with as many watches as he may have: 429 until one has ended; others and other stores: begin", async () => {
    const world = await worldOf("a");
    const of = (user: string, max: number, more = {}) => world.client({ resourceVersion: "2" }, { watchedBy: { user, max }, ...more });
    const [first] = [await of("ann", 2), await of("ann", 2)];
    const { refused } = await of("ann", 2);
    expect(refused).toMatchObject({ code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 10 } });
    expect(refused?.message).toBe('user "ann" has 2 watches of leases open, which is the most');
    for (const other of [
      await of("bob", 2),
      await of("ann", 0),
      await of("ann", 2, { store: "pods" }),
      await of("ann", 2, { cluster: "b" }),
    ]) {
      expect(other.refused).toBeUndefined();
    }
    first?.watch?.leave();
    expect((await of("ann", 3)).refused?.code).toBe(429);
    await pass(world);
    expect((await of("ann", 3)).refused).toBeUndefined();
  });

  it("counts by cluster, store and what is watched", async () => {
    const world = await worldOf("a");
    for (const namespace of ["", "ns", "ns"]) await world.client({ resourceVersion: "2", namespace });
    await world.client({ resourceVersion: "2" }, { cluster: "other" });
    const leases = { group: "coordination.k8s.io", version: "v1", resource: "leases" };
    expect(world.relay.open("default")).toEqual([
      {
        store: "leases",
        watches: [
          { ...leases, scope: "cluster", count: 1 },
          { ...leases, scope: "namespace", count: 2 },
        ],
      },
    ]);
    expect(world.relay.open("third")).toEqual([]);
  });

  it("the isolate stands still for some seconds: nobody was silent, and all go on over their socket", async () => {
    const world = await worldOf("a");
    const clients = [];
    for (let i = 0; i < 8; i++) {
      clients.push(await world.client({ resourceVersion: "2" }));
      await pass(world, WATCH_TEND_MS / 8);
    }
    for (let stallMs = 1_000; stallMs < 2 * WATCH_SILENT_MS; stallMs += 700) {
      world.scheduler.stall(stallMs);
      await pass(world, 2 * WATCH_TEND_MS);
      expect([stallMs, ...clients.map(({ state }) => state)]).toEqual([stallMs, ...clients.map(() => "open")]);
    }
    expect([world.relay.size, world.askedOfStore.length]).toEqual([8, 1]);
  });

  it("a request that was dropped silently: its watch is forgotten, and the others open a socket anew", async () => {
    const world = await worldOf("a");
    await world.client({ resourceVersion: "2" }, {}, true);
    const other = await world.client({ resourceVersion: "2" });
    await pass(world, WATCH_SILENT_MS + 2 * WATCH_TEND_MS);
    await world.create(aLease("b"));
    await pass(world);
    expect([world.relay.size, other.brief]).toEqual([1, ["ADDED b@3"]]);
    expect(world.askedOfStore).toHaveLength(2);
  });

  it("a refusal of the store is the watch's; a stop ends all watches, and later ones as they begin", async () => {
    const world = await worldOf("a");
    expect((await world.client({ resourceVersion: "99" })).refused?.code).toBe(504);
    expect((await world.client({ labelSelector: "a b" })).refused?.code).toBe(400);
    const clients = [await world.client({ resourceVersion: "2" }), await world.client({})];
    world.relay.stop();
    expect(clients.map(({ state }) => state)).toEqual(["ended", "ended"]);
    await pass(world);
    const late = await world.client({});
    await pass(world);
    expect([late.state, world.relay.size, world.open.length]).toEqual(["ended", 0, 0]);
  });
});
