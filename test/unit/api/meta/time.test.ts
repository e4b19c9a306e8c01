import { expect, it } from "vitest";
import { parseTime, rfc3339Seconds } from "../../../../src/api/meta/time";

it("rfc3339Seconds: whole seconds, UTC, truncated", () => {
  expect(rfc3339Seconds(Date.UTC(2026, 0, 2, 3, 4, 5, 999))).toBe("2026-01-02T03:04:05Z");
});

it("rfc3339Seconds: each second has its own text, before the epoch too, and no time has none", () => {
  const second = Date.UTC(2026, 0, 2, 3, 4, 5);
  const times = [second, second + 1, second + 999, second + 1_000, second - 1, second, 0, -1, -1_000, -1_001];
  expect(times.map(rfc3339Seconds)).toEqual(times.map((ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`));
  for (let i = 0; i < 2; i++) expect(() => rfc3339Seconds(NaN)).toThrow(RangeError);
});

it("parseTime: milliseconds, or undefined when there is no time", () => {
  expect(parseTime("2026-01-02T03:04:05Z")).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
  expect(parseTime("0001-01-01T00:00:02.000000Z")).toBeLessThan(0);
  expect(parseTime(null)).toBeUndefined();
  expect(parseTime("soon")).toBeUndefined();
});
