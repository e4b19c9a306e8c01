/** Watches that begin with many objects: over a stream of the store, and over a Worker's socket. */
import { describe, expect, it } from "vitest";
import type { CollectionRequest } from "../../../../../src/api/rpc/store";
import { LIST_BOUNDS } from "../../../../../src/api/store/list/list-page";
import { StreamedLists } from "../../../../../src/api/store/list/streamed-lists";
import { LIST_TIME_MS, MISSED_CHANGES_BACKLOG_BYTES } from "../../../../../src/api/store/state/limits";
import { RELAY_WINDOW_BYTES, readRelayFrame } from "../../../../../src/api/store/watch/relay-frames";
import { type KeptWatch, SocketWatches, type WatchSocket } from "../../../../../src/api/store/watch/socket-watches";
import type { BeginningRoom } from "../../../../../src/api/store/watch/watch-beginning";
import type { StoredObject } from "../../../../../src/api/store/state/store-storage";
import { startWatch } from "../../../../../src/api/store/watch/watch-start";
import { aLease, collectionRequest, type SeenEvent, StoreWorld, Watched } from "../../../../support/worlds/store-world";

const CHARS = 60_000;
/** Three times as many as are read at once. */
const OBJECTS = Math.ceil((3 * LIST_BOUNDS.whole) / CHARS);
const BEGIN: Partial<CollectionRequest> = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };

const nameOf = (i: number): string => `a${String(i).padStart(3, "0")}`;
const large = (i: number, labels: Record<string, string> = {}) => aLease(nameOf(i), { holderIdentity: "x".repeat(CHARS) }, { labels });
const added = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `ADDED ${nameOf(from + i)}@${from + i + 2}`);
const HEAD = OBJECTS + 1;

/** A store whose rows count what is read of them. */
class World extends StoreWorld {
  read = 0;
  readonly places = new StreamedLists(this.store.clock, 2);
  readonly room: BeginningRoom = { places: this.places, bounds: LIST_BOUNDS };
  readonly sockets = new SocketWatches(this.store, () => this.definition, this.room);

  static async filled(entriesMax = 10_000): Promise<World> {
    const world = new World({ historyBounds: { entriesMax, sizeMax: 1e9, trimEntries: 1 } });
    for (let i = 0; i < OBJECTS; i++) await world.create(large(i, i % 3 === 0 ? { color: "red" } : {}));
    const { storage } = world;
    const scan = storage.objectScan.bind(storage);
    // Rows are counted as they are looked at.
    const counted = function* (from: string, to: string): Iterable<StoredObject> {
      for (const row of scan(from, to)) {
        world.read += row.data.length;
        yield row;
      }
    };
    Object.assign(storage, { objectScan: counted });
    return world;
  }

  stream(request: Partial<CollectionRequest> = BEGIN, slow = false): Stream {
    return new Stream(this, request, slow);
  }

  socket(request: Partial<CollectionRequest> = BEGIN): Socket {
    const begin = this.sockets.prepare(collectionRequest(this.definition, { verb: "watch", ...request }));
    if (!begin.ok) throw new Error(begin.error.message);
    const socket = new Socket(this.sockets);
    begin.value(socket);
    return socket;
  }

  /** The first object to come goes, the last one changes, and one that sorts before all others comes. */
  async change(): Promise<string[]> {
    await this.delete(nameOf(OBJECTS - 2));
    await this.patch(nameOf(OBJECTS - 1), "merge", { spec: { holderIdentity: "new" } });
    await this.create(aLease("a"));
    const [deleted, modified, created] = [HEAD + 1, HEAD + 2, HEAD + 3];
    return [`DELETED ${nameOf(OBJECTS - 2)}@${deleted}`, `MODIFIED ${nameOf(OBJECTS - 1)}@${modified}`, `ADDED a@${created}`];
  }
}

interface Client {
  readonly brief: string[];
  readonly bytes: number;
  takeAll(): void;
}

