import { expect, it } from "vitest";
import { parseGoDuration } from "../../../../src/core/base/go-duration";

it.each([
  ["0", 0],
  ["0s", 0],
  ["500ms", 500],
  ["1s", 1_000],
  ["1m30s", 90_000],
  ["1.5h", 5_400_000],
  ["250us", 0.25],
])("%s: %d ms", (text, ms) => {
  expect(parseGoDuration(text)).toBe(ms);
});

it.each(["", "1", "-1s", "1 s", "s", "1d", "1s2", "1e3s"])("%j: no duration", (text) => {
  expect(parseGoDuration(text)).toBeUndefined();
});
