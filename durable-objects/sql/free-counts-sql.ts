/** Schema and statements of FreeCounts. */
import type { FreeCountStorage, OwnerTakenCounts } from "../../src/addresses/ledger/free-counts";

export const FREE_COUNTS_SCHEMA = `
   CREATE TABLE taken_counts (
     owner TEXT PRIMARY KEY,
     ipv4_dynamic REAL NOT NULL,
     ipv4_static REAL NOT NULL,
     ipv6_dynamic REAL NOT NULL,
     ipv6_static REAL NOT NULL
   ) STRICT, WITHOUT ROWID;`;

/** The FreeCountStorage port on a Durable Object's SQLite. */
export function sqlFreeCountStorage({ sql }: DurableObjectStorage): FreeCountStorage {
  return {
    takenCountsLoad() {
      return sql
        .exec<Record<string, number | string>>("SELECT owner, ipv4_dynamic, ipv4_static, ipv6_dynamic, ipv6_static FROM taken_counts")
        .toArray()
        .map((row): OwnerTakenCounts => ({
          ownerUid: String(row.owner),
          IPv4: { dynamic: Number(row.ipv4_dynamic), static: Number(row.ipv4_static) },
          IPv6: { dynamic: Number(row.ipv6_dynamic), static: Number(row.ipv6_static) },
        }));
    },
    takenCountsSave({ ownerUid, IPv4, IPv6 }) {
      sql.exec(
        `INSERT INTO taken_counts (owner, ipv4_dynamic, ipv4_static, ipv6_dynamic, ipv6_static) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (owner) DO UPDATE SET ipv4_dynamic = excluded.ipv4_dynamic, ipv4_static = excluded.ipv4_static,
           ipv6_dynamic = excluded.ipv6_dynamic, ipv6_static = excluded.ipv6_static`,
        ownerUid,
        IPv4.dynamic,
        IPv4.static,
        IPv6.dynamic,
        IPv6.static,
      );
    },
    takenCountsDelete(ownerUid) {
      sql.exec("DELETE FROM taken_counts WHERE owner = ?", ownerUid);
    },
  };
}
