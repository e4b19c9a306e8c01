/** Lists, and watches that begin with a list, whose clients take their time, from a real store: what they hold, what they show, and how many there may be. */
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { systemDigest } from "../../../../durable-objects/platform/ports";
import { pageResponse } from "../../../../durable-objects/answers/page-response";
import type { ResourceStore } from "../../../../durable-objects/resource-store";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { CollectionRequest } from "../../../../src/api/rpc/store";
import type { ListBody, ListRows } from "../../../../src/api/store/list/list-page";
import { definitionOf } from "../../../../src/api/registry/all";
import { COLLECTION_HEADER, encodeCollection } from "../../../../src/api/store/list/collection-header";
import { readRelayFrame, RELAY_FORM, RELAY_HEADER, RELAY_WINDOW_BYTES, relayAnswer } from "../../../../src/api/store/watch/relay-frames";
import { collectionRequest } from "../../../support/worlds/store-world";
import { StreamedLists } from "../../../../src/api/store/list/streamed-lists";
import { collect, deleteFrom, freshCluster, mergePatch, type StoreStub, storeStubOf } from "../../../support/objects/store-stubs";
import { concatenated } from "../../../support/values/protobuf-answers";
import { PATIENCE } from "../../../support/objects/patience";

const OBJECTS = 15_000;
const LISTS = 10;
/** MAX_STREAMED_LISTS of wrangler.toml */
const LISTS_MAX = 20;
/** A Service has some 950 characters. */
const PAYLOAD = "x".repeat(700);
const MIB = 1024 * 1024;

const nameOf = (i: number): string => `n${String(i).padStart(5, "0")}`;

function object(i: number): KubeObject {
  const metadata = { name: nameOf(i), namespace: "default", uid: crypto.randomUUID() };
  return { metadata: { ...metadata, annotations: { payload: PAYLOAD } } };
}

interface Store {
  stub: StoreStub;
  /** characters of all objects */
  size: number;
  /** of the objects that were read so far, each time */
  readChars(): number;
}

/** A store of so many objects, which count what is read of them. */
async function filled(objects: number): Promise<Store> {
  const stub = storeStubOf(freshCluster(), "leases.coordination.k8s.io");
  let read = 0;
  const size = await runInDurableObject(stub, async ({ brain }: ResourceStore) => {
    const { store } = brain;
    await store.internally((turn) => {
      for (let i = 0; i < objects; i++) turn.add(`default/${nameOf(i)}`, object(i));
    });
    const { storage } = store;
    const scan = storage.objectScan.bind(storage);
    storage.objectScan = function* (from, to) {
      for (const row of scan(from, to)) {
        read += row.data.length;
        yield row;
      }
    };
    let chars = 0;
    for (const { data } of scan("", "")) chars += data.length;
    return chars;
  });
  return { stub, size, readChars: () => read };
}

const list = ({ stub }: Store, overrides: Partial<CollectionRequest> = {}): Promise<Response> =>
  collect(stub, "coordination.k8s.io", "leases", overrides);

/** A watch with initial events, as a Worker asks for it. */
function watch({ stub }: Store): Promise<Response> {
  const definition = definitionOf("coordination.k8s.io", "leases");
  if (!definition) throw new Error("no leases");
  const asked = { verb: "watch", sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true } as const;
  const headers = { [COLLECTION_HEADER]: encodeCollection(collectionRequest(definition, asked)), [RELAY_HEADER]: RELAY_FORM };
  return stub.fetch("http://store/collection", { headers: { Upgrade: "websocket", ...headers } });
}

/** A Worker that says that its clients take nothing until `take`. */
class HeldWatch {
  readonly socket: WebSocket;
  /** of the objects of all events */
  readonly names: string[] = [];
  bytes = 0;
  #takes = false;

