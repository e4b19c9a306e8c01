/** JSON of the programs, with every digit of its integers on every Node. */
import { describe, expect, it } from "vitest";
import { parseExact, printExact } from "../../scripts/cluster/exact-json";

describe("JSON that a program reads and prints", () => {
  it.each([
    '{"a":9007199254740993,"b":[-9223372036854775808,1,0.5],"c":"9007199254740993"}',
    '{"1":[{"":12345678901234567890}],"text \\"9007199254740993\\" \\\\":true}',
    '{"a":1}',
  ])("%s: as it stood", (text) => {
    expect(printExact(parseExact(text) as object)).toBe(text);
  });

  it("integers: bigints beyond 2^53, else numbers", () => {
    expect(parseExact("[9007199254740993,9007199254740991,1e300,12345678901234567.5]")).toEqual([
      9007199254740993n,
      9007199254740991,
      1e300,
      Number("12345678901234567.5"),
    ]);
  });

  it.each(['{"a":9007199254740993', "{9007199254740993:1}", "[09007199254740993]", "[9007199254740993-1]"])(
    "%s: refused as JSON.parse does",
    (text) => {
      expect(() => parseExact(text)).toThrow(SyntaxError);
    },
  );
});
