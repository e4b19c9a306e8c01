/** The store's side of Workers' watches: what is kept with a socket, and what an object does with it when it wakes. */
import { describe, expect, it, vi } from "vitest";
import { MISSED_CHANGES_STALLED_MS, WATCH_PROGRESS_FIRST_MS, WATCH_PROGRESS_MS } from "../../../../../src/api/store/state/limits";
import { RELAY_WINDOW_BYTES, readRelayFrame } from "../../../../../src/api/store/watch/relay-frames";
import { type KeptWatch, SocketWatches, type WatchSocket } from "../../../../../src/api/store/watch/socket-watches";
import type { CollectionRequest } from "../../../../../src/api/rpc/store";
import { aLease, collectionRequest, StoreWorld, type StoreWorldOptions } from "../../../../support/worlds/store-world";

class Socket implements WatchSocket {
  readonly frames: string[] = [];
  bytes = 0;
  kept: KeptWatch | undefined;
  closed: number | undefined;
  isGone = false;

  send(bytes: Uint8Array): void {
    if (this.isGone) throw new Error("gone");
    const frame = readRelayFrame(bytes.slice().buffer);
    if (!frame) throw new Error("no frame");
    const names = [...new TextDecoder().decode(frame.bytes).matchAll(/"name":"([^"]*)"/g)].map(([, name = ""]) => name);
    this.frames.push([frame.kind, String(frame.revision), ...names].join(" "));
    this.bytes += frame.bytes.length;
  }

  close(code: number): void {
    this.closed = code;
  }

  keep(state: KeptWatch): void {
    this.kept = structuredClone(state);
  }
}

class World extends StoreWorld {
  watches = new SocketWatches(this.store, () => this.definition);

  /** A new object in memory. */
  again(): void {
    this.restart();
    this.watches = new SocketWatches(this.store, () => this.definition);
  }

  open(request: Partial<CollectionRequest>, socket = new Socket()): Socket {
    const begin = this.watches.prepare(collectionRequest(this.definition, { verb: "watch", ...request }));
    if (!begin.ok) throw new Error(begin.error.message);
    begin.value(socket);
    return socket;
  }
}

async function worldOf(names: readonly string[], options: StoreWorldOptions<undefined> = {}): Promise<World> {
  const world = new World(options);
  for (const name of names) await world.create(aLease(name));
  return world;
}

const soon = (world: World, ms = 10): Promise<void> => world.scheduler.pass(ms);
const big = (name: string) => aLease(name, { holderIdentity: "x".repeat(100_000) });

