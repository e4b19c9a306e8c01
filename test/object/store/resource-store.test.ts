import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { RESOURCE_STORE_MIGRATIONS, type ResourceStore } from "../../../durable-objects/resource-store";
import { migrate } from "../../../durable-objects/sql/migrate";
import { sqlNamespaceGuardStorage, sqlStoreStorage } from "../../../durable-objects/sql/store-sql";
import { OBJECT_MAX_BYTES } from "../../../src/api/schema/decode-limits";
import { AWAITED_REVISION_MS } from "../../../src/api/store/state/limits";
import type { CoreEvent, KubeObject, Lease } from "../../../src/api/meta/kubernetes";
import type { WriteResult } from "../../../src/api/rpc/store";
import { storeStorageCases } from "../../contract/store-storage.suite";
import {
  collect,
  createIn,
  deleteFrom,
  freshCluster,
  mergePatch,
  storedIn,
  type StoreStub,
  storeStubOf,
} from "../../support/objects/store-stubs";
import { forgetHistory } from "../../support/worlds/stored-history";
import { readFrames } from "../../support/values/protobuf-answers";
import { aLease as lease, createRequest, WRITE } from "../../support/worlds/store-world";
import { PATIENCE } from "../../support/objects/patience";
import { ringAtOnce } from "../../support/objects/quick-timers";

const GROUP = "coordination.k8s.io";
const LEASES = `leases.${GROUP}`;
const leasesOf = (cluster: string): StoreStub => storeStubOf(cluster, LEASES);
const aLease = (name: string, spec: Lease["spec"] = {}, metadata: Lease["metadata"] = {}): Lease =>
  lease(name, spec, { namespace: "default", ...metadata });
const versionOf = (result: WriteResult): number =>
  result.ok ? Number((JSON.parse(result.object) as KubeObject).metadata?.resourceVersion) : result.status.code;

interface Frame {
  type: string;
  object: KubeObject & { code?: number; reason?: string };
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** Reads a watch's frames one by one. */
class FrameReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    if (!response.body) throw new Error("a watch has a body");
    this.#reader = response.body.getReader();
  }

  /** The next frame; undefined = the end of the body. */
  async next(): Promise<Frame | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n");
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return JSON.parse(line) as Frame;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async brief(): Promise<string> {
    const frame = await this.next();
    return frame ? `${frame.type} ${frame.object.metadata?.name ?? ""}@${frame.object.metadata?.resourceVersion ?? ""}` : "end";
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

describe("the store's rows in SQLite", () => {
  it.each(storeStorageCases)("$name", ({ run }) =>
    runInDurableObject(storeStubOf(freshCluster(), "nodes"), async (_, state) => {
      await state.storage.deleteAll();
      migrate(state.storage, RESOURCE_STORE_MIGRATIONS, 0);
      run({ ...sqlStoreStorage(state.storage), ...sqlNamespaceGuardStorage(state.storage) });
    }),
  );
});

describe("counts of a store that an earlier release wrote to last", () => {
  async function remaining(cluster: string, namespace = ""): Promise<unknown> {
    const response = await collect(leasesOf(cluster), GROUP, "leases", { limit: 1, namespace });
    return (await response.json<{ metadata: { remainingItemCount?: number } }>()).metadata.remainingItemCount;
  }

  it("objects that an earlier release added and removed: are counted anew, once", async () => {
    const cluster = freshCluster();
    for (const name of ["a", "b", "c"]) await createIn(leasesOf(cluster), aLease(name));
    expect([await remaining(cluster), await remaining(cluster, "default")]).toEqual([2, 2]);
    await runInDurableObject(leasesOf(cluster), (_, { storage: { sql } }) => {
      // The statements of a release that knows of no counts.
      sql.exec("DELETE FROM objects WHERE key = 'default/a'");
      for (const name of ["d", "e"])
        sql.exec(
          "INSERT INTO objects (key, uid, revision, data) VALUES (?, ?, 300, ?)",
          `default/${name}`,
          name,
          JSON.stringify(aLease(name)),
        );
      sql.exec(
        "INSERT INTO store_state (id, incarnation, revision, floor, history_size) VALUES (1, '', 300, 300, 0) ON CONFLICT (id) DO UPDATE SET revision = 300",
      );
    });
    await abortAllDurableObjects();
    await createIn(leasesOf(cluster), aLease("f"));
    expect([await remaining(cluster), await remaining(cluster, "default"), await remaining(cluster, "other")]).toEqual([4, 4, undefined]);
    const saved = () =>
      runInDurableObject(leasesOf(cluster), (_, { storage: { sql } }) => [
        sql.exec("SELECT objects, counted_through FROM store_state WHERE reserved = -revision").toArray(),
        sql.exec("SELECT namespace, objects FROM namespace_counts").toArray(),
      ]);
    expect(await saved()).toEqual([[{ objects: 5, counted_through: null }], [{ namespace: "default", objects: 5 }]]);
    await abortAllDurableObjects();
    await deleteFrom(leasesOf(cluster), "default", "f");
    expect([await remaining(cluster), await saved()]).toEqual([
      3,
      [[{ objects: 5, counted_through: null }], [{ namespace: "default", objects: 5 }]],
    ]);
  });

  it("a namespace without objects: leaves no row of its count", async () => {
    const cluster = freshCluster();
    const saved = () =>
      runInDurableObject(leasesOf(cluster), async (store: ResourceStore, { storage: { sql } }) => {
        await store.beginAbove({ asOf: Date.now() });
        return sql.exec("SELECT namespace, objects FROM namespace_counts").toArray();
      });
    await createIn(leasesOf(cluster), aLease("a"));
    expect(await saved()).toEqual([{ namespace: "default", objects: 1 }]);
    await deleteFrom(leasesOf(cluster), "default", "a");
    expect(await saved()).toEqual([]);
  });

  it("the statements of the counts: seek, and scan no table of objects beyond their limit", async () => {
    const plans = await runInDurableObject(leasesOf(freshCluster()), (_, { storage: { sql } }) =>
      ["SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT ?", "SELECT objects FROM namespace_counts WHERE namespace = ?"].map(
        (text) =>
          sql
            .exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...Array.from(text.matchAll(/\?/gu), () => 1))
            .toArray()
            .map(({ detail }) => detail),
      ),
    );
    expect(plans).toEqual([["SEARCH objects USING PRIMARY KEY (key>?)"], ["SEARCH namespace_counts USING PRIMARY KEY (namespace=?)"]]);
  });
});

