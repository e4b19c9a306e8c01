import { describe, expect, it } from "vitest";
import { parseTimeout, queryBool, queryInt64 } from "../../../../../src/worker/http/read/query";

describe("parseTimeout", () => {
  it("timeout: absent is 0, readable is milliseconds, unreadable is 400 with Go's text", () => {
    expect(parseTimeout(new URLSearchParams())).toEqual({ ok: true, value: 0 });
    expect(parseTimeout(new URLSearchParams("timeout=32s"))).toEqual({ ok: true, value: 32_000 });
    const refused = parseTimeout(new URLSearchParams("timeout=invalid"));
    expect(refused).toMatchObject({
      error: { code: 400, message: 'invalid timeout specified in the request URL - time: invalid duration "invalid"' },
    });
  });
});

describe("queryBool", () => {
  it.each([
    ["watch=true", true],
    ["watch=1", true],
    ["watch=", true],
    ["watch=yes", true],
    ["watch=false", false],
    ["watch=False", false],
    ["watch=0", false],
    ["", false],
  ])("value %s: %s", (query, want) => {
    expect(queryBool(new URLSearchParams(query), "watch")).toBe(want);
  });
});

describe("queryInt64", () => {
  it.each<[string, number | string]>([
    ["", 0],
    ["limit=5", 5],
    ["limit=%2B5", 5],
    ["limit=-1", -1],
    ["limit=", 'strconv.ParseInt: parsing "": invalid syntax'],
    ["limit=x", 'strconv.ParseInt: parsing "x": invalid syntax'],
  ])("%s: %s", (query, want) => {
    const read = queryInt64(new URLSearchParams(query), "limit");
    expect(read.ok ? read.value : read.error.message).toBe(want);
  });
});
