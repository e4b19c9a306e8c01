/** Schema and statements of a cluster's record. */
import type {
  BeginningRow,
  ClusterObject,
  ControllersRow,
  EndedObject,
  QuotasRow,
  RecordRow,
  RecordStorage,
} from "../../src/tenancy/record-storage";
import { hasTables, migrate, type Migration } from "./migrate";
import type { SqlRow } from "./sql-row";

const CLUSTER_RECORD_SCHEMA = `
   CREATE TABLE record (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     name TEXT NOT NULL,
     life INTEGER NOT NULL,
     phase TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     deleted_at INTEGER NOT NULL
   ) STRICT;
   -- What a deletion has to wipe, in this order.
   CREATE TABLE cluster_objects (
     position INTEGER PRIMARY KEY,
     kind TEXT NOT NULL,
     name TEXT NOT NULL,
     wiped INTEGER NOT NULL,
     UNIQUE (kind, name)
   ) STRICT;`;

export const CLUSTER_RECORD_MIGRATIONS: readonly Migration[] = [{ id: 1, sql: CLUSTER_RECORD_SCHEMA }];

/** Beside the tables: values that releases without them leave alone. */
const CONTROLLERS_KEY = "controllers";
const BEGINNING_KEY = "beginning";
const QUOTAS_KEY = "quotas";
const ENDED_KEY = "ended-objects";
const LISTED_KEY = "listed";
const LIFE_KEY = "noted-life";

/**
 * The RecordStorage port on a Durable Object's SQLite. A question about an absent cluster leaves nothing behind: the tables come with the first
 * row.
 */
export function sqlRecordStorage(storage: DurableObjectStorage, now: () => number): RecordStorage {
  const { sql } = storage;
  let isThere = hasTables(sql);
  if (isThere) migrate(storage, CLUSTER_RECORD_MIGRATIONS, now());
  return {
    transaction(work) {
      try {
        return storage.transactionSync(work);
      } catch (error) {
        // Tables that came with the transaction are lost with it.
        isThere = hasTables(sql);
        throw error;
      }
    },

    load() {
      if (!isThere) return undefined;
      const row = sql.exec<SqlRow>("SELECT name, life, phase, created_at, deleted_at FROM record").toArray()[0];
      if (!row) return undefined;
      return {
        name: row.name as string,
        life: row.life as number,
        // Written by save alone.
        phase: row.phase as RecordRow["phase"],
        createdAt: row.created_at as number,
        deletedAt: row.deleted_at as number,
      };
    },
    save({ name, life, phase, createdAt, deletedAt }) {
      if (!isThere) migrate(storage, CLUSTER_RECORD_MIGRATIONS, now());
      isThere = true;
      sql.exec(
        `INSERT INTO record (id, name, life, phase, created_at, deleted_at) VALUES (1, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET
           life = excluded.life, phase = excluded.phase, created_at = excluded.created_at, deleted_at = excluded.deleted_at`,
        name,
        life,
        phase,
        createdAt,
        deletedAt,
      );
    },

    controllersLoad: () => storage.kv.get<ControllersRow>(CONTROLLERS_KEY),
    controllersSave: (row) => storage.kv.put(CONTROLLERS_KEY, row),

    quotasLoad: () => storage.kv.get<QuotasRow>(QUOTAS_KEY),
    quotasSave: (row) => storage.kv.put(QUOTAS_KEY, row),
    endedLoad: () => storage.kv.get<EndedObject[]>(ENDED_KEY),
    endedSave: (ended) => storage.kv.put(ENDED_KEY, ended),
    beginningLoad: () => storage.kv.get<BeginningRow>(BEGINNING_KEY),
    beginningSave: (row) => storage.kv.put(BEGINNING_KEY, row),

    stamp() {
      // The release before notes `true`. It reads anything else as if nothing was noted, and then enters the name once more.
      const noted = storage.kv.get<string | true>(LISTED_KEY);
      return noted === true ? "" : noted;
    },
    noteStamp(stamp) {
      if (stamp !== undefined) storage.kv.put(LISTED_KEY, stamp === "" ? true : stamp);
      else if (this.stamp() !== undefined) storage.kv.delete(LISTED_KEY);
    },
    notedLife: () => storage.kv.get<string>(LIFE_KEY) ?? "",
    noteLife: (id) => storage.kv.put(LIFE_KEY, id),

    objectsAdd(objects) {
      for (const { kind, name } of objects) {
        sql.exec("INSERT INTO cluster_objects (kind, name, wiped) VALUES (?, ?, 0) ON CONFLICT DO NOTHING", kind, name);
      }
    },
    objectWiped({ kind, name }) {
      sql.exec("UPDATE cluster_objects SET wiped = 1 WHERE kind = ? AND name = ?", kind, name);
    },
    objectsLeft(limit) {
      return sql
        .exec<SqlRow>("SELECT kind, name FROM cluster_objects WHERE wiped = 0 ORDER BY position LIMIT ?", limit)
        .toArray()
        .map(({ kind, name }) => ({ kind: kind as ClusterObject["kind"], name: name as string }));
    },
    objectsNamed(kind) {
      return sql
        .exec<SqlRow>("SELECT name FROM cluster_objects WHERE kind = ? ORDER BY position", kind)
        .toArray()
        .map(({ name }) => name as string);
    },
    objectCounts() {
      const row = sql.exec<SqlRow>("SELECT count(*) AS objects, coalesce(sum(wiped), 0) AS wiped FROM cluster_objects").one();
      return { objects: row.objects as number, wiped: row.wiped as number };
    },
    objectsClear() {
      sql.exec("DELETE FROM cluster_objects");
    },
  };
}
