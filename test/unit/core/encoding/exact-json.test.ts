import { describe, expect, it } from "vitest";
import { type Int64, integerOf, isInt64, parseJson } from "../../../../src/core/encoding/exact-json";

describe("parseJson", () => {
  it.each([
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "[9007199254740992,9007199254740991]",
    '{"a":[{"b":99999999999999999999}],"1234567890123456":"9007199254740993"}',
    '{"__proto__":{"n":9007199254740993}}',
  ])("%s: printed as it stood", (text) => {
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  it.each([
    ["9007199254740993", 9007199254740993n],
    ["9007199254740991", 9007199254740991],
    ["1e16", 1e16],
    ["12345678901234567.5", Number("12345678901234567.5")],
    [`1${"0".repeat(500)}`, Infinity],
  ])("%s: a bigint for an integer beyond 2^53, else a number", (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  it("a text that is no JSON: throws as JSON.parse", () => {
    expect(() => parseJson('{"a":9007199254740993')).toThrow(SyntaxError);
  });

  it("a text too deep to visit: read all the same", () => {
    const deep = `${"[".repeat(200_000)}9007199254740993${"]".repeat(200_000)}`;
    expect(Array.isArray(parseJson(deep))).toBe(true);
  });
});

it.each<[unknown, boolean]>([
  [0, true],
  [-(2 ** 53) + 1, true],
  [2 ** 53, false],
  [1.5, false],
  [9223372036854775807n, true],
  [9223372036854775808n, false],
  [-9223372036854775808n, true],
  [-9223372036854775809n, false],
  ["1", false],
])("isInt64 of %s: %s", (value, want) => {
  expect(isInt64(value)).toBe(want);
});

describe("a bigint in JSON.stringify", () => {
  it.each<[string, bigint]>([
    ["an offset", 0n],
    ["the number of 10.0.0.1", 167772161n],
    ["a size that a number holds", -(2n ** 53n) + 1n],
  ])("%s, which parseJson would have read as a number: throws, as without this module", (_, value) => {
    expect(() => JSON.stringify({ value })).toThrow(new TypeError("Do not know how to serialize a BigInt"));
  });

  it.each([2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n])("%s, which parseJson reads as a bigint: is printed", (value) => {
    expect(JSON.stringify({ value })).toBe(`{"value":${value}}`);
  });
});

it.each<[bigint, Int64]>([
  [0n, 0],
  [-(2n ** 53n) + 1n, -(2 ** 53) + 1],
  [2n ** 53n, 2n ** 53n],
])("integerOf %s: %s, as parseJson reads it", (value, want) => {
  expect(integerOf(value)).toBe(want);
});

// The objects of addresses send and log text: an IPv6 address is beyond 2^53, so that JSON.stringify would print it.
const CALLS = Object.entries(import.meta.glob("../../../../src/addresses/rpc/*.ts", { query: "?raw", import: "default" }));

it.each(CALLS)("calls of addresses in %s: no bigint, and nothing of core/net, whose addresses are bigints", async (_, read) => {
  expect(String(await read())).not.toMatch(/\bbigint\b|core\/net/);
});

it("calls of addresses: are all looked at", () => {
  expect(CALLS.length).toBeGreaterThan(4);
});
