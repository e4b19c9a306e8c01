/** Schema and statements of a StoreEngine: objects, their history, the revision state, namespaces that are being deleted. */
import type { NamespaceGuardStorage } from "../../src/api/store/write/namespace-guard";
import type { ChangeType } from "../../src/api/meta/watch-event";
import type { SavedGaps } from "../../src/api/store/state/revision-gaps";
import {
  type HistoryEntry,
  NOTHING_COUNTED,
  type SavedMark,
  STORAGE_FAULT,
  StorageFault,
  type StoredObject,
  type StoreState,
  type StoreStorage,
} from "../../src/api/store/state/store-storage";
import type { SqlRow } from "./sql-row";

export const STORE_SCHEMA = `
   CREATE TABLE store_state (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     incarnation TEXT NOT NULL,
     revision INTEGER NOT NULL,
     floor INTEGER NOT NULL,
     history_size INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE objects (
     key TEXT PRIMARY KEY,
     uid TEXT NOT NULL,
     revision INTEGER NOT NULL,
     data TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE history (
     revision INTEGER PRIMARY KEY,
     type TEXT NOT NULL,
     key TEXT NOT NULL,
     data TEXT NOT NULL,
     -- characters of data and before, as JavaScript counts them
     size INTEGER NOT NULL
   ) STRICT;
   -- apart from history, since a row may hold 2 MB: one text of the largest object, not two
   CREATE TABLE history_before (revision INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
   CREATE TABLE closed_namespaces (name TEXT PRIMARY KEY, uid TEXT NOT NULL) STRICT, WITHOUT ROWID;`;

/**
 * Kept counts of objects. `counted_revision` is the revision at which they were saved: code of an earlier release writes objects and leaves the counts,
 * and the next newer code sees that they are old.
 */
export const OBJECT_COUNTS_SCHEMA = `
   ALTER TABLE store_state ADD COLUMN objects INTEGER NOT NULL DEFAULT 0;
   -- NULL = all
   ALTER TABLE store_state ADD COLUMN counted_through TEXT;
   ALTER TABLE store_state ADD COLUMN counted_revision INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE namespace_counts (namespace TEXT PRIMARY KEY, objects INTEGER NOT NULL) STRICT, WITHOUT ROWID;`;

/** Beside the tables: one value, which releases without it leave alone. */
const MARKS_KEY = "history-marks";
/** So is this one. */
const GAPS_KEY = "revision-gaps";

function storedObject(row: SqlRow): StoredObject {
  return { key: row.key as string, uid: row.uid as string, revision: row.revision as number, data: row.data as string };
}

function faultOf(error: unknown): unknown {
  if (error instanceof StorageFault || !(error instanceof Error) || !STORAGE_FAULT.test(error.message)) return error;
  return new StorageFault(error.message, { cause: error });
}

