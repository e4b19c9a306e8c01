import { describe, expect, it } from "vitest";
import { isAheadOfServer, type Refused, refusal, statusIn } from "../../../../src/api/client/fetch-like";

const caused = (cause: { reason?: string; message?: string }): Refused => ({
  code: 504,
  details: { causes: [{ reason: "Other" }, cause] },
});

describe("isAheadOfServer", () => {
  it.each<[string, Refused, boolean]>([
    ["a revision beyond the newest", caused({ reason: "ResourceVersionTooLarge", message: "x" }), true],
    ["the same from an older server", caused({ message: "Too large resource version" }), true],
    ["another cause of a 504", caused({ reason: "Timeout" }), false],
    ["a 504 without causes", { code: 504, details: {} }, false],
    ["a 504 without details", { code: 504 }, false],
    ["the cause with another code", { ...caused({ reason: "ResourceVersionTooLarge" }), code: 500 }, false],
    ["no Status", {}, false],
  ])("%s: %s", (_, status, isAhead) => {
    expect(isAheadOfServer(status)).toBe(isAhead);
  });
});

it.each<[string, Refused]>([
  ['{"kind":"Status","code":410}', { code: 410 }],
  ["null", {}],
  ["<html>Bad Gateway</html>", {}],
  ["", {}],
])("the Status in the text %j: %o", (text, status) => {
  expect(statusIn(text)).toMatchObject(status);
});

it("a refusal: an error with code and text", () => {
  expect(refusal(403, " no\n").message).toBe("the API server answers 403: no");
});