  constructor({ webSocket, status }: Response) {
    if (!webSocket) throw new Error(`no socket but ${String(status)}`);
    this.socket = webSocket;
    webSocket.binaryType = "arraybuffer";
    webSocket.addEventListener("message", ({ data }) => {
      const bytes = readRelayFrame(data)?.bytes ?? new Uint8Array();
      this.bytes += bytes.length;
      const lines = new TextDecoder().decode(bytes).split("\n");
      for (const line of lines) if (line !== "") this.names.push((JSON.parse(line) as { object: KubeObject }).object.metadata?.name ?? "");
      if (this.#takes) this.take();
    });
    webSocket.accept();
  }

  take(): void {
    this.#takes = true;
    this.socket.send(relayAnswer(this.bytes));
  }
}

interface Listed {
  metadata: { resourceVersion: string; continue?: string };
  items: KubeObject[];
}

const namesOf = ({ items }: Listed): string[] => items.map(({ metadata }) => metadata?.name ?? "");
const allNames = (objects: number): string[] => Array.from({ length: objects }, (_, i) => nameOf(i));

it("ten held lists of 15,000 objects: have read a megabyte each, and show their revision in the end", async () => {
  const store = await filled(OBJECTS);
  const { stub, size, readChars } = store;
  expect(size).toBeGreaterThan(12 * MIB);
  const held: Response[] = [];
  for (let i = 0; i < LISTS; i++) held.push(await list(store));
  expect(held.map(({ status }) => status)).toEqual(Array(LISTS).fill(200));
  const begun = readChars();
  expect(begun).toBeLessThan(LISTS * (MIB + 2_000));
  await deleteFrom(stub, "default", nameOf(OBJECTS - 1));
  await stub.write(mergePatch("default", nameOf(OBJECTS - 2), { metadata: { annotations: { payload: "new" } } }));
  // The platform has had time to ask for more.
  expect(readChars() - begun).toBeLessThan(LISTS * MIB);
  const [first, ...others] = held;
  const listed = (await first?.json()) as Listed;
  expect([listed.metadata.resourceVersion, namesOf(listed)]).toEqual([String(OBJECTS + 1), allNames(OBJECTS)]);
  expect(listed.items.at(-2)?.metadata?.annotations).toEqual({ payload: PAYLOAD });
  for (const other of others) await other.body?.cancel();
  const now = (await (await list(store)).json()) as Listed;
  expect([now.metadata.resourceVersion, namesOf(now)]).toEqual([String(OBJECTS + 3), allNames(OBJECTS - 1)]);
});

it("ten watches that begin with 15,000 objects, whose Workers take nothing: have read little more than a megabyte each, and show one revision", async () => {
  const store = await filled(OBJECTS);
  const { stub, readChars } = store;
  const held: HeldWatch[] = [];
  for (let i = 0; i < LISTS; i++) held.push(new HeldWatch(await watch(store)));
  await expect.poll(() => held.every(({ bytes }) => bytes > 0), PATIENCE).toBe(true);
  await deleteFrom(stub, "default", nameOf(OBJECTS - 1));
  await stub.write(mergePatch("default", nameOf(OBJECTS - 2), { metadata: { annotations: { payload: "new" } } }));
  // The platform has had time to ask for more.
  expect(readChars()).toBeLessThan(LISTS * (MIB + MIB / 4 + 4_000));
  for (const { bytes } of held) expect(bytes).toBeLessThan(RELAY_WINDOW_BYTES + MIB / 4 + 100_000);
  const [first, ...others] = held;
  for (const other of others) other.socket.close();
  first?.take();
  await expect.poll(() => first?.names.length, PATIENCE).toBe(OBJECTS + 3);
  expect(first?.names).toEqual([...allNames(OBJECTS), "", nameOf(OBJECTS - 1), nameOf(OBJECTS - 2)]);
  first?.socket.close();
});

it("more watches that begin with much than lists may be sent: 429 with Retry-After, also beside held lists", async () => {
  const store = await filled(2_000);
  const lists = await Promise.all(Array.from({ length: LISTS_MAX / 2 }, () => list(store)));
  const watches: HeldWatch[] = [];
  for (let i = 0; i < LISTS_MAX / 2; i++) watches.push(new HeldWatch(await watch(store)));
  const refused = await watch(store);
  expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "1"]);
  expect((await list(store)).status).toBe(429);
  watches[0]?.take();
  await expect.poll(() => watches[0]?.names.at(-1), PATIENCE).toBe("");
  const next = await list(store);
  expect(namesOf(await next.json())).toEqual(allNames(2_000));
  for (const { body } of lists) await body?.cancel();
  for (const { socket } of watches) socket.close();
});

