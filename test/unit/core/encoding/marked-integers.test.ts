import { describe, expect, it } from "vitest";
import { parseMarked, printMarked } from "../../../../src/core/encoding/marked-integers";

describe("JSON that an engine without sources of numbers reads and prints", () => {
  it.each([
    '{"a":9007199254740993,"b":[-9223372036854775808,1,0.5],"c":"9007199254740993"}',
    '{"1":[{"":12345678901234567890}],"text \\"9007199254740993\\" \\\\":true}',
    '{"a":1}',
    '{"a":9007199254740993,"b":"#0:9007199254740993","#1:":"#2:9007199254740993"}',
  ])("%s: as it stood", (text) => {
    expect(printMarked(parseMarked(text) as object)).toBe(text);
  });

  it("a text that spells a mark by escapes: stays a text", () => {
    for (const text of ["\\u00230:9007199254740993", "#\\u0030:9007199254740993", "#0\\u003a9007199254740993"])
      expect(parseMarked(`["${text}",9007199254740993]`)).toEqual(["#0:9007199254740993", 9007199254740993n]);
  });

  it("integers: bigints beyond 2^53, else numbers", () => {
    expect(parseMarked("[9007199254740993,9007199254740991,1e300,12345678901234567.5]")).toEqual([
      9007199254740993n,
      9007199254740991,
      1e300,
      Number("12345678901234567.5"),
    ]);
  });

  it.each(['{"a":9007199254740993', "{9007199254740993:1}", "[09007199254740993]", "[9007199254740993-1]"])(
    "%s: refused as JSON.parse does",
    (text) => {
      expect(() => parseMarked(text)).toThrow(SyntaxError);
    },
  );
});
