/** The rows that a change costs a store, and what they are to the release before, which knows two rows of history and saves its state each time. */
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { sqlStoreStorage } from "../../../../durable-objects/sql/store-sql";
import type { ResourceStore } from "../../../../durable-objects/resource-store";
import type { ConfigMap } from "../../../../src/api/meta/kubernetes";
import type { HistoryEntry } from "../../../../src/api/store/state/store-storage";
import { statementsOf } from "../../../support/objects/counted-rows";
import {
  collect,
  createIn,
  deleteFrom,
  freshCluster,
  mergePatch,
  storedIn,
  type StoreStub,
  storeStubOf,
} from "../../../support/objects/store-stubs";
import { createRequest } from "../../../support/worlds/store-world";

const store = (cluster: string): StoreStub => storeStubOf(cluster, "configmaps");
const aMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({ metadata: { name, namespace: "default" }, data });
const written = (cluster: string, name: string, data: Record<string, string>): Promise<unknown> =>
  store(cluster).write(mergePatch("default", name, { data }));

/** Tables of the store's rows that `work` writes, each with how many. */
async function rowsOf(cluster: string, work: () => Promise<unknown>): Promise<string[]> {
  const statements = await statementsOf(store(cluster), work);
  return statements.flatMap(({ query, written }) => {
    return written > 0 ? [`${/\b(?:INTO|FROM) (\w+)/.exec(query)?.[1] ?? query} ${written}`] : [];
  });
}

/** The names in a watch from the revision, in order; the code of its refusal. */
async function watched(cluster: string, since: number): Promise<unknown[]> {
  const response = await collect(store(cluster), "", "configmaps", { verb: "watch", resourceVersion: String(since), timeoutSeconds: 1 });
  const frames = (await response.text()).split("\n").filter((line) => line !== "");
  return frames
    .map((line) => JSON.parse(line) as { type: string; object: ConfigMap & { code?: number } })
    .map(({ type, object }) => (type === "ERROR" ? object.code : `${type} ${object.metadata?.name ?? ""}`));
}

describe("rows of a change", () => {
  it("create, update and delete: the object and one row of history; a store that has just been made reserves nothing more", async () => {
    const cluster = freshCluster();
    await createIn(store(cluster), aMap("first"));
    expect(await rowsOf(cluster, () => createIn(store(cluster), aMap("a")))).toEqual(["objects 1", "history 1"]);
    expect(await rowsOf(cluster, () => written(cluster, "a", { a: "b" }))).toEqual(["objects 1", "history 1"]);
    expect(await rowsOf(cluster, () => deleteFrom(store(cluster), "default", "a"))).toEqual(["objects 1", "history 1"]);
  });

  it("changes of one turn: an object each, and one row of history together; trimmed they are one row, too", async () => {
    const cluster = freshCluster();
    await createIn(store(cluster), aMap("first"));
    const { revision } = await store(cluster).counters();
    const names = Array.from({ length: 40 }, (_, i) => `many-${i}`);
    const creates = () =>
      runInDurableObject(store(cluster), (object: ResourceStore) =>
        Promise.all(names.map((name) => object.write(createRequest(aMap(name))))),
      );
    const rows = await rowsOf(cluster, creates);
    expect(rows.filter((row) => row.startsWith("objects"))).toHaveLength(40);
    expect(rows.filter((row) => !row.startsWith("objects"))).toEqual(["history 1"]);
    await abortAllDurableObjects();
    expect(await watched(cluster, revision + 13)).toEqual(names.slice(13).map((name) => `ADDED ${name}`));
    const trim = () =>
      runInDurableObject(store(cluster), (_, { storage }) => sqlStoreStorage(storage).historyTrim(revision, revision + 40));
    expect(await rowsOf(cluster, trim)).toEqual(["history 2"]);
  });

  it("texts that do not fit into one row: have two, and are read as any others", async () => {
    const cluster = freshCluster();
    const large = "x".repeat(400_000);
    await createIn(store(cluster), aMap("a", { large }));
    expect(await rowsOf(cluster, () => written(cluster, "a", { small: "" }))).toEqual(["objects 1", "history 1", "history_before 1"]);
    const entries = await runInDurableObject(store(cluster), (_, { storage }) => sqlStoreStorage(storage).historySince(0, 9));
    const { data, before } = entries.at(-1) ?? {};
    expect([before, data?.includes(large), data?.includes("small")]).toEqual([entries.at(-2)?.data, true, true]);
  });

  it("trimming: one row for each change", async () => {
    const cluster = freshCluster();
    await createIn(store(cluster), aMap("a"));
    const entry = (revision: number): HistoryEntry => ({ revision, type: "MODIFIED", key: "default/a", data: "{}", before: "{}" });
    const rows = await rowsOf(cluster, () =>
      runInDurableObject(store(cluster), (_, { storage }) => {
        const table = sqlStoreStorage(storage);
        for (let revision = 1_001; revision <= 1_100; revision++) table.historyAppend([entry(revision)]);
        expect(table.historyTrim(1_000, 1_100)).toEqual({ entries: 100, chars: 400 });
      }),
    );
    expect(rows.filter((row) => !row.endsWith(" 1"))).toEqual(["history 101"]);
  });

  it("256 changes: the state of the store is saved once", async () => {
    const cluster = freshCluster();
    await createIn(store(cluster), aMap("a"));
    const rows = await rowsOf(cluster, () =>
      runInDurableObject(store(cluster), async (object: ResourceStore) => {
        for (let i = 0; i < 256; i++) await object.write(mergePatch("default", "a", { data: { i: String(i) } }));
      }),
    );
    expect(rows.filter((row) => row.startsWith("store_state"))).toEqual(["store_state 1"]);
    expect(rows.filter((row) => row.startsWith("namespace_counts"))).toEqual(["namespace_counts 1"]);
    expect(rows).toHaveLength(2 * 256 + 2);
  });
});