describe("writes", () => {
  it("writes of one turn: share one transaction, refused ones beside them", async () => {
    const stub = leasesOf(freshCluster());
    await createIn(stub, aLease("first"));
    const { drains, results } = await runInDurableObject(stub, async (store: ResourceStore) => {
      const before = (await store.counters()).drains;
      const names = ["first", ...Array.from({ length: 99 }, (_, i) => `a${i}`)];
      const written = await Promise.all(names.map((name) => store.write(createRequest(aLease(name)))));
      return { drains: (await store.counters()).drains - before, results: written };
    });
    expect(drains).toBe(1);
    expect(results.filter(({ ok }) => ok)).toHaveLength(99);
    expect(results.map(versionOf)).toEqual([409, ...Array.from({ length: 99 }, (_, i) => i + 3)]);
  });

  it("writes over RPC: each has its own answer, and they share commits", async () => {
    const stub = leasesOf(freshCluster());
    const results = await Promise.all(Array.from({ length: 150 }, (_, i) => createIn(stub, aLease(`a${i}`))));
    expect(new Set(results.map(versionOf)).size).toBe(150);
    const { drains, revision } = await stub.counters();
    expect([revision, drains < 150]).toEqual([151, true]);
  });

  it("create, patch, conflict, delete with finalizers: as over any storage", async () => {
    const stub = leasesOf(freshCluster());
    const created = await createIn(stub, aLease("a", {}, { finalizers: ["example.com/x"] }));
    expect(created).toMatchObject({ ok: true, code: 201, warnings: [], gone: false });
    expect(await createIn(stub, aLease("a"))).toMatchObject({ ok: false, status: { code: 409, reason: "AlreadyExists" } });
    expect(await stub.write(mergePatch("default", "a", { metadata: { resourceVersion: "1" } }))).toMatchObject({
      status: { reason: "Conflict" },
    });
    expect(await deleteFrom(stub, "default", "a")).toMatchObject({ ok: true, gone: false });
    expect(await stub.write(mergePatch("default", "a", { metadata: { finalizers: null } }))).toMatchObject({ ok: true, gone: true });
    expect(await stub.get({ namespace: "default", name: "a" }, "")).toMatchObject({ ok: false, status: { code: 404 } });
    ringAtOnce(AWAITED_REVISION_MS);
    expect(await stub.get({ namespace: "default", name: "a" }, "99")).toMatchObject({ ok: false, status: { code: 504 } });
  });

  it("a write into a missing namespace: 404, also by a PUT that creates", async () => {
    const stub = leasesOf(freshCluster());
    const object = aLease("a", {}, { namespace: "nowhere" });
    expect(await createIn(stub, object)).toMatchObject({ ok: false, status: { code: 404, message: 'namespaces "nowhere" not found' } });
    const key = { namespace: "nowhere", name: "a" };
    const put = { verb: "update", key, subresource: "", object: JSON.stringify(object), options: WRITE } as const;
    expect(await stub.write(put)).toMatchObject({ ok: false, status: { code: 404, message: 'namespaces "nowhere" not found' } });
  });

  it("the largest objects: stored, changed and deleted; growth beyond the limit is a 413", async () => {
    const stub = leasesOf(freshCluster());
    const large = OBJECT_MAX_BYTES - 1_000;
    expect(await createIn(stub, aLease("a", { holderIdentity: "x".repeat(large) }))).toMatchObject({ ok: true });
    expect(await stub.write(mergePatch("default", "a", { spec: { holderIdentity: "y".repeat(large) } }))).toMatchObject({ ok: true });
    expect(await stub.write(mergePatch("default", "a", { metadata: { annotations: { a: "z".repeat(2_000) } } }))).toMatchObject({
      ok: false,
      status: { code: 413, reason: "RequestEntityTooLarge" },
    });
    const reader = new FrameReader(await collect(stub, GROUP, "leases", { verb: "watch", resourceVersion: "1" }));
    expect([await reader.brief(), await reader.brief()]).toEqual(["ADDED a@2", "MODIFIED a@3"]);
    await reader.cancel();
    expect(await deleteFrom(stub, "default", "a")).toMatchObject({ ok: true, gone: true });
  });
});

