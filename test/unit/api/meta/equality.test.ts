import { expect, it } from "vitest";
import { semanticEqual, semanticText } from "../../../../src/api/meta/equality";

it.each<{ a: unknown; b: unknown; want: boolean }>([
  { a: 1, b: 1, want: true },
  { a: 0, b: undefined, want: false },
  { a: "", b: undefined, want: false },
  { a: false, b: null, want: false },
  { a: null, b: undefined, want: true },
  { a: [], b: null, want: true },
  { a: {}, b: undefined, want: true },
  { a: [], b: {}, want: true },
  { a: [1, 2], b: [2, 1], want: false },
  { a: [1], b: [1, 2], want: false },
  { a: { x: 1, y: 2 }, b: { y: 2, x: 1 }, want: true },
  { a: { x: 1 }, b: { x: 1, y: [] }, want: true },
  { a: { x: 1, y: {} }, b: { x: 1 }, want: true },
  { a: { x: 1 }, b: { x: 1, y: 0 }, want: false },
  { a: { toString: "x" }, b: {}, want: false },
  { a: { x: { y: [{ z: 1 }] } }, b: { x: { y: [{ z: 2 }] } }, want: false },
  { a: { x: 1 }, b: [1], want: false },
])("equality of $a and $b: $want", ({ a, b, want }) => {
  expect(semanticEqual(a, b)).toBe(want);
  expect(semanticEqual(b, a)).toBe(want);
  expect(semanticText(a) === semanticText(b)).toBe(want);
});

it("map that was emptied after a comparison: is nothing", () => {
  const map: Record<string, string> = { a: "1", b: "2" };
  expect(semanticEqual(undefined, map)).toBe(false);
  delete map["a"];
  expect(semanticEqual(undefined, map)).toBe(false);
  delete map["b"];
  expect(semanticEqual(undefined, map)).toBe(true);
});
