/** Schema and statements of a StoreEngine: objects, their history, the revision state, namespaces that are being deleted. */
import type { NamespaceGuardStorage } from "../../src/api/store/write/namespace-guard";
import { entriesBehind, headsBehind, rowsOfTurn, sharedRow } from "../../src/api/store/state/history-rows";
import { HISTORY_ROWS_TOGETHER } from "../../src/api/store/state/limits";
import type { SavedGaps } from "../../src/api/store/state/revision-gaps";
import {
  type ChangeHead,
  type CountedObjects,
  type FreedHistory,
  type HistoryEntry,
  type HistoryHead,
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

/**
 * One row of history for each change, where both texts fit. Releases without these columns cannot read such a row. So `revision` and `floor` are theirs
 * alone from now on: they find all history gone, and begin above every revision that was given out. `history_floor` is the floor. If `reserved` is not
 * `revision`, or there is a counted revision, such a release has saved the state.
 */
export const HISTORY_ROWS_SCHEMA = `
   -- NULL = it is in history_before, or there is none
   ALTER TABLE history ADD COLUMN before TEXT;
   ALTER TABLE store_state ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE store_state ADD COLUMN history_floor INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE store_state ADD COLUMN history_through INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE store_state ADD COLUMN history_entries INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE store_state ADD COLUMN unwritten_through INTEGER NOT NULL DEFAULT 0;`;

/** Characters of both texts of a change that fit into one row, whatever they are in UTF-8: a row may hold 2 MB. */
const ROW_MAX_CHARS = 600_000;

/**
 * The `type` of a row with several changes of one turn (history-rows.ts). Its revision is that of the last one, its `key` has their heads. Earlier
 * releases cannot read such a row, so they get the same state as those without HISTORY_ROWS_SCHEMA: a `reserved` that is not `revision`.
 */
const SHARED = "TURN";
const ENTRIES = `CASE type WHEN '${SHARED}' THEN json_array_length(key) ELSE 1 END`;

/** Beside the tables: one value, which releases without it leave alone. */
const MARKS_KEY = "history-marks";
/** So is this one. */
const GAPS_KEY = "revision-gaps";
/** And this one. */
const ENTERED_KEY = "entered";

function storedObject(row: SqlRow): StoredObject {
  return { key: row.key as string, uid: row.uid as string, revision: row.revision as number, data: row.data as string };
}

/** Entries and characters of the history behind `after`, up to `through`. */
function sizeOf(sql: SqlStorage, after: number, through: number): FreedHistory {
  const size = sql
    .exec<{ entries: number; chars: number }>(
      `SELECT coalesce(sum(${ENTRIES}), 0) AS entries, coalesce(sum(size), 0) AS chars FROM history WHERE revision > ? AND revision <= ?`,
      after,
      through,
    )
    .one();
  // Of the rows at both ends some changes may lie beyond.
  const first = headsOfRow(sql, after);
  if ((first.at(-1)?.revision ?? Infinity) <= through) addTo(size, first, -1, ({ revision }) => revision <= after);
  addTo(size, headsOfRow(sql, through), 1, ({ revision }) => revision > after && revision <= through);
  return size;
}

function addTo(size: FreedHistory, heads: readonly HistoryHead[], sign: 1 | -1, isMeant: (head: HistoryHead) => boolean): void {
  for (const head of heads.filter(isMeant)) {
    size.entries += sign;
    size.chars += sign * head.size;
  }
}

/** The changes of the first row behind a revision, where it has several. */
function headsOfRow(sql: SqlStorage, after: number): HistoryHead[] {
  const [row] = sql.exec<SqlRow>("SELECT type, key FROM history WHERE revision > ? ORDER BY revision LIMIT 1", after).toArray();
  return row?.type === SHARED ? headsBehind(row.key as string, 0) : [];
}

/** The changes in a row behind a revision, in order. `data` alone = without what was before */
function entriesOf(row: SqlRow, after: number): HistoryEntry[] {
  const { revision, type, key, data, before = "" } = row as unknown as HistoryEntry;
  if ((type as string) === SHARED) return entriesBehind({ heads: key, data, before }, after);
  return [{ revision, type, key, data, before }];
}

/** Who saved the state: `today`, or a release that has a row for each change, or one of those before it. */
function writerOf(row: SqlRow): "today" | "row for each change" | "earlier" {
  const { revision, reserved, counted_revision } = row as { revision: number; reserved: number; counted_revision: number };
  if (counted_revision === revision) return "earlier";
  if (reserved === -revision) return "today";
  return reserved === revision ? "row for each change" : "earlier";
}

/**
 * What a release without HISTORY_ROWS_SCHEMA saved, with every change. It has counted the characters of all history, and entries of newer code before
 * its own floor among them: then those above are counted once.
 */
function earlierState(sql: SqlStorage, row: SqlRow, counted: CountedObjects): StoreState {
  const { revision, floor } = row as { revision: number; floor: number };
  const [{ entries } = { entries: 0 }] = sql
    .exec<{ entries: number }>("SELECT count(*) AS entries FROM history WHERE revision > ?", floor)
    .toArray();
  return {
    incarnation: row.incarnation as string,
    reserved: revision,
    floor,
    through: revision,
    historyEntries: entries,
    historySize: row.reserved === 0 ? (row.history_size as number) : sizeOf(sql, floor, revision).chars,
    counted: row.counted_revision === revision ? counted : NOTHING_COUNTED,
    unwrittenThrough: 0,
  };
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
        .exec<SqlRow>(
          `SELECT incarnation, revision, floor, history_size, objects, counted_through, counted_revision,
             reserved, history_floor, history_through, history_entries, unwritten_through FROM store_state`,
        )
        .toArray()[0];
      if (!row) return undefined;
      const counted = { objects: row.objects as number, through: (row.counted_through as string | null) ?? undefined };
      if (writerOf(row) === "earlier") return earlierState(sql, row, counted);
      return {
        incarnation: row.incarnation as string,
        reserved: row.revision as number,
        floor: row.history_floor as number,
        through: row.history_through as number,
        historyEntries: row.history_entries as number,
        historySize: row.history_size as number,
        counted,
        unwrittenThrough: row.unwritten_through as number,
      };
    },
    stateSave(state) {
      sql.exec(
        `INSERT INTO store_state (id, incarnation, revision, floor, history_size, objects, counted_through, counted_revision,
           reserved, history_floor, history_through, history_entries, unwritten_through)
         VALUES (1, ?1, ?2, ?2, ?3, ?4, ?5, 0, -?2, ?6, ?7, ?8, ?9)
         ON CONFLICT (id) DO UPDATE SET
           incarnation = ?1, revision = ?2, floor = ?2, history_size = ?3, objects = ?4, counted_through = ?5, counted_revision = 0,
           reserved = -?2, history_floor = ?6, history_through = ?7, history_entries = ?8, unwritten_through = ?9`,
        state.incarnation,
        state.reserved,
        state.historySize,
        state.counted.objects,
        state.counted.through ?? null,
        state.floor,
        state.through,
        state.historyEntries,
        state.unwrittenThrough,
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

    historyAppend(entries) {
      for (const row of rowsOfTurn(entries)) {
        const [entry] = row;
        if (entry && row.length === 1) putAlone(sql, entry);
        else putTogether(sql, row);
      }
    },
    historySince(after, limit) {
      const entries: HistoryEntry[] = [];
      for (let last = after; entries.length < limit;) {
        const wanted = Math.min(limit - entries.length, HISTORY_ROWS_TOGETHER);
        const rows = sql
          .exec<SqlRow>(
            `SELECT h.revision, h.type, h.key, h.data, coalesce(h.before, b.data, '') AS before
             FROM history h LEFT JOIN history_before b ON h.before IS NULL AND b.revision = h.revision
             WHERE h.revision > ? ORDER BY h.revision LIMIT ?`,
            last,
            wanted,
          )
          .toArray();
        for (const row of rows) entries.push(...entriesOf(row, after));
        if (rows.length < wanted) break;
        last = rows.at(-1)?.revision as number;
      }
      return entries;
    },
    *changesSince(after, limit) {
      const rows = sql.exec<SqlRow>(
        "SELECT revision, type, key, data FROM history WHERE revision > ? ORDER BY revision LIMIT ?",
        after,
        limit,
      );
      let left = limit;
      for (const row of rows) {
        for (const { revision, type, key, data } of entriesOf(row, after)) {
          if (left-- <= 0) return;
          yield { revision, type, key, data };
        }
      }
    },
    *headsSince(after, limit) {
      // What stands behind the texts in a row costs the reading of the texts.
      const rows = sql.exec<SqlRow>("SELECT revision, type, key FROM history WHERE revision > ? ORDER BY revision LIMIT ?", after, limit);
      let left = limit;
      for (const row of rows) {
        const heads = row.type === SHARED ? headsBehind(row.key as string, after) : [row as unknown as ChangeHead];
        for (const { revision, type, key } of heads) {
          if (left-- <= 0) return;
          yield { revision, type, key };
        }
      }
    },
    *historyHeads(after) {
      const rows = sql.exec<SqlRow>("SELECT revision, type, key, size FROM history WHERE revision > ? ORDER BY revision", after);
      for (const row of rows) {
        if (row.type === SHARED) yield* headsBehind(row.key as string, after);
        else yield row as unknown as HistoryHead;
      }
    },
    historyRevisionAt(after, place) {
      const rows = sql
        .exec<SqlRow>(`SELECT revision, ${ENTRIES} AS entries FROM history WHERE revision > ? ORDER BY revision LIMIT ?`, after, place)
        .toArray();
      let left = place + headsOfRow(sql, after).filter(({ revision }) => revision <= after).length;
      for (const { revision, entries } of rows as { revision: number; entries: number }[]) {
        if (left <= entries) return entries === 1 ? revision : headsOfRow(sql, revision - 1)[left - 1]?.revision;
        left -= entries;
      }
      return undefined;
    },
    marksLoad: () => kv.get<readonly SavedMark[]>(MARKS_KEY) ?? [],
    marksSave: (marks) => kv.put(MARKS_KEY, marks),
    gapsLoad: () => kv.get<SavedGaps>(GAPS_KEY),
    gapsSave: (gaps) => kv.put(GAPS_KEY, gaps),
    isEntered: () => kv.get<true>(ENTERED_KEY) === true,
    noteEntered: () => kv.put(ENTERED_KEY, true),
    historyTrim(after, through) {
      const freed = sizeOf(sql, after, through);
      sql.exec("DELETE FROM history WHERE revision <= ?", through);
      sql.exec("DELETE FROM history_before WHERE revision <= ?", through);
      return freed;
    },
  };
}

function putAlone(sql: SqlStorage, entry: HistoryEntry): void {
  const size = entry.data.length + entry.before.length;
  const isOneRow = size <= ROW_MAX_CHARS;
  putRow(sql, entry, size, isOneRow ? entry.before : null);
  if (!isOneRow && entry.before !== "") sql.exec("INSERT INTO history_before (revision, data) VALUES (?, ?)", entry.revision, entry.before);
}

function putTogether(sql: SqlStorage, entries: readonly HistoryEntry[]): void {
  const { revision, heads, data, before } = sharedRow(entries);
  putRow(sql, { revision, type: SHARED, key: heads, data }, data.length + before.length, before);
}

function putRow(
  sql: SqlStorage,
  { revision, type, key, data }: { revision: number; type: string; key: string; data: string },
  size: number,
  before: string | null,
): void {
  sql.exec(
    "INSERT INTO history (revision, type, key, data, size, before) VALUES (?, ?, ?, ?, ?, ?)",
    ...[revision, type, key, data, size, before],
  );
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
