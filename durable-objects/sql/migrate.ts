import { newerData } from "../../src/api/rpc/newer-data";
import { CLUSTER_GONE } from "../../src/tenancy/rpc";

/** The only table of an object whose cluster was deleted. */
export const TOMBSTONE = "_cluster_deleted";

/** One step of an object's schema. Steps are only ever appended; a step that was released is never edited (test/object/store/released-schemas.test.ts). */
export interface Migration {
  /** 1, 2, 3, … */
  id: number;
  /** SQL statements separated by semicolons, without parameters */
  sql: string;
  /**
   * The step that code has to know to read what is written from this step on: this one, or one of a release before. Absent: any code, since steps
   * add. Code that knows less refuses the object. So a release reads both forms first, and the next one writes the new form and says so here.
   */
  readableFrom?: number;
}

/** Beside the steps of an object that not all code can read. */
const READABLE = "_readable";

/**
 * Brings the tables of one object up to date, all missing steps in one transaction. Runs in the constructor, at every wake, so a current
 * object costs two point reads. An object written by newer code stays unchanged: steps add, so older code can read it, unless a step says otherwise.
 * Only the last step is noted, since the beginning of an object is paid by its rows.
 * Throws CLUSTER_GONE when the object's cluster was deleted, so that it never starts again, and NEWER_DATA where this code cannot read the rows.
 */
export function migrate(storage: DurableObjectStorage, migrations: readonly Migration[], nowMs: number): void {
  const newest = migrations.at(-1)?.id ?? 0;
  const version = appliedVersion(storage.sql);
  if (version === 0 && hasTable(storage.sql, TOMBSTONE)) throw new Error(CLUSTER_GONE);
  if (version > newest) refuseUnreadable(storage.sql, version, newest);
  if (version >= newest) return;
  storage.transactionSync(() => {
    storage.sql.exec("CREATE TABLE IF NOT EXISTS _migrations (id INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL) STRICT");
    const missing = migrations.filter(({ id }) => id > version);
    storage.sql.exec(missing.map(({ sql }) => (/;\s*$/.test(sql) ? sql : `${sql};`)).join("\n"));
    storage.sql.exec("INSERT INTO _migrations (id, applied_ms) VALUES (?, ?)", newest, nowMs);
    const readableFrom = missing.reduce((greatest, step) => Math.max(greatest, step.readableFrom ?? 0), 0);
    if (readableFrom === 0) return;
    storage.sql.exec(`CREATE TABLE IF NOT EXISTS ${READABLE} (from_step INTEGER PRIMARY KEY) STRICT`);
    storage.sql.exec(`INSERT OR IGNORE INTO ${READABLE} (from_step) VALUES (?)`, readableFrom);
  });
}

/** An object that newer code has written: who writes to what he cannot read would damage it. */
function refuseUnreadable(sql: SqlStorage, found: number, known: number): void {
  if (!hasTable(sql, READABLE)) return;
  const readableFrom = sql.exec<{ step: number | null }>(`SELECT max(from_step) AS step FROM ${READABLE}`).one().step ?? 0;
  if (readableFrom > known) throw newerData({ found, readableFrom, known });
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
