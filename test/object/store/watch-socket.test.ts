import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { definitionOf } from "../../../src/api/registry/all";
import type { CollectionRequest } from "../../../src/api/rpc/store";
import { sqlStoreStorage } from "../../../durable-objects/sql/store-sql";
import { AWAITED_REVISION_MS, WATCH_PROGRESS_MS } from "../../../src/api/store/state/limits";
import { COLLECTION_HEADER, encodeCollection } from "../../../src/api/store/list/collection-header";
import {
  readRelayFrame,
  RELAY_FORM,
  RELAY_HEADER,
  RELAY_WINDOW_BYTES,
  relayAnswer,
  type RelayFrame,
} from "../../../src/api/store/watch/relay-frames";
import { createIn, deleteFrom, freshCluster, mergePatch, type StoreStub, storeStubOf } from "../../support/objects/store-stubs";
import { forgetHistory } from "../../support/worlds/stored-history";
import { aLease as lease, collectionRequest } from "../../support/worlds/store-world";
import { PATIENCE } from "../../support/objects/patience";
import { ringAtOnce } from "../../support/objects/quick-timers";

const LEASES = definitionOf("coordination.k8s.io", "leases");
const leasesOf = (cluster: string): StoreStub => storeStubOf(cluster, "leases.coordination.k8s.io");
const aLease = (name: string, holderIdentity = "x") => lease(name, { holderIdentity }, { namespace: "default" });

