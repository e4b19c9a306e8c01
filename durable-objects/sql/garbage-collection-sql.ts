/** Schema and statements of the garbage collector's rows: the remembered objects, and a cursor for each store. */
import type { GraphNode } from "../../src/controllers/garbage-collection/graph";
import type { GraphStorage } from "../../src/controllers/garbage-collection/ports";
import type { ObjectLinks } from "../../src/api/rpc/object-links";
import type { SqlRow } from "./sql-row";

export const GARBAGE_COLLECTION_SCHEMA = `
   CREATE TABLE nodes (id TEXT PRIMARY KEY, store TEXT NOT NULL, links TEXT NOT NULL, pending INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE cursors (store TEXT PRIMARY KEY, incarnation TEXT NOT NULL, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;`;

/** The GraphStorage port on a Durable Object's SQLite. */
export function sqlGraphStorage(storage: DurableObjectStorage): GraphStorage {
  const { sql } = storage;
  return {
    transaction: (work) => storage.transactionSync(work),
    *nodes() {
      for (const row of sql.exec<SqlRow>("SELECT store, links, pending FROM nodes")) yield nodeOf(row);
    },
    nodeGet(id) {
      const [row] = sql.exec<SqlRow>("SELECT store, links, pending FROM nodes WHERE id = ?", id).toArray();
      return row && nodeOf(row);
    },
    *cursors() {
      for (const row of sql.exec<SqlRow>("SELECT store, incarnation, revision FROM cursors")) {
        yield [row.store as string, { incarnation: row.incarnation as string, revision: row.revision as number }];
      }
    },
    nodePut(id, { store, links, pending }) {
      sql.exec(
        `INSERT INTO nodes (id, store, links, pending) VALUES (?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET store = excluded.store, links = excluded.links, pending = excluded.pending`,
        id,
        store,
        JSON.stringify(links),
        pending ? 1 : 0,
      );
    },
    nodeDelete(id) {
      sql.exec("DELETE FROM nodes WHERE id = ?", id);
    },
    cursorPut(store, { incarnation, revision }) {
      sql.exec(
        `INSERT INTO cursors (store, incarnation, revision) VALUES (?, ?, ?)
         ON CONFLICT (store) DO UPDATE SET incarnation = excluded.incarnation, revision = excluded.revision`,
        store,
        incarnation,
        revision,
      );
    },
  };
}

function nodeOf(row: SqlRow): GraphNode {
  const links = JSON.parse(row.links as string) as ObjectLinks;
  return { store: row.store as string, key: links.key, links, pending: row.pending === 1 };
}
