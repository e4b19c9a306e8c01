import { expect, it } from "vitest";
import { isFractional, quantityValue } from "../../../../src/api/meta/quantity";

it.each<[string, number, boolean]>([
  ["0", 0, false],
  ["12", 12, false],
  ["-3", -3, false],
  ["1.5", 1.5, true],
  ["1500m", 1.5, true],
  ["2000m", 2, false],
  ["1k", 1_000, false],
  ["1Ki", 1_024, false],
  ["0.5Ki", 512, false],
  ["2e3", 2_000, false],
  ["1E", 1e18, false],
  ["1E1", 10, false],
  [".5", 0.5, true],
])("quantity %s: %d, fractional %s", (text, value, fractional) => {
  expect([quantityValue(text), isFractional(text)]).toEqual([value, fractional]);
});

it("a text that is no quantity: no number", () => {
  expect(quantityValue("many")).toBeNaN();
});
