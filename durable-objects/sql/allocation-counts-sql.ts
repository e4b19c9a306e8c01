/** Schema and statements of AllocationMetrics. */
import type { AllocationCountStorage } from "../../src/addresses/metrics/allocation-metrics";

/** `durations`: the counts of the histogram's buckets as a JSON list. */
export const ALLOCATION_COUNTS_SCHEMA = `
   CREATE TABLE allocation_counts (
     cidr TEXT PRIMARY KEY,
     dynamic INTEGER NOT NULL,
     static INTEGER NOT NULL,
     dynamic_errors INTEGER NOT NULL,
     static_errors INTEGER NOT NULL,
     durations TEXT NOT NULL,
     durations_sum REAL NOT NULL
   ) STRICT, WITHOUT ROWID;`;

/** The AllocationCountStorage port on a Durable Object's SQLite. */
export function sqlAllocationCountStorage({ sql }: DurableObjectStorage): AllocationCountStorage {
  return {
    allocationCountsLoad() {
      return sql
        .exec<Record<string, number | string>>(
          "SELECT cidr, dynamic, static, dynamic_errors, static_errors, durations, durations_sum FROM allocation_counts",
        )
        .toArray()
        .map((row) => ({
          cidr: String(row.cidr),
          total: { dynamic: Number(row.dynamic), static: Number(row.static) },
          errors: { dynamic: Number(row.dynamic_errors), static: Number(row.static_errors) },
          durations: { counts: JSON.parse(String(row.durations)) as number[], sum: Number(row.durations_sum) },
        }));
    },
    allocationCountsSave({ cidr, total, errors, durations }) {
      sql.exec(
        `INSERT INTO allocation_counts (cidr, dynamic, static, dynamic_errors, static_errors, durations, durations_sum)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (cidr) DO UPDATE SET dynamic = excluded.dynamic, static = excluded.static,
           dynamic_errors = excluded.dynamic_errors, static_errors = excluded.static_errors, durations = excluded.durations,
           durations_sum = excluded.durations_sum`,
        cidr,
        total.dynamic,
        total.static,
        errors.dynamic,
        errors.static,
        JSON.stringify(durations.counts),
        durations.sum,
      );
    },
    allocationCountsDelete(cidr) {
      sql.exec("DELETE FROM allocation_counts WHERE cidr = ?", cidr);
    },
  };
}