describe("restart", () => {
  it("a restart: keeps objects, revision, history and closed namespaces", async () => {
    const cluster = freshCluster();
    for (const name of ["a", "b"]) await createIn(leasesOf(cluster), aLease(name));
    await deleteFrom(leasesOf(cluster), "default", "b");
    const { uid = "" } = (await storedIn<KubeObject>(storeStubOf(cluster, "namespaces"), "", "default"))?.metadata ?? {};
    await leasesOf(cluster).closeNamespace("default", uid);
    const before = await storedIn<Lease>(leasesOf(cluster), "default", "a");
    await abortAllDurableObjects();
    expect(await storedIn<Lease>(leasesOf(cluster), "default", "a")).toEqual(before);
    expect((await leasesOf(cluster).counters()).revision).toBe(4);
    expect(await leasesOf(cluster).emptyNamespace("default", uid)).toEqual({ objects: 0, finalizers: [] });
    const reader = new FrameReader(await collect(leasesOf(cluster), GROUP, "leases", { verb: "watch", resourceVersion: "2" }));
    expect([await reader.brief(), await reader.brief(), await reader.brief()]).toEqual(["ADDED b@3", "DELETED b@4", "DELETED a@5"]);
    await reader.cancel();
  });

  it("hazard 14: continue tokens work after a restart; those of a lost store are 410", async () => {
    const cluster = freshCluster();
    for (const name of ["a", "b", "c"]) await createIn(leasesOf(cluster), aLease(name));
    const page = await (await collect(leasesOf(cluster), GROUP, "leases", { limit: 1 })).json<{ metadata: { continue: string } }>();
    const continueToken = page.metadata.continue;
    await abortAllDurableObjects();
    const next = await (await collect(leasesOf(cluster), GROUP, "leases", { limit: 1, continueToken })).json<{ items: KubeObject[] }>();
    expect(next.items.map(({ metadata }) => metadata?.name)).toEqual(["b"]);
    const other = leasesOf(freshCluster());
    for (const name of ["a", "b", "c"]) await createIn(other, aLease(name));
    const refused = await collect(other, GROUP, "leases", { limit: 1, continueToken });
    expect(refused.status).toBe(410);
    expect(await refused.json()).toMatchObject({ reason: "Expired", metadata: { continue: expect.any(String) as string } });
  });
});

