/** Tables of a ServiceCIDR object, and the OwnerStorage port over them. The only place with their SQL. */
import type { OwnerStorage, StoredConfig, StoredRow } from "../../src/addresses/alloc/owner-storage";
import type { Holder } from "../../src/addresses/rpc/service-cidr";
import type { Migration } from "./migrate";

export const OWNER_MIGRATIONS: readonly Migration[] = [
  {
    id: 1,
    sql: `
      -- One row: the accepted configuration; stays for ever, retired or not.
      CREATE TABLE config (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        epoch INTEGER NOT NULL,
        content TEXT NOT NULL
      ) STRICT;
      -- One row: the position of the newest address row ever written.
      CREATE TABLE counter (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        value INTEGER NOT NULL
      ) STRICT;
      -- One row per allocated address. Keyed by the growing counter, so inserts append and the rows since a counter are one range; the
      -- unique address is what guards "one holder per address", the unique token makes allocation idempotent.
      CREATE TABLE address (
        counter INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        token TEXT NOT NULL UNIQUE,
        epoch INTEGER NOT NULL,
        scope TEXT NOT NULL,
        kind TEXT NOT NULL,
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        uid TEXT NOT NULL
      ) STRICT;
      -- Tokens released of late, in the order of their release.
      CREATE TABLE released (
        id INTEGER PRIMARY KEY,
        token TEXT NOT NULL UNIQUE,
        expires_ms INTEGER NOT NULL
      ) STRICT;
      -- The bitmap of taken addresses; a cache of the keys in address.
      CREATE TABLE page (
        segment TEXT NOT NULL,
        page TEXT NOT NULL,
        bytes BLOB NOT NULL,
        PRIMARY KEY (segment, page)
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    id: 2,
    sql: `
      -- The primary key "counter" is the row's position here. A row that came from another owner keeps its gen in this column.
      ALTER TABLE address ADD COLUMN gen_counter INTEGER;
      -- One row per hand-off that is being received and of which something has come.
      CREATE TABLE receiving (
        handoff INTEGER PRIMARY KEY,
        through TEXT NOT NULL,
        sealed INTEGER NOT NULL
      ) STRICT;
    `,
  },
  {
    id: 3,
    sql: `
      -- Tokens released recently; tokens is a JSON list.
      CREATE TABLE released_lists (
        id INTEGER PRIMARY KEY,
        expires_ms INTEGER NOT NULL,
        tokens TEXT NOT NULL
      ) STRICT;
      INSERT INTO released_lists (expires_ms, tokens)
        SELECT max(expires_ms), json_group_array(token) FROM released GROUP BY id / 1000 ORDER BY min(id);
      DELETE FROM released;
    `,
  },
];

type ConfigRecord = { epoch: number; content: string };
type AddressRecord = {
  counter: number;
  key: string;
  token: string;
  epoch: number;
  /** null: the same as counter */
  gen_counter: number | null;
  scope: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
};
type ReleasedRecord = { id: number; expires_ms: number; tokens: string };
type PageRecord = { segment: string; page: string; bytes: ArrayBuffer };

const ADDRESS_COLUMNS = "counter, key, token, epoch, gen_counter, scope, kind, namespace, name, uid";
const COUNT_ROWS = "SELECT count(*) AS count FROM address WHERE key >= ? AND key <= ?";

/** The port; tables must be migrated. */
export function ownerStorage(storage: DurableObjectStorage): OwnerStorage {
  const { sql } = storage;
  return {
    transaction: (body) => storage.transactionSync(body),

    configLoad: (): StoredConfig | undefined => sql.exec<ConfigRecord>("SELECT epoch, content FROM config").toArray()[0],
    configSave({ epoch, content }) {
      sql.exec("INSERT OR REPLACE INTO config (only, epoch, content) VALUES (1, ?, ?)", epoch, content);
    },

    reservedLoad: () => sql.exec<{ value: number }>("SELECT value FROM counter").toArray()[0]?.value ?? 0,
    reservedSave(position) {
      sql.exec("INSERT OR REPLACE INTO counter (only, value) VALUES (1, ?)", position);
    },

    rowInsert({ key, position, token, gen, band, holder }) {
      const { kind, namespace, name, uid } = holder;
      sql.exec(
        `INSERT INTO address (${ADDRESS_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[position, key, token, gen.epoch, gen.counter === position ? null : gen.counter, band, kind, namespace, name, uid],
      );
    },
    rowDelete: (key, token) =>
      sql.exec("DELETE FROM address WHERE key = ? AND token = ? RETURNING counter", key, token).toArray().length === 1,
    rowsDeleteBetween(after, before) {
      sql.exec("DELETE FROM address WHERE key > ? AND key < ?", after, before);
    },
    rowByToken(token) {
      const record = sql.exec<AddressRecord>(`SELECT ${ADDRESS_COLUMNS} FROM address WHERE token = ?`, token).toArray()[0];
      return record && toRow(record);
    },
    rowsSince: (afterPosition, limit) =>
      sql
        .exec<AddressRecord>(`SELECT ${ADDRESS_COLUMNS} FROM address WHERE counter > ? ORDER BY counter LIMIT ?`, afterPosition, limit)
        .toArray()
        .map(toRow),
    rowsIn({ first, last, after }, limit) {
      const query = `SELECT ${ADDRESS_COLUMNS} FROM address WHERE key >= ? AND key > ? AND key <= ? ORDER BY key LIMIT ?`;
      return sql.exec<AddressRecord>(query, first, after, last, limit).toArray().map(toRow);
    },
    *rowKeys(first, last) {
      for (const [key] of sql.exec("SELECT key FROM address WHERE key >= ? AND key <= ? ORDER BY key", first, last).raw())
        yield key as string;
    },
    rowCount: (first, last) => sql.exec<{ count: number }>(COUNT_ROWS, first, last).one().count,
    serviceRowCount: (first, last) => sql.exec<{ count: number }>(`${COUNT_ROWS} AND kind = 'service'`, first, last).one().count,

    receivingLoad(handoff) {
      const query = "SELECT through, sealed FROM receiving WHERE handoff = ?";
      const record = sql.exec<{ through: string; sealed: number }>(query, handoff).toArray()[0];
      return record && { through: record.through, sealed: record.sealed === 1 };
    },
    receivingSave(handoff, { through, sealed }) {
      sql.exec("INSERT OR REPLACE INTO receiving (handoff, through, sealed) VALUES (?, ?, ?)", handoff, through, Number(sealed));
    },
    receivingRetain(handoffs) {
      sql.exec("DELETE FROM receiving WHERE handoff NOT IN (SELECT value FROM json_each(?))", JSON.stringify(handoffs));
    },

    *releasedLists() {
      const query = "SELECT id, expires_ms, tokens FROM released_lists ORDER BY id";
      for (const { id, expires_ms, tokens } of sql.exec<ReleasedRecord>(query)) {
        yield { id, expiresMs: expires_ms, tokens: JSON.parse(tokens) as string[] };
      }
    },
    releasedSave({ id, expiresMs, tokens }) {
      sql.exec("INSERT OR REPLACE INTO released_lists (id, expires_ms, tokens) VALUES (?, ?, ?)", id, expiresMs, JSON.stringify(tokens));
    },
    releasedDelete(id) {
      sql.exec("DELETE FROM released_lists WHERE id = ?", id);
    },
    releasedClear() {
      sql.exec("DELETE FROM released_lists");
    },

    *pagesLoad() {
      for (const { segment, page, bytes } of sql.exec<PageRecord>("SELECT segment, page, bytes FROM page")) {
        yield { segment, page, bytes: new Uint8Array(bytes) };
      }
    },
    pageSave({ segment, page, bytes }) {
      if (bytes === null) sql.exec("DELETE FROM page WHERE segment = ? AND page = ?", segment, page);
      else sql.exec("INSERT OR REPLACE INTO page (segment, page, bytes) VALUES (?, ?, ?)", segment, page, bytes);
    },
    pagesDelete(segment) {
      sql.exec("DELETE FROM page WHERE segment = ?", segment);
    },
    pagesClear() {
      sql.exec("DELETE FROM page");
    },
  };
}

function toRow({ counter, key, token, epoch, gen_counter, scope, kind, namespace, name, uid }: AddressRecord): StoredRow {
  return {
    key,
    position: counter,
    token,
    gen: { epoch, counter: gen_counter ?? counter },
    // Written by rowInsert alone, from values of these very types.
    band: scope as StoredRow["band"],
    holder: { kind: kind as Holder["kind"], namespace, name, uid },
  };
}
