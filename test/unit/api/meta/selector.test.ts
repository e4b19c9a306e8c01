import { describe, expect, it } from "vitest";
import { parseLabelSelector } from "../../../../src/api/meta/selector";

function matches(text: string, labels: Record<string, string> | undefined): boolean {
  const parsed = parseLabelSelector(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value.matches(labels);
}

describe("matching", () => {
  it.each<[string, Record<string, string> | undefined, boolean]>([
    ["", undefined, true],
    ["  ", { a: "b" }, true],
    ["a=b", { a: "b" }, true],
    ["a==b", { a: "b" }, true],
    ["a = b", { a: "b" }, true],
    ["a=b", { a: "c" }, false],
    ["a=b", undefined, false],
    ["a=", { a: "" }, true],
    ["a=", {}, false],
    ["a!=b", { a: "c" }, true],
    ["a!=b", {}, true],
    ["a!=b", { a: "b" }, false],
    ["a in (b,c)", { a: "c" }, true],
    ["a in (b,c)", {}, false],
    ["a in (,b)", { a: "" }, true],
    ["a in (b,)", { a: "" }, true],
    // Upstream: pkg/labels/selector.go, parseValues.
    ["a in ()", { a: "" }, true],
    ["a in ()", { a: "b" }, false],
    ["a in ( )", {}, false],
    ["a notin ()", { a: "" }, false],
    ["a notin ()", { a: "b" }, true],
    ["a notin ()", {}, true],
    ["a notin (b,c)", {}, true],
    ["a notin (b, c)", { a: "c" }, false],
    ["a", { a: "" }, true],
    ["a", {}, false],
    ["!a", {}, true],
    ["! a", { a: "x" }, false],
    ["a>1", { a: "2" }, true],
    ["a>1", { a: "1" }, false],
    ["a<10", { a: "9" }, true],
    ["a<10", { a: "nine" }, false],
    ["a<10", {}, false],
    ["a>9007199254740993", { a: "9007199254740994" }, true],
    ["a=b,c=d", { a: "b", c: "d" }, true],
    ["a=b,c=d", { a: "b", c: "e" }, false],
    ["a in (b),!c,d", { a: "b", d: "" }, true],
    ["in in (in,notin)", { in: "notin" }, true],
    ["in", { in: "" }, true],
    ["a=in", { a: "in" }, true],
    ["example.com/a=b", { "example.com/a": "b" }, true],
    ["toString", {}, false],
    ["!constructor", {}, true],
  ])("%j on %j: %s", (text, labels, want) => {
    expect(matches(text, labels)).toBe(want);
  });
});

describe("errors", () => {
  it.each([
    ["=a", "found '=', expected: !, identifier, or 'end of string'"],
    ["!=a", "found '!=', expected: !, identifier, or 'end of string'"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a in b", "unable to parse requirement: found 'b' expected: '('"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ["a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ["a=b x", "found 'x', expected: ',' or 'end of string'"],
    ["!a x", "found 'x', expected: ',' or 'end of string'"],
    ["a,", "found '', expected: identifier after ','"],
    ["a,,b", "found ',', expected: identifier after ','"],
    ["a==,=", "found '=', expected: identifier after ','"],
    ["a=(", "unable to parse requirement: found '(', expected: identifier"],
    ["a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ["a>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
  ])("%j: %s", (text, want) => {
    expect(parseLabelSelector(text)).toEqual({ ok: false, error: want });
  });

  it.each([
    ["-a=b", /^unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of/],
    ["a=-b", /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-b": a valid label must be an empty string/],
  ])("%j: refused", (text, want) => {
    const parsed = parseLabelSelector(text);
    expect(parsed.ok ? "" : parsed.error).toMatch(want);
  });
});

it("requirements: key, operator and sorted values of each term", () => {
  const parsed = parseLabelSelector("a in (c,b,c),d");
  expect(parsed.ok && parsed.value.requirements).toEqual([
    { key: "a", operator: "in", values: ["b", "c"] },
    { key: "d", operator: "exists", values: [] },
  ]);
  expect(parsed.ok && parsed.value.empty).toBe(false);
});
