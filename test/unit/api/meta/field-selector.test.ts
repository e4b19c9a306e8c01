import { describe, expect, it } from "vitest";
import { parseFieldSelector } from "../../../../src/api/meta/field-selector";

function parse(text: string) {
  const parsed = parseFieldSelector(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

describe("matching", () => {
  it.each<[string, Record<string, string>, boolean]>([
    ["", {}, true],
    ["metadata.name=foo", { "metadata.name": "foo" }, true],
    ["metadata.name==foo", { "metadata.name": "bar" }, false],
    ["spec.clusterIP!=None", { "spec.clusterIP": "10.0.0.1" }, true],
    ["spec.clusterIP!=None", { "spec.clusterIP": "None" }, false],
    ["involvedObject.namespace=", {}, true],
    ["a=b,c!=d", { a: "b", c: "e" }, true],
    ["a=b,,c=d", { a: "b", c: "d" }, true],
    ["a=x\\,y\\=z\\\\", { a: "x,y=z\\" }, true],
  ])("%j on %j: %s", (text, fields, want) => {
    expect(parse(text).matches(fields)).toBe(want);
  });

  it("exact: the demanded value of a field, or undefined", () => {
    expect(parse("metadata.namespace!=x,metadata.name=foo").exact("metadata.name")).toBe("foo");
    expect(parse("metadata.name!=foo").exact("metadata.name")).toBeUndefined();
  });
});

it.each([
  ["x", "invalid selector: 'x'; can't understand 'x'"],
  ["a=b,x", "invalid selector: 'a=b,x'; can't understand 'x'"],
  ["a=\\b", "invalid field selector: invalid escape sequence: \\b"],
  ["a=\\", "invalid field selector: invalid escape sequence: \\"],
  ["a=b=c", "invalid field selector: unescaped character in value: 61"],
])("field selector %j: refused", (text, want) => {
  expect(parseFieldSelector(text)).toEqual({ ok: false, error: want });
});