/** A Worker's handshake, unless `headers` say otherwise. */
function handshake(
  stub: StoreStub,
  overrides: Partial<CollectionRequest>,
  headers: Record<string, string> = { [RELAY_HEADER]: RELAY_FORM },
): Promise<Response> {
  if (!LEASES) throw new Error("no leases");
  const request = collectionRequest(LEASES, { verb: "watch", ...overrides });
  return stub.fetch("http://store/collection", {
    headers: { Upgrade: "websocket", [COLLECTION_HEADER]: encodeCollection(request), ...headers },
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** What comes over a socket; `closed` is its close code. */
class SocketReader {
  readonly frames: RelayFrame[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<number>;

  constructor(response: Response) {
    if (!response.webSocket) throw new Error(`no socket but ${response.status}`);
    this.socket = response.webSocket;
    this.socket.binaryType = "arraybuffer";
    this.closed = new Promise((resolve) => {
      this.socket.addEventListener("close", ({ code }) => resolve(code));
    });
    this.socket.addEventListener("message", ({ data }) => {
      const frame = readRelayFrame(data);
      if (frame) this.frames.push(frame);
    });
    this.socket.accept();
  }

  get bytes(): number {
    return this.frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** "live 3", "through 4" */
  get places(): string[] {
    return this.frames.map(({ kind, revision }) => `${kind} ${revision}`);
  }

  get brief(): string[] {
    const text = this.frames.map(({ bytes }) => new TextDecoder().decode(bytes)).join("");
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line) => {
      const { type, object } = JSON.parse(line) as { type: string; object: KubeObject };
      return `${type} ${object.metadata?.name ?? ""}@${object.metadata?.resourceVersion ?? ""}`;
    });
  }
}

describe("a Worker's watch", () => {
  it("the objects, then what comes: frames with the revisions that they reach", async () => {
    const stub = leasesOf(freshCluster());
    await createIn(stub, aLease("a"));
    await createIn(stub, aLease("b"));
    const response = await handshake(stub, {});
    expect([response.status, response.headers.get(RELAY_HEADER)]).toEqual([101, RELAY_FORM]);
    expect(response.headers.get("Servicenet-Source")).toMatch(/^owner;incarnation=/);
    const reader = new SocketReader(response);
    await vi.waitFor(() => expect(reader.places).toEqual(["start 3", "live 3"]), PATIENCE);
    await deleteFrom(stub, "default", "a");
    await createIn(stub, aLease("c"));
    await vi.waitFor(() => expect(reader.places).toEqual(["start 3", "live 3", "through 4", "through 5"]), PATIENCE);
    expect(reader.brief).toEqual(["ADDED a@2", "ADDED b@3", "DELETED a@4", "ADDED c@5"]);
    reader.socket.close();
  });

  it("what nobody there sees: is declared complete some seconds later, and when another one of the cohort begins", async () => {
    const stub = leasesOf(freshCluster());
    const selected = { labelSelector: "color=red", resourceVersion: "1" };
    const reader = new SocketReader(await handshake(stub, selected));
    await createIn(stub, aLease("a"));
    const other = new SocketReader(await handshake(stub, { ...selected, resourceVersion: "2" }));
    await vi.waitFor(() => expect([reader.places, other.places]).toEqual([["live 1", "through 2"], ["live 2"]]), PATIENCE);
    await createIn(stub, aLease("b"));
    await vi.waitFor(() => expect([reader.places.at(-1), other.places.at(-1)]).toEqual(["through 3", "through 3"]), {
      timeout: 4 * WATCH_PROGRESS_MS,
    });
    for (const { socket } of [reader, other]) socket.close();
  });

  it("a Worker that takes nothing: gets its window and no more; with each answer it gets the next, once and in order", async () => {
    const stub = leasesOf(freshCluster());
    const reader = new SocketReader(await handshake(stub, { resourceVersion: "1" }));
    const big = "x".repeat(100_000);
    await createIn(stub, aLease("a"));
    for (let i = 0; i < 20; i++) await stub.write(mergePatch("default", "a", { spec: { holderIdentity: `${i}${big}` } }));
    await vi.waitFor(() => expect(reader.bytes).toBeGreaterThanOrEqual(RELAY_WINDOW_BYTES), PATIENCE);
    await stub.counters();
    expect(reader.bytes).toBeLessThan(2 * RELAY_WINDOW_BYTES);
    for (const nonsense of ["", "-1", "x", "1e3"]) reader.socket.send(nonsense);
    await vi.waitFor(() => {
      reader.socket.send(relayAnswer(reader.bytes));
      expect(reader.brief).toHaveLength(21);
    }, PATIENCE);
    expect(reader.brief).toEqual(["ADDED a@2", ...Array.from({ length: 20 }, (_, i) => `MODIFIED a@${i + 3}`)]);
    reader.socket.close();
  });

  it("endWatches: closes it, and counters tell sockets from watches", async () => {
    const stub = leasesOf(freshCluster());
    const open = new SocketReader(await handshake(stub, {}));
    expect(await stub.counters()).toMatchObject({ watchers: 0, watches: [], sockets: 1 });
    await stub.endWatches();
    expect(await open.closed).toBe(1001);
    expect(await stub.counters()).toMatchObject({ watchers: 0, sockets: 0 });
  });

  it("a Worker that leaves: its socket is gone from the store", async () => {
    const stub = leasesOf(freshCluster());
    const readers = await Promise.all(Array.from({ length: 5 }, async () => new SocketReader(await handshake(stub, {}))));
    expect((await stub.counters()).sockets).toBe(5);
    for (const { socket } of readers) socket.close();
    await vi.waitFor(async () => expect((await stub.counters()).sockets).toBe(0), PATIENCE);
  });

  it("a refused watch: answers a Status", async () => {
    const cluster = freshCluster();
    const stub = leasesOf(cluster);
    ringAtOnce(AWAITED_REVISION_MS);
    expect((await handshake(stub, { resourceVersion: "99" })).status).toBe(504);
    const bad = await handshake(stub, { labelSelector: "a b" });
    expect([bad.status, (await bad.json<{ reason: string }>()).reason]).toEqual([400, "BadRequest"]);
    for (const name of ["a", "b", "c"]) await createIn(stub, aLease(name));
    await runInDurableObject(stub, (_, { storage }) => forgetHistory(sqlStoreStorage(storage), 3));
    await abortAllDurableObjects();
    const old = await handshake(leasesOf(cluster), { resourceVersion: "1" });
    expect([old.status, (await old.json<{ reason: string }>()).reason]).toEqual([410, "Expired"]);
    expect((await leasesOf(cluster).counters()).sockets).toBe(0);
  });

  it("a Worker of another release: 503 with Retry-After", async () => {
    const answer = await handshake(leasesOf(freshCluster()), {}, {});
    expect([answer.status, answer.headers.get("Retry-After")]).toEqual([503, "1"]);
  });

  it("an object that dies: its sockets end", async () => {
    const cluster = freshCluster();
    const reader = new SocketReader(await handshake(leasesOf(cluster), {}));
    await abortAllDurableObjects();
    expect(await reader.closed).not.toBe(1000);
    expect((await leasesOf(cluster).counters()).sockets).toBe(0);
  });

  it("a request too large to be kept: is watched all the same", async () => {
    const stub = leasesOf(freshCluster());
    const names = Array.from({ length: 2_000 }, (_, i) => `value-${i}`).join(",");
    const reader = new SocketReader(await handshake(stub, { labelSelector: `color notin (${names})`, resourceVersion: "1" }));
    await createIn(stub, aLease("a"));
    await vi.waitFor(() => expect(reader.brief).toEqual(["ADDED a@2"]), PATIENCE);
    reader.socket.close();
  });
});
