/** Schema and statements of the repair controller's rows: its cursors, its suspects, its counters. */
import { addressCounts, nodePortCounts } from "../../src/addresses/repair/repair-counts";
import type { RepairedStore, RepairStorage, Tries } from "../../src/addresses/repair/repair-ports";
import type { SettingsStorage } from "../../src/addresses/repair/settings-watch";
import type { Settings } from "../../src/core/config/settings";
import type { SqlRow } from "./sql-row";

export const REPAIR_SCHEMA = `
   CREATE TABLE repair_progress (
     store TEXT PRIMARY KEY,
     incarnation TEXT NOT NULL,
     revision INTEGER NOT NULL,
     swept_to TEXT NOT NULL,
     urgent INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE repair_suspects (id TEXT PRIMARY KEY, due_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE INDEX repair_suspects_due ON repair_suspects (due_at);
   CREATE TABLE repair_marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE repair_counts (type TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;`;

export const REPAIR_SETTINGS_SCHEMA = `
   CREATE TABLE repair_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE repair_differences (
     name TEXT PRIMARY KEY,
     value TEXT NOT NULL,
     seen_at INTEGER NOT NULL,
     is_new INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;`;

export const REPAIR_TRIES_SCHEMA = `
   ALTER TABLE repair_suspects ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE repair_suspects ADD COLUMN told_at INTEGER NOT NULL DEFAULT 0;`;

/** The RepairStorage port on a Durable Object's SQLite. An incarnation "" = no cursor. */
export function sqlRepairStorage(storage: DurableObjectStorage): RepairStorage {
  const { sql } = storage;
  const suspectTries = (id: string): Tries => {
    const [row] = sql.exec<SqlRow>("SELECT attempts, told_at FROM repair_suspects WHERE id = ?", id).toArray();
    return { attempts: (row?.attempts as number | undefined) ?? 0, toldAt: (row?.told_at as number | undefined) ?? 0 };
  };
  const counts = (): ReadonlyMap<string, number> => {
    const rows = sql.exec<SqlRow>("SELECT type, value FROM repair_counts").toArray();
    return new Map(rows.map(({ type, value }) => [type as string, value as number]));
  };
  return {
    progressLoad(what: RepairedStore) {
      const [row] = sql.exec<SqlRow>("SELECT incarnation, revision, swept_to, urgent FROM repair_progress WHERE store = ?", what).toArray();
      if (!row) return { cursor: undefined, sweptTo: "", urgent: true };
      const incarnation = row.incarnation as string;
      return {
        cursor: incarnation ? { incarnation, revision: row.revision as number } : undefined,
        sweptTo: row.swept_to as string,
        urgent: row.urgent === 1,
      };
    },
    progressSave(what, { cursor, sweptTo, urgent }) {
      sql.exec(
        `INSERT INTO repair_progress (store, incarnation, revision, swept_to, urgent) VALUES (?, ?, ?, ?, ?) ON CONFLICT (store) DO UPDATE SET
           incarnation = excluded.incarnation, revision = excluded.revision, swept_to = excluded.swept_to, urgent = excluded.urgent`,
        what,
        cursor?.incarnation ?? "",
        cursor?.revision ?? 0,
        sweptTo,
        urgent ? 1 : 0,
      );
    },
    numberGet(name) {
      const [row] = sql.exec<SqlRow>("SELECT value FROM repair_marks WHERE name = ?", name).toArray();
      return row ? (row.value as number) : 0;
    },
    numberSet(name, value) {
      sql.exec("INSERT INTO repair_marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value);
    },
    suspectPut(id, dueAt, tries) {
      const { attempts, toldAt } = tries ?? suspectTries(id);
      sql.exec(
        `INSERT INTO repair_suspects (id, due_at, attempts, told_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
           due_at = min(due_at, excluded.due_at), attempts = excluded.attempts, told_at = excluded.told_at`,
        id,
        dueAt,
        attempts,
        toldAt,
      );
    },
    suspectTries,
    suspectsTake(nowMs, limit, leaseUntil) {
      return storage.transactionSync(() => {
        const rows = sql.exec<SqlRow>("SELECT id FROM repair_suspects WHERE due_at <= ? ORDER BY due_at LIMIT ?", nowMs, limit).toArray();
        for (const { id } of rows) sql.exec("UPDATE repair_suspects SET due_at = ? WHERE id = ?", leaseUntil, id);
        return rows.map(({ id }) => id as string);
      });
    },
    suspectsDone(leaseUntil) {
      sql.exec("DELETE FROM repair_suspects WHERE due_at = ?", leaseUntil);
    },
    suspectEarliest() {
      const due = sql.exec<SqlRow>("SELECT min(due_at) AS due FROM repair_suspects").one().due;
      return due === null ? undefined : (due as number);
    },
    countsLoad: () => addressCounts(counts()),
    nodePortCountsLoad: () => nodePortCounts(counts()),
    count(type, by) {
      sql.exec(
        "INSERT INTO repair_counts (type, value) VALUES (?, ?) ON CONFLICT (type) DO UPDATE SET value = value + excluded.value",
        type,
        by,
      );
    },
  };
}

/** Row of the object's own kinds of facts: one in place of one for each setting, which every new cluster would write. */
const OPENED_KIND = "repair-settings";

/** The SettingsStorage port on a Durable Object's SQLite. */
export function sqlSettingsStorage(storage: DurableObjectStorage): SettingsStorage {
  const { sql } = storage;
  const differences = (where: string): ReturnType<SettingsStorage["differencesLoad"]> =>
    sql
      .exec<SqlRow>(`SELECT name, value, seen_at FROM repair_differences WHERE ${where} ORDER BY name`)
      .toArray()
      .map((row) => ({ name: row.name as string, value: row.value as string, seenAt: row.seen_at as number }));
  return {
    openedLoad() {
      const [kept] = sql.exec<SqlRow>("SELECT facts FROM followed_rows WHERE kind = ? AND key = ''", OPENED_KIND).toArray();
      if (kept) return JSON.parse(kept.facts as string) as Settings;
      // As earlier releases keep them.
      const rows = sql.exec<SqlRow>("SELECT name, value FROM repair_settings").toArray();
      return Object.fromEntries(rows.map(({ name, value }) => [name as string, value as string]));
    },
    openedSave(settings) {
      storage.transactionSync(() => {
        // An earlier release finds none, and begins anew without a report.
        sql.exec("DELETE FROM repair_settings");
        sql.exec(
          "INSERT INTO followed_rows (kind, key, facts) VALUES (?, '', ?) ON CONFLICT (kind, key) DO UPDATE SET facts = excluded.facts",
          OPENED_KIND,
          JSON.stringify(settings),
        );
      });
    },
    differencePut({ name, value, seenAt }) {
      sql.exec("INSERT OR REPLACE INTO repair_differences (name, value, seen_at, is_new) VALUES (?, ?, ?, 1)", name, value, seenAt);
    },
    differencesLoad: () => differences("TRUE"),
    differencesTake() {
      const taken = differences("is_new = 1");
      if (taken.length > 0) sql.exec("UPDATE repair_differences SET is_new = 0");
      return taken;
    },
    differencesTrim(seenBefore) {
      sql.exec("DELETE FROM repair_differences WHERE seen_at < ?", seenBefore);
    },
  };
}