describe("lists", () => {
  it("a large list: its pieces make one document", async () => {
    const stub = leasesOf(freshCluster());
    const names = Array.from({ length: 40 }, (_, i) => `a${String(i).padStart(2, "0")}`);
    await Promise.all(names.map((name) => createIn(stub, aLease(name, { holderIdentity: `ü${"x".repeat(30_000)}` }))));
    const response = await collect(stub, GROUP, "leases");
    expect(response.headers.get("Content-Type")).toBe("application/json");
    let pieces = 0;
    let text = "";
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      pieces++;
      text += decoder.decode(piece as Uint8Array, { stream: true });
    }
    const list = JSON.parse(text) as { items: Lease[] };
    expect(list.items.map(({ metadata }) => metadata?.name)).toEqual(names);
    expect(pieces).toBeGreaterThan(1);
  });

  it("deletecollection: answers what it deletes, page by page", async () => {
    const stub = leasesOf(freshCluster());
    for (const name of ["a", "b", "c", "d"]) await createIn(stub, aLease(name, {}, { labels: { keep: String(name === "b") } }));
    const first = await collect(stub, GROUP, "leases", { verb: "deletecollection", labelSelector: "keep=false", limit: 2 });
    const list = await first.json<{ kind: string; items: KubeObject[] }>();
    expect([list.kind, list.items.map(({ metadata }) => metadata?.name)]).toEqual(["LeaseList", ["a", "c"]]);
    const dry = { dryRun: true, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined } as const;
    await (await collect(stub, GROUP, "leases", { verb: "deletecollection", namespace: "default", deleteOptions: dry })).text();
    expect((await stub.counters()).revision).toBe(7);
    await (await collect(stub, GROUP, "leases", { verb: "deletecollection", labelSelector: "keep=false" })).text();
    const left = await (await collect(stub, GROUP, "leases")).json<{ items: KubeObject[] }>();
    expect(left.items.map(({ metadata }) => metadata?.name)).toEqual(["b"]);
    expect((await collect(stub, GROUP, "leases", { verb: "deletecollection", labelSelector: "a b" })).status).toBe(400);
  });
});

