/** Schema and statements of an object that keeps the health of nodes. */
import type { NodeStorage, StoredFacts } from "../../src/proxy-health/node-storage";
import type { LocalCounts, ServiceCheck } from "../../src/proxy-health/pushed/shard-change";
import type { Report } from "../../src/proxy-health/report";
import type { SqlRow } from "./sql-row";

export const NODE_HEALTH_SCHEMA = `
   CREATE TABLE node_reports (node TEXT PRIMARY KEY, report TEXT NOT NULL, reported_at INTEGER NOT NULL, is_silent INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE node_facts (node TEXT PRIMARY KEY, facts TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE silence_watch (id INTEGER PRIMARY KEY CHECK (id = 1), alarm_at INTEGER NOT NULL, granted_at INTEGER NOT NULL) STRICT;`;

/** What the controller told. */
export const PUSHED_SCHEMA = `
   CREATE TABLE node_counts (node TEXT PRIMARY KEY, counts TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE pushed_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL, sequence INTEGER NOT NULL) STRICT;
   CREATE TABLE pushed_checks (id INTEGER PRIMARY KEY CHECK (id = 1), checks TEXT NOT NULL) STRICT;`;

/** The NodeStorage port on a Durable Object's SQLite. */
export function sqlNodeStorage(storage: DurableObjectStorage): NodeStorage {
  const { sql } = storage;
  return {
    transaction: (work) => storage.transactionSync(work),
    *reports() {
      for (const row of sql.exec<SqlRow>("SELECT node, report, reported_at, is_silent FROM node_reports")) {
        // Written by reportPut alone.
        const report = JSON.parse(row.report as string) as Report;
        yield [row.node as string, { report, reportedAt: row.reported_at as number, isSilent: row.is_silent === 1 }];
      }
    },
    reportPut(node, { report, reportedAt, isSilent }) {
      sql.exec(
        `INSERT INTO node_reports (node, report, reported_at, is_silent) VALUES (?, ?, ?, ?)
         ON CONFLICT (node) DO UPDATE SET report = excluded.report, reported_at = excluded.reported_at, is_silent = excluded.is_silent`,
        node,
        JSON.stringify(report),
        reportedAt,
        Number(isSilent),
      );
    },
    reportDelete(node) {
      sql.exec("DELETE FROM node_reports WHERE node = ?", node);
    },
    *facts() {
      for (const row of sql.exec<SqlRow>("SELECT node, facts FROM node_facts")) {
        yield [row.node as string, JSON.parse(row.facts as string) as StoredFacts];
      }
    },
    factsPut(node, facts) {
      sql.exec(
        "INSERT INTO node_facts (node, facts) VALUES (?, ?) ON CONFLICT (node) DO UPDATE SET facts = excluded.facts",
        node,
        JSON.stringify(facts),
      );
    },
    *counts() {
      for (const row of sql.exec<SqlRow>("SELECT node, counts FROM node_counts")) {
        yield [row.node as string, JSON.parse(row.counts as string) as LocalCounts];
      }
    },
    countsPut(node, counts) {
      if (Object.keys(counts).length === 0) {
        sql.exec("DELETE FROM node_counts WHERE node = ?", node);
        return;
      }
      sql.exec(
        "INSERT INTO node_counts (node, counts) VALUES (?, ?) ON CONFLICT (node) DO UPDATE SET counts = excluded.counts",
        node,
        JSON.stringify(counts),
      );
    },
    nodeDelete(node) {
      sql.exec("DELETE FROM node_counts WHERE node = ?", node);
      sql.exec("DELETE FROM node_reports WHERE node = ?", node);
      sql.exec("DELETE FROM node_facts WHERE node = ?", node);
    },
    watchLoad() {
      const row = sql.exec<SqlRow>("SELECT alarm_at, granted_at FROM silence_watch").toArray()[0];
      return row && { alarmAt: row.alarm_at as number, grantedAt: row.granted_at as number };
    },
    watchPut({ alarmAt, grantedAt }) {
      sql.exec(
        `INSERT INTO silence_watch (id, alarm_at, granted_at) VALUES (1, ?, ?)
         ON CONFLICT (id) DO UPDATE SET alarm_at = excluded.alarm_at, granted_at = excluded.granted_at`,
        alarmAt,
        grantedAt,
      );
    },
    cursorLoad() {
      const row = sql.exec<SqlRow>("SELECT epoch, sequence FROM pushed_cursor").toArray()[0];
      return row && { epoch: row.epoch as number, sequence: row.sequence as number };
    },
    cursorPut({ epoch, sequence }) {
      sql.exec(
        `INSERT INTO pushed_cursor (id, epoch, sequence) VALUES (1, ?, ?)
         ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, sequence = excluded.sequence`,
        epoch,
        sequence,
      );
    },
    checksLoad() {
      const row = sql.exec<SqlRow>("SELECT checks FROM pushed_checks").toArray()[0];
      return row && (JSON.parse(row.checks as string) as ServiceCheck[]);
    },
    checksPut(checks) {
      sql.exec(
        "INSERT INTO pushed_checks (id, checks) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET checks = excluded.checks",
        JSON.stringify(checks),
      );
    },
  };
}