describe("the release before", () => {
  /** Its statements, as far as they read and write the history. */
  function writtenByReleaseBefore({ sql }: DurableObjectStorage, name: string): { revision: number; read: number } {
    const state = sql.exec<{ revision: number; floor: number; size: number }>(
      "SELECT revision, floor, history_size AS size FROM store_state",
    );
    const { revision: newest, floor, size } = state.one();
    const read = sql
      .exec("SELECT h.revision FROM history h LEFT JOIN history_before b ON b.revision = h.revision WHERE h.revision > ?", floor)
      .toArray();
    const before = sql.exec<{ data: string }>("SELECT data FROM objects WHERE key = ?", `default/${name}`).one().data;
    const revision = newest + 1;
    const data = JSON.stringify({
      metadata: { name, namespace: "default", uid: "u", resourceVersion: String(revision) },
      data: { by: "it" },
    });
    sql.exec("UPDATE objects SET revision = ?, data = ? WHERE key = ?", revision, data, `default/${name}`);
    const length = data.length + before.length;
    sql.exec(
      "INSERT INTO history (revision, type, key, data, size) VALUES (?, 'MODIFIED', ?, ?, ?)",
      revision,
      `default/${name}`,
      data,
      length,
    );
    sql.exec("INSERT INTO history_before (revision, data) VALUES (?, ?)", revision, before);
    sql.exec("UPDATE store_state SET revision = ?, history_size = ?, counted_revision = ?", revision, size + length, revision);
    return { revision, read: read.length };
  }

  /** Two starts of an earlier release, which writes once in each; it reads nothing of today's. Answers where its writes are. */
  async function goneBack(
    cluster: string,
    write: (storage: DurableObjectStorage, name: string) => { revision: number; read: number },
  ): Promise<{ first: number; second: number }> {
    const { revision } = await store(cluster).counters();
    const first = await runInDurableObject(store(cluster), (_, { storage }) => write(storage, "a"));
    expect([first.revision > revision, first.read]).toEqual([true, 0]);
    const second = await runInDurableObject(store(cluster), (_, { storage }) => write(storage, "b"));
    expect(second).toEqual({ revision: first.revision + 1, read: 1 });
    await abortAllDurableObjects();

    expect((await store(cluster).counters()).revision).toBe(second.revision);
    expect(await watched(cluster, revision)).toEqual([410]);
    expect(await watched(cluster, first.revision - 1)).toEqual(["MODIFIED a", "MODIFIED b"]);
    await written(cluster, "a", { by: "today" });
    await abortAllDurableObjects();
    expect(await watched(cluster, first.revision)).toEqual(["MODIFIED b", "MODIFIED a"]);
    return { first: first.revision, second: second.revision };
  }

  it("one release back and forward again: it finds no history and begins above; what it wrote is read, and what was before it is 410", async () => {
    const cluster = freshCluster();
    for (const name of ["a", "b"]) await createIn(store(cluster), aMap(name));
    const { first, second } = await goneBack(cluster, writtenByReleaseBefore);
    expect((await storedIn(store(cluster), "default", "a"))?.metadata?.resourceVersion).toBe(String(second + 1));
    const state = await runInDurableObject(store(cluster), (_, { storage }) => sqlStoreStorage(storage).stateLoad());
    expect(state).toMatchObject({ floor: first - 1, through: second + 1, historyEntries: 3 });
  });

  /** That of one row for each change, which knows no rows of several. */
  function writtenByRowForEachChange({ sql }: DurableObjectStorage, name: string): { revision: number; read: number } {
    const saved = sql.exec<{ revision: number; floor: number; reserved: number; history_floor: number; history_through: number }>(
      "SELECT revision, floor, reserved, history_floor, history_through FROM store_state",
    );
    const state = saved.one();
    const isIts = state.reserved === state.revision;
    const floor = isIts ? state.history_floor : state.floor;
    const found = sql.exec<{ type: string; revision: number }>("SELECT type, revision FROM history WHERE revision > ? ORDER BY 2", floor);
    const entries = found.toArray();
    const revision = Math.max(isIts ? state.history_through : state.revision, entries.at(-1)?.revision ?? 0) + 1;
    const before = sql.exec<{ data: string }>("SELECT data FROM objects WHERE key = ?", `default/${name}`).one().data;
    const data = JSON.stringify({ metadata: { name, namespace: "default", uid: "u", resourceVersion: String(revision) } });
    sql.exec("UPDATE objects SET revision = ?, data = ? WHERE key = ?", revision, data, `default/${name}`);
    sql.exec(
      "INSERT INTO history (revision, type, key, data, size, before) VALUES (?, 'MODIFIED', ?, ?, ?, ?)",
      ...[revision, `default/${name}`, data, data.length + before.length, before],
    );
    if (!isIts) {
      sql.exec(
        `UPDATE store_state SET revision = ?1, floor = ?1, reserved = ?1, counted_revision = 0, history_size = 0, history_floor = ?2,
           history_through = ?2, history_entries = 0`,
        revision + 256,
        floor,
      );
    }
    return { revision, read: entries.length };
  }

  it("one row for each change, back and forward again: it finds no row of several changes, and what it wrote is read", async () => {
    const cluster = freshCluster();
    await createIn(store(cluster), aMap("first"));
    await runInDurableObject(store(cluster), (object: ResourceStore) =>
      Promise.all(["a", "b"].map((name) => object.write(createRequest(aMap(name))))),
    );
    await goneBack(cluster, writtenByRowForEachChange);
  });

  it("it has only counted the objects: what newer code counted behind that is not counted twice", async () => {
    const cluster = freshCluster();
    for (const name of ["a", "b", "c"]) await createIn(store(cluster), aMap(name));
    await runInDurableObject(store(cluster), (_, { storage: { sql } }) => {
      sql.exec("DELETE FROM namespace_counts");
      sql.exec("INSERT INTO namespace_counts (namespace, objects) VALUES ('default', 3)");
      sql.exec("UPDATE store_state SET objects = 3, counted_through = NULL, counted_revision = revision");
    });
    await abortAllDurableObjects();
    const response = await collect(store(cluster), "", "configmaps", { limit: 1 });
    expect((await response.json<{ metadata: object }>()).metadata).toMatchObject({ remainingItemCount: 2 });
  });
});
