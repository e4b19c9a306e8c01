/** Schema and statements of what a controller keeps that follows stores: facts of the objects that it follows, and a cursor for each store. */
import type { RowStorage } from "../../src/controllers/followed/row-storage";
import type { SqlRow } from "./sql-row";

export const FOLLOWED_ROWS_SCHEMA = `
   CREATE TABLE followed_rows (kind TEXT NOT NULL, key TEXT NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID;
   CREATE TABLE followed_cursors (store TEXT PRIMARY KEY, incarnation TEXT NOT NULL, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;`;

/** The RowStorage port on a Durable Object's SQLite. */
export function sqlRowStorage(storage: DurableObjectStorage): RowStorage {
  const { sql } = storage;
  return {
    transaction: (work) => storage.transactionSync(work),
    *cursors() {
      for (const row of sql.exec<SqlRow>("SELECT store, incarnation, revision FROM followed_cursors")) {
        yield [row.store as string, { incarnation: row.incarnation as string, revision: row.revision as number }];
      }
    },
    cursorPut(store, { incarnation, revision }) {
      sql.exec(
        `INSERT INTO followed_cursors (store, incarnation, revision) VALUES (?, ?, ?)
         ON CONFLICT (store) DO UPDATE SET incarnation = excluded.incarnation, revision = excluded.revision`,
        store,
        incarnation,
        revision,
      );
    },
    *rows(kind) {
      for (const row of sql.exec<SqlRow>("SELECT key, facts FROM followed_rows WHERE kind = ?", kind)) {
        yield [row.key as string, row.facts as string];
      }
    },
    rowGet(kind, key) {
      const row = sql.exec<SqlRow>("SELECT facts FROM followed_rows WHERE kind = ? AND key = ?", kind, key).toArray()[0];
      return row && (row.facts as string);
    },
    rowPut(kind, key, text) {
      sql.exec(
        "INSERT INTO followed_rows (kind, key, facts) VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET facts = excluded.facts",
        kind,
        key,
        text,
      );
    },
    rowDelete(kind, key) {
      sql.exec("DELETE FROM followed_rows WHERE kind = ? AND key = ?", kind, key);
    },
    clear() {
      sql.exec("DELETE FROM followed_rows");
      sql.exec("DELETE FROM followed_cursors");
    },
  };
}