it("large lists in protobuf: the same bytes, also of those that find no room for what they have encoded", async () => {
  const store = await filled(3_000);
  const alone = new Uint8Array(await (await list(store, { encoding: "protobuf" })).arrayBuffer());
  expect(alone.length).toBeGreaterThan(2 * MIB);
  const held = await Promise.all(Array.from({ length: 10 }, () => list(store, { encoding: "protobuf" })));
  const readers = held.map(({ body }) => (body as ReadableStream<Uint8Array>).getReader());
  // Each has encoded everything now, and what all hold is less than half of that.
  const bodies = await Promise.all(readers.map(async (reader) => [await reader.read()]));
  for (const [i, reader] of readers.entries()) {
    for (let next = await reader.read(); !next.done; next = await reader.read()) bodies[i]?.push(next);
  }
  const digests = bodies.map((pieces) => systemDigest(concatenated(pieces.flatMap(({ value }) => value ?? []))));
  expect(new Set(await Promise.all(digests))).toEqual(new Set([await systemDigest(alone)]));
});

it.each([
  ["behind its first piece", 1],
  ["before the answer", 0],
])("a client that leaves %s: its signal alone gives the place back, and nothing more is read", async (_, taken) => {
  const places = new StreamedLists({ now: () => 0 }, 1);
  const place = places.begin();
  if (!place) throw new Error("there is no place");
  let read = 0;
  async function* behind(): AsyncGenerator<ListRows, void> {
    for (; read < 10; read++) yield await Promise.resolve({ rows: ["x".repeat(MIB)], keys: [`k${String(read)}`], revisions: [1] });
  }
  const form: ListBody["form"] = { encoding: "json", envelope: { head: "[", tail: "]" }, row: (stored) => stored };
  const begun = { rows: ["x".repeat(MIB)], keys: ["k"], revisions: [1] };
  const client = new AbortController();
  if (taken === 0) client.abort();
  const body: ListBody = { form, begun, rest: { chars: MIB, after: "", behind, isThere: () => true, place } };
  const reader = pageResponse(body, "owner", client.signal).body?.getReader();
  for (let i = 0; i < taken; i++) await reader?.read();
  expect(places.size).toBe(taken);
  client.abort();
  expect(places.size).toBe(0);
  await expect(reader?.read()).rejects.toThrow("broken off");
  expect(read).toBe(0);
});

describe("more lists than a store sends at once", () => {
  it("the next one: 429 with Retry-After, until one of them ends; small lists are answered", async () => {
    const store = await filled(2_000);
    const held = await Promise.all(Array.from({ length: LISTS_MAX }, () => list(store)));
    const refused = await list(store);
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({ kind: "Status", reason: "TooManyRequests", details: { retryAfterSeconds: 1 } });
    const small = await list(store, { limit: 500 });
    expect(namesOf(await small.json())).toEqual(allNames(500));
    await held[0]?.body?.cancel();
    await expect.poll(async () => await statusOfNext(store), PATIENCE).toBe(200);
    expect(namesOf(await (held[1] as Response).json())).toEqual(allNames(2_000));
    await expect.poll(async () => await statusOfNext(store), PATIENCE).toBe(200);
    for (const { body } of held.slice(2)) await body?.cancel();
  });

  async function statusOfNext(store: Store): Promise<number> {
    const { status, body } = await list(store);
    await body?.cancel();
    return status;
  }
});

it("a store that begins a new life under a held list: the body breaks off, and the next list is whole", async () => {
  const store = await filled(2_000);
  const held = await list(store);
  expect(await store.stub.beginAbove({ asOf: Date.now() })).not.toBeNull();
  await expect(held.json()).rejects.toThrow();
  expect(namesOf(await (await list(store)).json())).toEqual(allNames(2_000));
});

it("deletecollection of a large collection: everything is deleted, and the answer is the list of it", async () => {
  const store = await filled(2_000);
  const answer = await list(store, { verb: "deletecollection" });
  expect(namesOf(await answer.json())).toEqual(allNames(2_000));
  expect(namesOf(await (await list(store)).json())).toEqual([]);
});
