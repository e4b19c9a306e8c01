import { expect, it } from "vitest";
import { parseTime, rfc3339Seconds } from "../../../../src/api/meta/time";

it("rfc3339Seconds: whole seconds, UTC, truncated", () => {
  expect(rfc3339Seconds(Date.UTC(2026, 0, 2, 3, 4, 5, 999))).toBe("2026-01-02T03:04:05Z");
});

it("parseTime: milliseconds, or undefined when there is no time", () => {
  expect(parseTime("2026-01-02T03:04:05Z")).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
  expect(parseTime("0001-01-01T00:00:02.000000Z")).toBeLessThan(0);
  expect(parseTime(null)).toBeUndefined();
  expect(parseTime("soon")).toBeUndefined();
});
