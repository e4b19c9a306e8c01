import { CLUSTER_GONE } from "../../src/tenancy/rpc";

/** The only table of an object whose cluster was deleted. */
export const TOMBSTONE = "_cluster_deleted";

/** One step of an object's schema. Steps are only ever appended; a step that was released is never edited (test/object/store/released-schemas.test.ts). */
export interface Migration {
  /** 1, 2, 3, … */
  id: number;
  /** SQL statements separated by semicolons, without parameters */
  sql: string;
}

/**
 * Brings the tables of one object up to date, all missing steps in one transaction. Runs in the constructor, at every wake, so a current
 * object costs two point reads. An object written by newer code stays unchanged: steps only add, so older code can read it.
 * Throws CLUSTER_GONE when the object's cluster was deleted, so that it never starts again.
 */
export function migrate(storage: DurableObjectStorage, migrations: readonly Migration[], nowMs: number): void {
  const newest = migrations.at(-1)?.id ?? 0;
  const version = appliedVersion(storage.sql);
  if (version === 0 && hasTable(storage.sql, TOMBSTONE)) throw new Error(CLUSTER_GONE);
  if (version >= newest) return;
  storage.transactionSync(() => {
    storage.sql.exec("CREATE TABLE IF NOT EXISTS _migrations (id INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL) STRICT");
    const applied = appliedVersion(storage.sql);
    for (const { id, sql } of migrations) {
      if (id <= applied) continue;
      storage.sql.exec(sql);
      storage.sql.exec("INSERT INTO _migrations (id, applied_ms) VALUES (?, ?)", id, nowMs);
    }
  });
}

/** Whether an object has ever been migrated. */
export function hasTables(sql: SqlStorage): boolean {
  return hasTable(sql, "_migrations");
}

function hasTable(sql: SqlStorage, name: string): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name).toArray().length > 0;
}

function appliedVersion(sql: SqlStorage): number {
  if (!hasTables(sql)) return 0;
  return sql.exec<{ version: number | null }>("SELECT max(id) AS version FROM _migrations").one().version ?? 0;
}
