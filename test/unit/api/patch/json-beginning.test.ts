import { expect, it } from "vitest";
import { goMap } from "../../../../src/api/patch/go-map";
import { jsonBeginning } from "../../../../src/api/patch/json-beginning";
import type { JsonValue } from "../../../../src/api/schema/json/json-value";

const VALUES: readonly JsonValue[] = [
  {},
  [],
  null,
  'a "quoted" text',
  { b: [1, true, null, { c: "d" }], a: { ["__proto__"]: "x", "": [] } },
  { long: "ab\u0001\n".repeat(100), list: Array.from({ length: 100 }, (_, i) => i) },
];

it.each(VALUES.map((value) => ({ value })))("the beginning of $value: that of the whole text", ({ value }) => {
  const [json, go] = [JSON.stringify(value), goMap(value)];
  for (const max of [0, 1, 5, 20, 100, 10_000]) {
    for (const [beginning, whole] of [
      [jsonBeginning(value, max), json],
      [goMap(value, max), go],
    ] as const) {
      expect(beginning.length).toBeGreaterThanOrEqual(Math.min(max, whole.length));
      expect(whole.slice(0, max)).toBe(beginning.slice(0, max));
    }
  }
  expect(jsonBeginning(value, Infinity)).toBe(json);
});

it("a value nested 100,000 deep: its beginning is read no deeper than it is long", () => {
  let deep: JsonValue = 1;
  for (let i = 0; i < 100_000; i++) deep = { a: deep };
  expect(jsonBeginning(deep, 12).slice(0, 12)).toBe('{"a":{"a":{"');
});