describe("an object that wakes", () => {
  it.each<[string, (kept: KeptWatch) => KeptWatch | undefined]>([
    ["nothing was kept", () => undefined],
    ["what was kept is of another incarnation", (kept) => ({ ...kept, incarnation: "another" })],
    ["its cursor is one that the store has never had", (kept) => ({ ...kept, cursor: 99 })],
    ["its start was not over", (kept) => ({ ...kept, isStarted: false })],
    ["its selector cannot be read any more", (kept) => ({ ...kept, request: { ...kept.request, labelSelector: "a b" } })],
  ])("%s: the socket ends", async (_, changed) => {
    const world = await worldOf(["a"]);
    const { kept } = world.open({ resourceVersion: "2" });
    const socket = new Socket();
    world.again();
    world.watches.wake(socket, kept && changed(kept));
    await world.create(aLease("b"));
    await soon(world);
    expect([socket.closed, socket.frames, world.store.hub.size]).toEqual([1001, [], 0]);
  });

  it("the history behind the cursor comes before what happens, and only once", async () => {
    const world = await worldOf(["a"]);
    const socket = world.open({ resourceVersion: "2" });
    await soon(world);
    const kept = socket.kept;
    for (const name of ["b", "c"]) await world.create(aLease(name));
    await soon(world);
    expect(socket.frames).toEqual(["live 2", "through 3 b", "through 4 c"]);
    world.again();
    // What it was given since is not known: as if the object had ended before the frames left.
    const other = new Socket();
    world.watches.wake(other, kept);
    await world.create(aLease("d"));
    await soon(world);
    expect(other.frames).toEqual(["through 4 b c", "through 5 d"]);
    expect(other.kept?.cursor).toBe(5);
  });

  it("history that no longer reaches back: the socket ends, and the next question is refused with 410", async () => {
    const world = await worldOf(["a"], { historyBounds: { entriesMax: 2, sizeMax: 1e9, trimEntries: 1 } });
    const socket = world.open({ resourceVersion: "2" });
    await soon(world);
    for (const name of ["b", "c", "d", "e"]) await world.create(aLease(name));
    const kept = socket.kept && { ...socket.kept, cursor: 2 };
    world.again();
    const other = new Socket();
    world.watches.wake(other, kept);
    await soon(world);
    expect([other.closed, other.frames]).toEqual([1001, []]);
    expect(world.watches.prepare(collectionRequest(world.definition, { verb: "watch", resourceVersion: "2" }))).toMatchObject({
      ok: false,
      error: { code: 410 },
    });
  });

  it("a watch without credit: waits for it, then gets the rest from the history", async () => {
    const world = await worldOf(["a"]);
    const socket = world.open({ resourceVersion: "2" });
    await soon(world);
    for (let i = 0; i < 10; i++) await world.create(big(`b${String(i)}`));
    await soon(world);
    const sent = socket.bytes;
    expect(sent).toBeLessThan(RELAY_WINDOW_BYTES + 110_000);
    world.again();
    world.watches.wake(socket, socket.kept);
    await soon(world);
    expect(socket.bytes).toBe(sent);
    while (socket.frames.at(-1)?.startsWith("through 12") !== true) {
      world.watches.heard(socket, String(socket.bytes));
      await soon(world);
    }
    expect(socket.frames.flatMap((frame) => frame.split(" ").slice(2))).toEqual(Array.from({ length: 10 }, (_, i) => `b${String(i)}`));
  });

  it("changes that nobody there sees: are told a second after the first one, and then each five seconds while they go on", async () => {
    const world = await worldOf(["a"]);
    const socket = world.open({ resourceVersion: "2", labelSelector: "x=y" });
    await soon(world);
    await world.create(aLease("b"));
    await soon(world, WATCH_PROGRESS_FIRST_MS - 20);
    expect(socket.frames).toEqual(["live 2"]);
    await soon(world, 20);
    expect(socket.frames).toEqual(["live 2", "through 3"]);
    for (const name of ["c", "d"]) {
      await world.create(aLease(name));
      await soon(world, WATCH_PROGRESS_FIRST_MS);
    }
    expect(socket.frames).toEqual(["live 2", "through 3"]);
    await soon(world, WATCH_PROGRESS_MS);
    expect(socket.frames).toEqual(["live 2", "through 3", "through 5"]);
  });

  it("what passed before the sleep: is told after the wake", async () => {
    const world = await worldOf(["a"]);
    const socket = world.open({ resourceVersion: "2", labelSelector: "x=y" });
    await soon(world);
    await world.create(aLease("b"));
    world.again();
    world.watches.wake(socket, socket.kept);
    await soon(world, WATCH_PROGRESS_MS + 10);
    expect(socket.frames).toEqual(["live 2", "through 3"]);
  });
});

describe("a socket", () => {
  it("of a Worker that has left: ends its watch with the next frame", async () => {
    const world = await worldOf(["a"]);
    const socket = world.open({ resourceVersion: "2" });
    await soon(world);
    socket.isGone = true;
    await world.create(aLease("b"));
    await soon(world);
    expect(world.store.hub.size).toBe(0);
  });

  it("whose start nobody takes: ends; one who takes it goes on", async () => {
    const world = await worldOf([]);
    for (let i = 0; i < 20; i++) await world.create(big(`b${String(i)}`));
    const [idle, slow] = [world.open({}), world.open({})];
    for (let step = 0; step < 12; step++) {
      await soon(world, MISSED_CHANGES_STALLED_MS / 2);
      world.watches.heard(slow, String(slow.bytes));
    }
    await soon(world);
    expect([idle.closed, slow.closed, slow.frames.at(-1)]).toEqual([1001, undefined, "live 21"]);
  });

  it("lost while its start is sent: no timer is left", async () => {
    const world = await worldOf([]);
    for (let i = 0; i < 20; i++) await world.create(big(`b${String(i)}`));
    const socket = world.open({});
    const send = socket.send.bind(socket);
    socket.send = (bytes) => {
      send(bytes);
      world.watches.closed(socket);
    };
    const timers = vi.spyOn(world.scheduler, "after");
    await soon(world);
    expect([socket.frames.length, socket.closed, world.store.hub.size]).toEqual([1, undefined, 0]);
    expect(timers.mock.calls.filter(([ms]) => ms === MISSED_CHANGES_STALLED_MS)).toEqual([]);
  });

  it("answers of nonsense, or of more than was sent: change nothing", async () => {
    const world = await worldOf(["a"]);
    const socket = world.open({ resourceVersion: "1" });
    await soon(world);
    for (const nonsense of ["", "x", "-1", new ArrayBuffer(2)]) world.watches.heard(socket, nonsense);
    world.watches.heard(socket, "999999999");
    expect(socket.kept).toMatchObject({ sent: socket.bytes, taken: socket.bytes });
    world.watches.heard(socket, "1");
    expect(socket.kept?.taken).toBe(socket.bytes);
    world.watches.heard(new Socket(), "1");
  });
});
