/** Parts of long texts: what stays in memory of the whole. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { ownText } from "../../../../src/core/encoding/own-text";

const MIB = 1024 * 1024;
const PARTS = 64;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes that are held while PARTS parts are, each of another text of a megabyte. */
function heldBy(cut: (whole: string) => string): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const parts = Array.from({ length: PARTS }, (_, i) => cut(JSON.parse(`"${String.fromCharCode(97 + (i % 26)).repeat(MIB)}"`) as string));
  collectGarbage();
  const held = process.memoryUsage().heapUsed - before;
  expect(parts.every(({ length }) => length === 1_000)).toBe(true);
  return held;
}

it.each(["", "a", "part of a text", "äöü€𝄞 with other letters"])("%j: the same text", (text) => {
  expect(ownText(text)).toBe(text);
});

it("parts of a kilobyte: keep the megabyte that they were cut out of, texts of their own do not", () => {
  expect(heldBy((whole) => whole.slice(1_000, 2_000))).toBeGreaterThan((PARTS / 2) * MIB);
  expect(heldBy((whole) => ownText(whole.slice(1_000, 2_000)))).toBeLessThan((PARTS / 8) * MIB);
});
