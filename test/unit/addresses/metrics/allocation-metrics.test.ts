import { describe, expect, it } from "vitest";
import { type AllocationCountStorage, AllocationMetrics } from "../../../../src/addresses/metrics/allocation-metrics";
import type { CidrAllocations } from "../../../../src/api/rpc/store";

/** The stored counts, and the number of writes. */
class KeptCounts implements AllocationCountStorage {
  rows = new Map<string, string>();
  writes = 0;

  allocationCountsLoad(): CidrAllocations[] {
    return [...this.rows.values()].map((text) => JSON.parse(text) as CidrAllocations);
  }

  allocationCountsSave(counts: CidrAllocations): void {
    this.writes++;
    this.rows.set(counts.cidr, JSON.stringify(counts));
  }

  allocationCountsDelete(cidr: string): void {
    this.writes++;
    this.rows.delete(cidr);
  }
}

const A = "10.0.0.0/24";
const B = "2001:db8::/64";

describe("stored counters of allocations", () => {
  it("next life of the object: goes on where the last one ended", () => {
    const kept = new KeptCounts();
    const first = new AllocationMetrics(kept);
    first.allocated(A, "dynamic", 0.004);
    first.allocated(A, "static", 0.3);
    first.failed(B, "static");
    first.save();
    const second = new AllocationMetrics(kept);
    expect(second.values()).toEqual(first.values());
    for (const metrics of [first, second]) metrics.allocated(A, "dynamic", 7);
    expect(second.values()).toEqual(first.values());
    expect(second.values()[0]).toMatchObject({ cidr: A, total: { dynamic: 2, static: 1 }, errors: { dynamic: 0, static: 0 } });
    expect(second.values()[0]?.durations.sum).toBeCloseTo(7.304);
  });

  it("save: writes only what has changed", () => {
    const kept = new KeptCounts();
    const metrics = new AllocationMetrics(kept);
    metrics.allocated(A, "dynamic", 0);
    metrics.allocated(B, "dynamic", 0);
    metrics.save();
    expect(kept.writes).toBe(2);
    metrics.save();
    expect(kept.writes).toBe(2);
    for (let i = 0; i < 100; i++) metrics.failed(B, "dynamic");
    metrics.save();
    expect(kept.writes).toBe(3);
  });

  it("kept values: without what was counted since the last write", () => {
    const metrics = new AllocationMetrics(new KeptCounts());
    metrics.failed(A, "static");
    expect(metrics.keptValues()).toEqual([]);
    metrics.save();
    expect(metrics.keptValues()).toEqual(metrics.values());
    metrics.failed(A, "static");
    metrics.failed(B, "static");
    expect(metrics.keptValues()).toMatchObject([{ cidr: A, errors: { static: 1 } }]);
    metrics.save();
    expect(metrics.keptValues()).toMatchObject([{ errors: { static: 2 } }, { errors: { static: 1 } }]);
  });

  it("lost transaction: the next save repeats its writes, even when nothing was counted since", () => {
    const kept = new KeptCounts();
    const metrics = new AllocationMetrics(kept);
    metrics.allocated(A, "dynamic", 0);
    metrics.save();
    const before = new Map(kept.rows);
    metrics.allocated(A, "dynamic", 0);
    metrics.save();
    kept.rows = before;
    metrics.lost();
    metrics.save();
    expect(new AllocationMetrics(kept).values()).toEqual(metrics.values());
  });

  it("one CIDR more than 10,000: the one counted first is forgotten, in memory and in storage", () => {
    const kept = new KeptCounts();
    const metrics = new AllocationMetrics(kept);
    const cidrOf = (i: number): string => `10.${String(i >> 8)}.${String(i & 255)}.0/24`;
    for (let i = 0; i < 10_000; i++) metrics.allocated(cidrOf(i), "dynamic", 0);
    metrics.save();
    metrics.allocated(cidrOf(10_000), "static", 0);
    metrics.allocated(cidrOf(1), "static", 0);
    metrics.save();
    const values = new Map(metrics.values().map((each) => [each.cidr, each.total]));
    expect([values.size, values.get(cidrOf(0)), values.get(cidrOf(1))]).toEqual([10_000, undefined, { dynamic: 1, static: 1 }]);
    expect([kept.rows.size, kept.rows.has(cidrOf(0)), kept.rows.has(cidrOf(10_000))]).toEqual([10_000, false, true]);
  });

  it("stored histogram of other buckets: starts anew, and the counters beside it go on", () => {
    const kept = new KeptCounts();
    const row = { cidr: A, total: { static: 1, dynamic: 2 }, errors: { static: 3, dynamic: 4 }, durations: { counts: [1, 2], sum: 5 } };
    kept.rows.set(A, JSON.stringify(row));
    const [value] = new AllocationMetrics(kept).values();
    expect(value).toMatchObject({ total: row.total, errors: row.errors, durations: { sum: 0 } });
    expect(value?.durations.counts.reduce((sum, count) => sum + count, 0)).toBe(0);
  });
});
