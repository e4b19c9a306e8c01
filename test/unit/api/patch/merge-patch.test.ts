import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/api/schema/json/json-value";
import { mergePatched } from "../../../support/values/patch-texts";

function apply(current: JsonObject, patch: string): unknown {
  const result = mergePatched(structuredClone(current), patch);
  return result.ok ? result.value : result.error;
}

describe("the examples of RFC 7386, appendix A, with objects as documents", () => {
  it.each<[JsonObject, string, JsonObject]>([
    [{ a: "b" }, '{"a":"c"}', { a: "c" }],
    [{ a: "b" }, '{"b":"c"}', { a: "b", b: "c" }],
    [{ a: "b" }, '{"a":null}', {}],
    [{ a: "b", b: "c" }, '{"a":null}', { b: "c" }],
    [{ a: ["b"] }, '{"a":"c"}', { a: "c" }],
    [{ a: "c" }, '{"a":["b"]}', { a: ["b"] }],
    [{ a: { b: "c" } }, '{"a":{"b":"d","c":null}}', { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, '{"a":[1]}', { a: [1] }],
    [{ e: null }, '{"a":1}', { e: null, a: 1 }],
    [{}, '{"a":{"bb":{"ccc":null}}}', { a: { bb: {} } }],
  ])("%j patched with %s: the document of the RFC", (current, patch, want) => {
    expect(apply(current, patch)).toEqual(want);
  });
});

it("names of Object.prototype: names like others", () => {
  expect(apply({ labels: { a: "1" } }, '{"labels":{"constructor":"x","hasOwnProperty":"y","b":"2","toString":null}}')).toEqual({
    labels: { a: "1", constructor: "x", hasOwnProperty: "y", b: "2" },
  });
});

it("__proto__: a member, never a prototype", () => {
  const next = apply({ a: {} }, '{"a":{"__proto__":{"polluted":true}}}') as { a: object };
  expect(Object.hasOwn(next.a, "__proto__")).toBe(true);
  expect((next.a as { polluted?: boolean }).polluted).toBeUndefined();
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it.each([
  { patch: "[]", message: "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}" },
  { patch: '"x"', message: "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}" },
  { patch: "true", message: "error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}" },
  { patch: "null", message: "Invalid JSON Patch" },
  { patch: "{", message: "error decoding patch: unexpected end of JSON input" },
  { patch: "", message: "error decoding patch: unexpected end of JSON input" },
  { patch: "{a}", message: "error decoding patch: invalid character 'a' looking for beginning of object key string" },
  { patch: "[".repeat(100_000), message: "error decoding patch: exceeded max depth" },
  { patch: '{"a":'.repeat(100_000), message: "error decoding patch: exceeded max depth" },
])("patch $patch: malformed", ({ patch, message }) => {
  expect(apply({}, patch)).toEqual({ reason: "malformed", message });
});
