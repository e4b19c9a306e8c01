import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { definitionOf } from "../../../src/api/registry/all";
import type { CollectionRequest } from "../../../src/api/rpc/store";
import { AWAITED_REVISION_MS } from "../../../src/api/store/state/limits";
import { COLLECTION_HEADER, encodeCollection } from "../../../src/api/store/list/collection-header";
import { createIn, deleteFrom, freshCluster, mergePatch, type StoreStub, storeStubOf } from "../../support/objects/store-stubs";
import { aLease as lease, collectionRequest } from "../../support/worlds/store-world";
import { PATIENCE } from "../../support/objects/patience";
import { ringAtOnce } from "../../support/objects/quick-timers";

const LEASES = definitionOf("coordination.k8s.io", "leases");
const leasesOf = (cluster: string): StoreStub => storeStubOf(cluster, "leases.coordination.k8s.io");
const aLease = (name: string, holderIdentity = "x") => lease(name, { holderIdentity }, { namespace: "default" });

function handshake(stub: StoreStub, overrides: Partial<CollectionRequest>, protocol?: string): Promise<Response> {
  if (!LEASES) throw new Error("no leases");
  const request = collectionRequest(LEASES, { verb: "watch", ...overrides });
  const headers = { Upgrade: "websocket", [COLLECTION_HEADER]: encodeCollection(request) };
  return stub.fetch("http://store/collection", { headers: protocol ? { ...headers, "Sec-WebSocket-Protocol": protocol } : headers });
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** A socket's messages as they come; `closed` is its close code. */
class SocketReader {
  readonly messages: string[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<number>;

  constructor(response: Response) {
    if (!response.webSocket) throw new Error(`no socket but ${response.status}`);
    this.socket = response.webSocket;
    this.closed = new Promise((resolve) => {
      this.socket.addEventListener("close", ({ code }) => resolve(code));
    });
    this.socket.addEventListener("message", ({ data }) => {
      this.messages.push(data as string);
    });
    this.socket.accept();
  }

  get brief(): string[] {
    return this.messages.map((message) => {
      const { type, object } = JSON.parse(message) as { type: string; object: KubeObject };
      return `${type} ${object.metadata?.name ?? ""}@${object.metadata?.resourceVersion ?? ""}`;
    });
  }
}

describe("a watch over WebSocket", () => {
  it("events of the start and later: one text message each, with its newline; messages of the client: ignored", async () => {
    const stub = leasesOf(freshCluster());
    await createIn(stub, aLease("a"));
    await createIn(stub, aLease("b"));
    const response = await handshake(stub, {}, "v1.watch");
    expect([response.status, response.headers.get("Sec-WebSocket-Protocol")]).toEqual([101, "v1.watch"]);
    const reader = new SocketReader(response);
    for (const said of ["", "{", "\0", "x".repeat(100_000), new Uint8Array([0xff, 0xfe])]) reader.socket.send(said);
    await deleteFrom(stub, "default", "a");
    for (const name of ["c", "d"]) await createIn(stub, aLease(name));
    await vi.waitFor(() => expect(reader.messages).toHaveLength(5), PATIENCE);
    expect(reader.brief).toEqual(["ADDED a@2", "ADDED b@3", "DELETED a@4", "ADDED c@5", "ADDED d@6"]);
    expect(reader.messages.every((message) => message.endsWith("\n"))).toBe(true);
    reader.socket.close();
  });

  it("a watch over WebSocket: is closed properly at its timeout and by endWatches", async () => {
    const stub = leasesOf(freshCluster());
    const timed = new SocketReader(await handshake(stub, { timeoutSeconds: 1 }));
    expect(await timed.closed).toBe(1000);
    const open = new SocketReader(await handshake(stub, {}));
    await stub.endWatches();
    expect(await open.closed).toBe(1000);
    expect((await stub.counters()).watchers).toBe(0);
  });

  it("a client that leaves: its watch is gone from the store", async () => {
    const stub = leasesOf(freshCluster());
    const readers = await Promise.all(Array.from({ length: 5 }, async () => new SocketReader(await handshake(stub, {}))));
    expect((await stub.counters()).watchers).toBe(5);
    for (const { socket } of readers) socket.close();
    await vi.waitFor(async () => expect((await stub.counters()).watchers).toBe(0), PATIENCE);
  });

  it("a refused watch over WebSocket: answers a Status", async () => {
    const stub = leasesOf(freshCluster());
    ringAtOnce(AWAITED_REVISION_MS);
    expect((await handshake(stub, { resourceVersion: "99" })).status).toBe(504);
    const bad = await handshake(stub, { labelSelector: "a b" });
    expect([bad.status, (await bad.json<{ reason: string }>()).reason]).toEqual([400, "BadRequest"]);
    expect((await stub.counters()).watchers).toBe(0);
  });

  it("a watch over WebSocket from before the history: one ERROR message, then the close", async () => {
    const cluster = freshCluster();
    const stub = leasesOf(cluster);
    for (const name of ["a", "b", "c"]) await createIn(stub, aLease(name));
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec("DELETE FROM history WHERE revision <= 3");
      storage.sql.exec("UPDATE store_state SET floor = 3");
    });
    await abortAllDurableObjects();
    const old = new SocketReader(await handshake(leasesOf(cluster), { resourceVersion: "1" }));
    expect(await old.closed).toBe(1000);
    expect(old.messages.map((message) => JSON.parse(message) as unknown)).toMatchObject([
      { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } },
    ]);
  });

  it("4 MiB of events: close the socket, and a watch from the last revision misses nothing", async () => {
    const stub = leasesOf(freshCluster());
    await createIn(stub, aLease("a"));
    const first = new SocketReader(await handshake(stub, { resourceVersion: "2" }));
    const big = "x".repeat(500_000);
    for (let i = 0; i < 12; i++) await stub.write(mergePatch("default", "a", { spec: { holderIdentity: `${i}${big}` } }));
    expect(await first.closed).toBe(1000);
    const sent = first.messages.reduce((sum, { length }) => sum + length, 0);
    expect(sent).toBeGreaterThan(4 * 1024 * 1024);
    expect(sent).toBeLessThan(5 * 1024 * 1024);
    const last = first.brief.at(-1)?.split("@")[1] ?? "";
    const second = new SocketReader(await handshake(stub, { resourceVersion: last }));
    await vi.waitFor(() => expect(first.messages.length + second.messages.length).toBe(12), PATIENCE);
    expect([...first.brief, ...second.brief]).toEqual(Array.from({ length: 12 }, (_, i) => `MODIFIED a@${i + 3}`));
    second.socket.close();
  });
});
