/** What suites make of their samples. */
import type { BenchRow } from "./row";

/** Rounded to so many digits behind the point. */
export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** @param sorted ascending; NaN for none */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? NaN;
}

/** @param values in any order; NaN for none */
export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

/** A row whose figure has to be at most `max`. */
export function atMost(name: string, value: number, unit: string, max: number, note?: string): BenchRow {
  const row = { name, value: round(value), unit, target: `<= ${max.toLocaleString("en-US")}`, ok: value <= max };
  return note === undefined ? row : { ...row, note };
}