/** Of a stream. */
class Stream extends Watched implements Client {
  constructor(world: World, request: Partial<CollectionRequest>, slow: boolean) {
    super({ definition: world.definition, store: world.store }, { resourceVersion: "999999" });
    this.slow = slow;
    const started = startWatch(
      world.store,
      collectionRequest(world.definition, { verb: "watch", ...request }),
      world.definition,
      this,
      world.room,
    );
    this.leave = started.ok ? started.value.stop : () => undefined;
    this.code = started.ok ? undefined : started.error.code;
  }

  readonly leave: () => void;
  readonly code: number | undefined;

  get bytes(): number {
    return this.chunks.reduce((sum, { length }) => sum + length, 0);
  }

  takeAll(): void {
    this.backlog = 0;
  }
}

/** Of a Worker's socket. */
class Socket implements WatchSocket, Client {
  readonly chunks: Uint8Array[] = [];
  readonly places: string[] = [];
  closed: number | undefined;

  constructor(private readonly sockets: SocketWatches) {}

  send(bytes: Uint8Array): void {
    const frame = readRelayFrame(bytes.slice().buffer);
    if (!frame) throw new Error("no frame");
    this.chunks.push(frame.bytes);
    if (frame.kind !== "start") this.places.push(`${frame.kind} ${frame.revision}`);
  }

  close(code: number): void {
    this.closed = code;
  }

  keep(state: KeptWatch): void {
    structuredClone(state);
  }

  get bytes(): number {
    return this.chunks.reduce((sum, { length }) => sum + length, 0);
  }

