/** What the platform charges, and what an operation costs by it. One table: a price that changes is changed here. */

/** What is billed, in the units of PRICES. */
export type Meter = keyof typeof PRICES;
export type Usage = Readonly<Partial<Record<Meter, number>>>;

interface Price {
  readonly unit: string;
  /** dollars of a million units, beyond what the plan includes */
  readonly perMillion: number;
  /** units a month that the plan of 5 dollars includes */
  readonly included: number;
  readonly source: string;
}

/** When the sources below said so. */
export const PRICES_OF = "28 November 2026";

const WORKERS = "https://developers.cloudflare.com/workers/platform/pricing/";
const OBJECTS = "https://developers.cloudflare.com/durable-objects/platform/pricing/";
const LOGS = "https://developers.cloudflare.com/workers/observability/logs/workers-logs/";
const BUCKETS = "https://developers.cloudflare.com/r2/pricing/";
const POINTS = "https://developers.cloudflare.com/analytics/analytics-engine/pricing/";
const KEYS = "https://developers.cloudflare.com/kv/platform/pricing/";

export const PRICES = {
  workerRequests: { unit: "requests of the Worker, runs of cron included", perMillion: 0.3, included: 10e6, source: WORKERS },
  workerCpuMs: { unit: "ms of CPU of the Worker", perMillion: 0.02, included: 30e6, source: WORKERS },
  objectRequests: { unit: "calls of objects, and runs of alarms", perMillion: 0.15, included: 1e6, source: OBJECTS },
  objectGbSeconds: { unit: "GB-s that objects are awake, 128 MB each", perMillion: 12.5, included: 400e3, source: OBJECTS },
  rowsWritten: { unit: "rows written, those of indexes, alarms and values included", perMillion: 1, included: 50e6, source: OBJECTS },
  rowsRead: { unit: "rows read", perMillion: 0.001, included: 25e9, source: OBJECTS },
  keysRead: { unit: "reads of the key-value store", perMillion: 0.5, included: 10e6, source: KEYS },
  keysWritten: { unit: "writes, deletions and lists of the key-value store, each", perMillion: 5, included: 1e6, source: KEYS },
  logMegabytes: { unit: "MB of log lines, from 1 December 2026", perMillion: 250, included: 50e3, source: LOGS },
  bucketWrites: { unit: "puts, parts, lists of the bucket of backups", perMillion: 4.5, included: 1e6, source: BUCKETS },
  bucketReads: { unit: "gets and heads of the bucket", perMillion: 0.36, included: 10e6, source: BUCKETS },
  fleetPoints: { unit: "points of the dataset of fleet metrics", perMillion: 0.25, included: 10e6, source: POINTS },
} as const satisfies Record<string, Price>;

/** Dollars of a usage beyond what the plan includes. */
export function dollars(usage: Usage): number {
  let sum = 0;
  for (const meter of Object.keys(usage) as Meter[]) sum += ((usage[meter] ?? 0) * PRICES[meter].perMillion) / 1e6;
  return sum;
}

/** Dollars of a million operations of this usage each. */
export function dollarsOfMillion(usage: Usage): number {
  return dollars(usageOf([[usage, 1e6]]));
}

/** The usage of all parts, each so many times. */
export function usageOf(parts: readonly (readonly [usage: Usage, times: number])[]): Usage {
  const sum: Partial<Record<Meter, number>> = {};
  for (const [usage, times] of parts) {
    for (const meter of Object.keys(usage) as Meter[]) sum[meter] = (sum[meter] ?? 0) + (usage[meter] ?? 0) * times;
  }
  return sum;
}
