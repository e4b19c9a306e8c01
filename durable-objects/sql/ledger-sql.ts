/** Schema and statements of an AddressLedger: allocations, the outbox of releases, and numbers kept by name (in the table `marks`). */
import type { Allocation, LedgerStorage } from "../../src/addresses/ledger/ledger-storage";
import type { PendingRelease } from "../../src/addresses/ledger/release-storage";
import type { SqlRow } from "./sql-row";

export const LEDGER_SCHEMA = `
   CREATE TABLE allocations (
     address TEXT PRIMARY KEY,
     key TEXT NOT NULL,
     token TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     counter INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE pending_releases (
     token TEXT PRIMARY KEY,
     address TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     counter INTEGER NOT NULL,
     attempts INTEGER NOT NULL,
     due_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;`;

/** Beside the tables: one value for the releases of a turn. A release without it leaves them alone, and its audit finds the addresses at their owners. */
const RELEASE_LISTS = "releases/";

const SELECT_RELEASES = "SELECT token, address, epoch, counter, attempts, due_at FROM pending_releases";

/** The LedgerStorage port on a Durable Object's SQLite. */
export function sqlLedgerStorage(storage: DurableObjectStorage): LedgerStorage {
  const { sql, kv } = storage;
  const gen = (row: SqlRow): { epoch: number; counter: number } => ({ epoch: row.epoch as number, counter: row.counter as number });
  const release = (row: SqlRow): PendingRelease => ({
    token: row.token as string,
    address: row.address as string,
    gen: gen(row),
    attempts: row.attempts as number,
    dueAt: row.due_at as number,
  });
  const allocation = (row: SqlRow): Allocation => ({
    address: row.address as string,
    key: row.key as string,
    token: row.token as string,
    gen: gen(row),
  });
  return {
    transaction: (work) => storage.transactionSync(work),

    allocationAdd({ address, key, token, gen: { epoch, counter } }) {
      sql.exec("INSERT INTO allocations (address, key, token, epoch, counter) VALUES (?, ?, ?, ?, ?)", address, key, token, epoch, counter);
    },
    allocationGet(address) {
      return sql
        .exec<SqlRow>("SELECT address, key, token, epoch, counter FROM allocations WHERE address = ?", address)
        .toArray()
        .map(allocation)[0];
    },
    allocationDelete(address) {
      sql.exec("DELETE FROM allocations WHERE address = ?", address);
    },

    allocationTake(address, key) {
      return sql
        .exec<SqlRow>("DELETE FROM allocations WHERE address = ? AND key = ? RETURNING address, key, token, epoch, counter", address, key)
        .toArray()
        .map(allocation)[0];
    },

    numberGet(name) {
      const row = sql.exec<SqlRow>("SELECT value FROM marks WHERE name = ?", name).toArray()[0];
      return row ? (row.value as number) : 0;
    },
    numberSet(name, value) {
      sql.exec("INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value);
    },

    releaseAdd({ token, address, gen: { epoch, counter }, attempts, dueAt }) {
      sql.exec(
        `INSERT INTO pending_releases (token, address, epoch, counter, attempts, due_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (token) DO NOTHING`,
        token,
        address,
        epoch,
        counter,
        attempts,
        dueAt,
      );
    },
    releaseDelete(token) {
      sql.exec("DELETE FROM pending_releases WHERE token = ?", token);
    },
    releaseDefer(token, attempts, dueAt) {
      sql.exec("UPDATE pending_releases SET attempts = ?, due_at = ? WHERE token = ?", attempts, dueAt, token);
    },
    releasesDue(now, limit) {
      return sql.exec<SqlRow>(`${SELECT_RELEASES} WHERE due_at <= ? ORDER BY due_at LIMIT ?`, now, limit).toArray().map(release);
    },
    releaseGet(token) {
      return sql.exec<SqlRow>(`${SELECT_RELEASES} WHERE token = ?`, token).toArray().map(release)[0];
    },
    releaseListAdd: ({ id, releases }) => kv.put(RELEASE_LISTS + id, releases),
    releaseListDelete: (id) => void kv.delete(RELEASE_LISTS + id),
    *releaseLists() {
      for (const [key, releases] of kv.list<PendingRelease[]>({ prefix: RELEASE_LISTS })) {
        yield { id: key.slice(RELEASE_LISTS.length), releases };
      }
    },
    *releasesAll() {
      for (const row of sql.exec<SqlRow>("SELECT token, address FROM pending_releases")) {
        yield { token: row.token as string, address: row.address as string };
      }
    },
  };
}
