/** One step of an object's schema. Steps are only ever appended; a step that was released is never edited. */
export interface Migration {
  /** 1, 2, 3, … */
  id: number;
  /** SQL statements separated by semicolons, without parameters */
  sql: string;
}

/**
 * Brings the tables of one object up to date, all missing steps in one transaction. Runs in the constructor, at every wake, so a current
 * object costs two point reads. An object written by newer code is left as it is: steps are additive, so older code still reads it.
 */
export function migrate(storage: DurableObjectStorage, migrations: readonly Migration[], nowMs: number): void {
  const newest = migrations.at(-1)?.id ?? 0;
  if (appliedVersion(storage.sql) >= newest) return;
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

function appliedVersion(sql: SqlStorage): number {
  const exists = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_migrations'").toArray().length > 0;
  if (!exists) return 0;
  return sql.exec<{ version: number | null }>("SELECT max(id) AS version FROM _migrations").one().version ?? 0;
}