describe("watches", () => {
  it("a watch: its headers forbid compression and caches", async () => {
    const response = await collect(leasesOf(freshCluster()), GROUP, "leases", { verb: "watch" });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json",
      "content-encoding": "identity",
      "cache-control": "no-cache, private, no-transform",
    });
    await response.body?.cancel();
  });

  it("a watch: delivers events, and a cancelled one is forgotten", async () => {
    const stub = leasesOf(freshCluster());
    await createIn(stub, aLease("a"));
    const [first, second] = await Promise.all(
      ["", "2"].map(async (resourceVersion) => new FrameReader(await collect(stub, GROUP, "leases", { verb: "watch", resourceVersion }))),
    );
    if (!first || !second) throw new Error("two watches");
    expect(await stub.counters()).toMatchObject({
      watchers: 2,
      watches: [{ group: GROUP, version: "v1", resource: "leases", scope: "cluster", count: 2 }],
    });
    await createIn(stub, aLease("b"));
    await deleteFrom(stub, "default", "a");
    expect([await first.brief(), await first.brief(), await first.brief()]).toEqual(["ADDED a@2", "ADDED b@3", "DELETED a@4"]);
    expect([await second.brief(), await second.brief()]).toEqual(["ADDED b@3", "DELETED a@4"]);
    await first.cancel();
    await vi.waitFor(async () => expect((await stub.counters()).watchers).toBe(1), PATIENCE);
    await createIn(stub, aLease("c"));
    expect(await second.brief()).toBe("ADDED c@5");
    await second.cancel();
    await vi.waitFor(async () => expect((await stub.counters()).watchers).toBe(0), PATIENCE);
  });

  it("hazard 14: a watch from before the history gets an ERROR event in a 200; a future revision: 504 with Retry-After", async () => {
    const cluster = freshCluster();
    for (const name of ["a", "b", "c"]) await createIn(leasesOf(cluster), aLease(name));
    await runInDurableObject(leasesOf(cluster), (_, { storage }) => forgetHistory(sqlStoreStorage(storage), 3));
    await abortAllDurableObjects();
    const old = await collect(leasesOf(cluster), GROUP, "leases", { verb: "watch", resourceVersion: "2" });
    expect([old.status, old.headers.get("Content-Encoding")]).toEqual([200, "identity"]);
    const reader = new FrameReader(old);
    expect(await reader.next()).toMatchObject({
      type: "ERROR",
      object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 2 (3)" },
    });
    expect(await reader.next()).toBeUndefined();
    const asProtobuf = await collect(leasesOf(cluster), GROUP, "leases", { verb: "watch", resourceVersion: "2", encoding: "protobuf" });
    expect([asProtobuf.status, asProtobuf.headers.get("Content-Type")]).toEqual([200, "application/vnd.kubernetes.protobuf;stream=watch"]);
    expect(readFrames(new Uint8Array(await asProtobuf.arrayBuffer())).events).toMatchObject([
      { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old resource version: 2 (3)" } },
    ]);
    ringAtOnce(AWAITED_REVISION_MS);
    const future = await collect(leasesOf(cluster), GROUP, "leases", { verb: "watch", resourceVersion: "9" });
    expect([future.status, future.headers.get("Retry-After")]).toEqual([504, "1"]);
    await future.text();
    expect((await leasesOf(cluster).counters()).watchers).toBe(0);
  });

  it("hazard 31: renewals that only memory had are 410 after a crash, those behind a list are not, and no revision is given out twice", async () => {
    const cluster = freshCluster();
    await createIn(leasesOf(cluster), aLease("a"));
    let renewals = 0;
    const renewed = async (): Promise<number> =>
      versionOf(await leasesOf(cluster).write(mergePatch("default", "a", { spec: { holderIdentity: `h${String(renewals++)}` } })));
    const watched = async (since: number): Promise<string[]> => {
      const answer = await collect(leasesOf(cluster), GROUP, "leases", {
        verb: "watch",
        resourceVersion: String(since),
        timeoutSeconds: 1,
      });
      const lines = (await answer.text()).split("\n").filter((line) => line !== "");
      return lines.map((line) => JSON.parse(line) as Frame).map(({ type, object }) => `${type} ${object.metadata?.resourceVersion ?? ""}`);
    };
    const given = [await renewed(), await renewed()];
    expect(await watched(2)).toEqual(given.map((revision) => `MODIFIED ${String(revision)}`));
    await abortAllDurableObjects();
    // Nobody has written a change since that watch: it may have missed what memory had.
    expect(await watched(given[1] ?? 0)).toEqual(["ERROR "]);
    const list = await collect(leasesOf(cluster), GROUP, "leases");
    const listed = Number((await list.json<{ metadata: { resourceVersion: string } }>()).metadata.resourceVersion);
    expect(listed).toBeGreaterThan(given[1] ?? 0);
    const next = [await renewed(), await renewed()];
    expect(next).toEqual([listed + 1, listed + 2]);
    await abortAllDurableObjects();
    expect(await watched(listed)).toEqual(next.map((revision) => `MODIFIED ${String(revision)}`));
    expect(await renewed()).toBe(listed + 3);
  });

  it("hazard 9: a change that the disk may still lose reaches no watcher", async () => {
    const stub = leasesOf(freshCluster());
    const reader = new FrameReader(await collect(stub, GROUP, "leases", { verb: "watch" }));
    await runInDurableObject(stub, (_, { storage }) => {
      vi.spyOn(storage, "sync").mockRejectedValueOnce(new Error("the disk is gone"));
    });
    // The object ends with the lost commit (rule 24): the create is answered, or rejects, and the watch ends or is cut.
    await createIn(stub, aLease("a")).catch(() => undefined);
    expect(await reader.next().catch(() => undefined), "the end, and no event").toBeUndefined();
  });

  it("timeoutSeconds: ends the body properly", async () => {
    const stub = leasesOf(freshCluster());
    const reader = new FrameReader(await collect(stub, GROUP, "leases", { verb: "watch", timeoutSeconds: 1 }));
    expect(await reader.next()).toBeUndefined();
    expect((await stub.counters()).watchers).toBe(0);
  });
});

describe("events", () => {
  it("events: are deleted an hour after they were last seen", async () => {
    const stub = storeStubOf(freshCluster(), "events");
    const event = (name: string): CoreEvent => ({ metadata: { name, namespace: "default" }, involvedObject: { namespace: "default" } });
    for (const name of ["old", "new"]) await createIn(stub, event(name));
    await runInDurableObject(stub, (_, state) => {
      const age = "json_set(data, '$.metadata.creationTimestamp', '2020-01-01T00:00:00Z')";
      state.storage.sql.exec(`UPDATE objects SET data = ${age} WHERE key = 'default/old'`);
    });
    expect([await stub.expire(), await stub.expire()]).toEqual([
      { deleted: 1, left: 1, cut: 0 },
      { deleted: 0, left: 1, cut: 0 },
    ]);
    expect([await storedIn(stub, "default", "old"), await storedIn(stub, "default", "new")]).toEqual([undefined, expect.anything()]);
  });
});