/** The StoreStorage port on a Durable Object's SQLite. */
export function sqlStoreStorage(storage: DurableObjectStorage): StoreStorage {
  const { sql, kv } = storage;
  return {
    transaction(work) {
      try {
        return storage.transactionSync(work);
      } catch (error) {
        throw faultOf(error);
      }
    },
    sync: () => storage.sync(),

    stateLoad(): StoreState | undefined {
      const row = sql
        .exec<SqlRow>("SELECT incarnation, revision, floor, history_size, objects, counted_through, counted_revision FROM store_state")
        .toArray()[0];
      if (!row) return undefined;
      const counted = { objects: row.objects as number, through: (row.counted_through as string | null) ?? undefined };
      return {
        incarnation: row.incarnation as string,
        revision: row.revision as number,
        floor: row.floor as number,
        historySize: row.history_size as number,
        counted: row.counted_revision === row.revision ? counted : NOTHING_COUNTED,
      };
    },
    stateSave(state) {
      sql.exec(
        `INSERT INTO store_state (id, incarnation, revision, floor, history_size, objects, counted_through, counted_revision)
         VALUES (1, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET
           incarnation = excluded.incarnation, revision = excluded.revision, floor = excluded.floor, history_size = excluded.history_size,
           objects = excluded.objects, counted_through = excluded.counted_through, counted_revision = excluded.counted_revision`,
        state.incarnation,
        state.revision,
        state.floor,
        state.historySize,
        state.counted.objects,
        state.counted.through ?? null,
        state.revision,
      );
    },

    objectGet(key) {
      const row = sql.exec<SqlRow>("SELECT key, uid, revision, data FROM objects WHERE key = ?", key).toArray()[0];
      return row && storedObject(row);
    },
    objectPut(object) {
      sql.exec(
        `INSERT INTO objects (key, uid, revision, data) VALUES (?, ?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET uid = excluded.uid, revision = excluded.revision, data = excluded.data`,
        object.key,
        object.uid,
        object.revision,
        object.data,
      );
    },
    objectDelete(key) {
      sql.exec("DELETE FROM objects WHERE key = ?", key);
    },
    *objectScan(from, to) {
      const cursor = to
        ? sql.exec<SqlRow>("SELECT key, uid, revision, data FROM objects WHERE key >= ? AND key < ? ORDER BY key", from, to)
        : sql.exec<SqlRow>("SELECT key, uid, revision, data FROM objects WHERE key >= ? ORDER BY key", from);
      for (const row of cursor) yield storedObject(row);
    },
    objectKeysAfter(after, limit) {
      const rows = sql.exec<SqlRow>("SELECT key FROM objects WHERE key > ? ORDER BY key LIMIT ?", after, limit).toArray();
      return rows.map(({ key }) => key as string);
    },
    namespaceCount(namespace) {
      const row = sql.exec<SqlRow>("SELECT objects FROM namespace_counts WHERE namespace = ?", namespace).toArray()[0];
      return row ? (row.objects as number) : 0;
    },
    namespaceCountAdd(namespace, objects) {
      sql.exec(
        `INSERT INTO namespace_counts (namespace, objects) VALUES (?, ?)
         ON CONFLICT (namespace) DO UPDATE SET objects = objects + excluded.objects`,
        namespace,
        objects,
      );
      if (objects < 0) sql.exec("DELETE FROM namespace_counts WHERE namespace = ? AND objects = 0", namespace);
    },
    namespaceCountsClear() {
      sql.exec("DELETE FROM namespace_counts");
    },

    historyAppend(entry) {
      sql.exec(
        "INSERT INTO history (revision, type, key, data, size) VALUES (?, ?, ?, ?, ?)",
        entry.revision,
        entry.type,
        entry.key,
        entry.data,
        entry.data.length + entry.before.length,
      );
      if (entry.before !== "") sql.exec("INSERT INTO history_before (revision, data) VALUES (?, ?)", entry.revision, entry.before);
    },
    historySince(after, limit) {
      return sql
        .exec<SqlRow>(
          `SELECT h.revision, h.type, h.key, h.data, coalesce(b.data, '') AS before
           FROM history h LEFT JOIN history_before b ON b.revision = h.revision
           WHERE h.revision > ? ORDER BY h.revision LIMIT ?`,
          after,
          limit,
        )
        .toArray()
        .map((row): HistoryEntry => ({
          revision: row.revision as number,
          type: row.type as ChangeType,
          key: row.key as string,
          data: row.data as string,
          before: row.before as string,
        }));
    },
    *changesSince(after, limit) {
      const rows = sql.exec<SqlRow>(
        "SELECT revision, type, key, data FROM history WHERE revision > ? ORDER BY revision LIMIT ?",
        after,
        limit,
      );
      for (const row of rows) {
        yield {
          revision: row.revision as number,
          type: row.type as ChangeType,
          key: row.key as string,
          data: row.data as string,
        };
      }
    },
    marksLoad: () => kv.get<readonly SavedMark[]>(MARKS_KEY) ?? [],
    marksSave: (marks) => kv.put(MARKS_KEY, marks),
    gapsLoad: () => kv.get<SavedGaps>(GAPS_KEY),
    gapsSave: (gaps) => kv.put(GAPS_KEY, gaps),
    historyTrim(through) {
      const freed = sql.exec<SqlRow>("SELECT coalesce(sum(size), 0) AS size FROM history WHERE revision <= ?", through).one()
        .size as number;
      sql.exec("DELETE FROM history WHERE revision <= ?", through);
      sql.exec("DELETE FROM history_before WHERE revision <= ?", through);
      return freed;
    },
  };
}

/** The NamespaceGuardStorage port on the same database. */
export function sqlNamespaceGuardStorage({ sql }: DurableObjectStorage): NamespaceGuardStorage {
  return {
    namespaceClosedUid(name) {
      const row = sql.exec<SqlRow>("SELECT uid FROM closed_namespaces WHERE name = ?", name).toArray()[0];
      return row && (row.uid as string);
    },
    namespaceClose(name, uid) {
      sql.exec("INSERT INTO closed_namespaces (name, uid) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET uid = excluded.uid", name, uid);
    },
    namespaceOpen(name) {
      sql.exec("DELETE FROM closed_namespaces WHERE name = ?", name);
    },
  };
}
