/** Schema and statements that only the ipaddresses store has: the newest writer of each address, the claimed prefixes. */
import type { IPAddressStorage } from "../../src/addresses/clusterip/ip-address-storage";
import type { SqlRow } from "./sql-row";

export const IP_ADDRESSES_SCHEMA = `
   CREATE TABLE gens (address TEXT PRIMARY KEY, token TEXT NOT NULL, epoch INTEGER NOT NULL, counter INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE claims (id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL, prefixes TEXT NOT NULL) STRICT;`;

/** The IPAddressStorage port on a Durable Object's SQLite. */
export function sqlIPAddressStorage({ sql }: DurableObjectStorage): IPAddressStorage {
  return {
    genGet(address) {
      const row = sql.exec<SqlRow>("SELECT address, token, epoch, counter FROM gens WHERE address = ?", address).toArray()[0];
      if (!row) return undefined;
      return {
        address: row.address as string,
        token: row.token as string,
        gen: { epoch: row.epoch as number, counter: row.counter as number },
      };
    },
    genPut({ address, token, gen }) {
      sql.exec(
        `INSERT INTO gens (address, token, epoch, counter) VALUES (?, ?, ?, ?)
         ON CONFLICT (address) DO UPDATE SET token = excluded.token, epoch = excluded.epoch, counter = excluded.counter`,
        address,
        token,
        gen.epoch,
        gen.counter,
      );
    },
    claimsLoad() {
      const row = sql.exec<SqlRow>("SELECT epoch, prefixes FROM claims").toArray()[0];
      return row ? { epoch: row.epoch as number, prefixes: JSON.parse(row.prefixes as string) as string[] } : { epoch: 0, prefixes: [] };
    },
    claimsSave(epoch, prefixes) {
      sql.exec(
        "INSERT INTO claims (id, epoch, prefixes) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, prefixes = excluded.prefixes",
        epoch,
        JSON.stringify(prefixes),
      );
    },
  };
}