  get brief(): string[] {
    const text = this.chunks.map((bytes) => new TextDecoder().decode(bytes)).join("");
    const events = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as SeenEvent]));
    return events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ""}@${object.metadata?.resourceVersion ?? ""}`);
  }

  takeAll(): void {
    this.sockets.heard(this, String(this.bytes));
  }
}

const WAYS: readonly [string, (world: World, request?: Partial<CollectionRequest>) => Client, windowBytes: number][] = [
  ["a stream", (world, request) => world.stream(request, true), MISSED_CHANGES_BACKLOG_BYTES + LIST_BOUNDS.whole],
  ["a Worker's socket", (world, request) => world.socket(request), RELAY_WINDOW_BYTES],
];

/** The client takes all that comes, until nothing does. */
async function drained(world: World, client: Client): Promise<string[]> {
  for (let before = -1; before < client.bytes;) {
    before = client.bytes;
    client.takeAll();
    await world.scheduler.pass(2_000);
  }
  return client.brief;
}

describe.each(WAYS)("over %s", (_, open, windowBytes) => {
  it("a client that takes nothing: a bounded part is read and sent", async () => {
    const world = await World.filled();
    const client = open(world);
    await world.scheduler.pass(2_000);
    expect(client.bytes).toBeGreaterThan(0);
    expect(client.bytes).toBeLessThan(windowBytes + LIST_BOUNDS.piece + 2 * CHARS);
    expect(world.read).toBeLessThan(LIST_BOUNDS.whole + LIST_BOUNDS.piece + 4 * CHARS);
    expect(await drained(world, client)).toEqual([...added(0, OBJECTS), `BOOKMARK @${HEAD}`]);
  });

  it("changes before the client takes the rest: its objects are those of the beginning, and the changes follow, once and in order", async () => {
    const world = await World.filled();
    const client = open(world);
    await world.scheduler.pass(100);
    const changes = await world.change();
    expect(await drained(world, client)).toEqual([...added(0, OBJECTS), `BOOKMARK @${HEAD}`, ...changes]);
  });

  it("changes in the turns of the beginning: nothing is lost or told twice", async () => {
    const world = await World.filled();
    const client = open(world);
    for (let i = 0; i < 30; i++) {
      await world.create(aLease(`z${i}`));
      if (i % 3 === 0) client.takeAll();
    }
    const later = Array.from({ length: 30 }, (_, i) => `ADDED z${i}@${HEAD + 1 + i}`);
    expect(await drained(world, client)).toEqual([...added(0, OBJECTS), `BOOKMARK @${HEAD}`, ...later]);
  });

  it("a selector, and no bookmarks: what it sees", async () => {
    const world = await World.filled();
    const client = open(world, { labelSelector: "color=red" });
    expect(await drained(world, client)).toEqual(added(0, OBJECTS).filter((_, i) => i % 3 === 0));
  });

  it("large beginnings at once: as many as lists, then 429; the place is free again when one is complete", async () => {
    const world = await World.filled();
    const [first, second] = [open(world), open(world)];
    await world.scheduler.pass(100);
    expect(world.places.size).toBe(2);
    expect(world.stream().code).toBe(429);
    expect(world.sockets.prepare(collectionRequest(world.definition, { verb: "watch", ...BEGIN }))).toMatchObject({
      ok: false,
      error: { code: 429, details: { retryAfterSeconds: 1 } },
    });
    // A watch of what comes, and one with a small beginning, have no place.
    expect(world.stream({ resourceVersion: String(HEAD) }).code).toBeUndefined();
    expect(world.stream({ fieldSelector: "", namespace: "other" }).code).toBeUndefined();
    await drained(world, first);
    expect(world.places.size).toBe(1);
    await drained(world, second);
    expect(world.places.size).toBe(0);
  });
});

it("a beginning that takes longer than a list may: loses its place to the next reader, and is broken off", async () => {
  const world = await World.filled();
  const [stream, socket] = [world.stream(BEGIN, true), world.socket()];
  const take = async (forMs: number): Promise<void> => {
    for (let spent = 0; spent < forMs; spent += 5_000) {
      await world.scheduler.pass(5_000);
      // A little in time keeps a watch.
      stream.backlog -= 100;
      world.sockets.heard(socket, "1");
    }
  };
  await take(LIST_TIME_MS);
  expect([world.places.size, stream.state, socket.closed]).toEqual([2, "open", undefined]);
  for (let i = 0; i < 2; i++) expect(world.places.begin()).toBeDefined();
  await world.scheduler.pass(100);
  expect([stream.state, socket.closed]).toEqual(["aborted", 1001]);
});

it("clients that leave in the middle: give their places back", async () => {
  const world = await World.filled();
  const [stream, socket] = [world.stream(BEGIN, true), world.socket()];
  await world.scheduler.pass(100);
  expect(world.places.size).toBe(2);
  stream.leave();
  world.sockets.closed(socket);
  expect([world.places.size, world.store.hub.size]).toEqual([0, 0]);
  await world.scheduler.pass(60_000);
});

describe("the history goes before the client has all objects", () => {
  async function forgotten(open: (world: World) => Client): Promise<{ world: World; client: Client }> {
    const world = await World.filled(3);
    const client = open(world);
    await world.scheduler.pass(100);
    for (let i = 0; i < 8; i++) await world.create(aLease(`z${i}`));
    await drained(world, client);
    return { world, client };
  }

  it("over a stream: the ERROR event of 410, and the end", async () => {
    const { client, world } = await forgotten((of) => of.stream(BEGIN, true));
    const { events, state } = client as Stream;
    expect(events.at(-1)).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    expect(events.length).toBeLessThan(OBJECTS);
    expect([state, world.places.size]).toEqual(["ended", 0]);
  });

  it("over a Worker's socket: the same, as its last frame", async () => {
    const { client, world } = await forgotten((of) => of.socket());
    const { brief, chunks, closed, places } = client as Socket;
    expect([closed, places, world.places.size]).toEqual([1001, [`last ${HEAD}`], 0]);
    expect(JSON.parse(new TextDecoder().decode(chunks.at(-1)))).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
    expect(brief.length).toBeLessThan(OBJECTS);
  });
});
