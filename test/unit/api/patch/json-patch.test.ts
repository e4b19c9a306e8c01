import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/api/schema/json/json-value";
import { patchErrorStatus } from "../../../../src/api/patch/patch-error";
import { deepFreeze } from "../registry/services/a-service";
import { jsonPatched } from "../../../support/values/patch-texts";

type Operations = readonly Record<string, unknown>[];

function apply(current: JsonObject, operations: Operations) {
  return jsonPatched(deepFreeze(current), JSON.stringify(operations));
}

describe("operations", () => {
  it.each<{ given: JsonObject; ops: Operations; want: JsonObject }>([
    { given: { a: 1 }, ops: [{ op: "add", path: "/b", value: { c: [] } }], want: { a: 1, b: { c: [] } } },
    { given: { a: [1, 3] }, ops: [{ op: "add", path: "/a/1", value: 2 }], want: { a: [1, 2, 3] } },
    { given: { a: [1] }, ops: [{ op: "add", path: "/a/-", value: 2 }], want: { a: [1, 2] } },
    { given: { a: [1] }, ops: [{ op: "add", path: "/a/1", value: 2 }], want: { a: [1, 2] } },
    { given: { a: [1] }, ops: [{ op: "add", path: "/a/01", value: 2 }], want: { a: [1, 2] } },
    { given: { a: [1] }, ops: [{ op: "add", path: "/a/-1", value: 2 }], want: { a: [1, 2] } },
    { given: { a: [1] }, ops: [{ op: "add", path: "/a/-2", value: 2 }], want: { a: [2, 1] } },
    { given: { a: [1, 2] }, ops: [{ op: "remove", path: "/a/-1" }], want: { a: [1] } },
    { given: { a: [{ b: 1 }] }, ops: [{ op: "replace", path: "/a/-1/b", value: 2 }], want: { a: [{ b: 2 }] } },
    { given: { a: [1, 2] }, ops: [{ op: "test", path: "/a/-2", value: 1 }], want: { a: [1, 2] } },
    { given: { a: [1, 2, 3] }, ops: [{ op: "move", from: "/a/-3", path: "/a/-1" }], want: { a: [2, 3, 1] } },
    { given: { a: [1, 2] }, ops: [{ op: "copy", from: "/a/-1", path: "/a/0" }], want: { a: [2, 1, 2] } },
    { given: { a: 1 }, ops: [{ op: "replace", path: "/a", value: null }], want: { a: null } },
    { given: { a: null }, ops: [{ op: "replace", path: "/a", value: 1 }], want: { a: 1 } },
    { given: { a: [1, 2] }, ops: [{ op: "remove", path: "/a/0" }], want: { a: [2] } },
    {
      given: { a: { "b/c": 1, "d~e": 2 } },
      ops: [
        { op: "remove", path: "/a/b~1c" },
        { op: "remove", path: "/a/d~0e" },
      ],
      want: { a: {} },
    },
    { given: { a: { x: 1 } }, ops: [{ op: "move", from: "/a/x", path: "/y" }], want: { a: {}, y: 1 } },
    {
      given: { a: { x: 1 } },
      ops: [
        { op: "copy", from: "/a", path: "/b" },
        { op: "add", path: "/b/z", value: 2 },
      ],
      want: { a: { x: 1 }, b: { x: 1, z: 2 } },
    },
    {
      given: { a: { x: [1] } },
      ops: [
        { op: "test", path: "/a", value: { x: [1] } },
        { op: "remove", path: "/a" },
      ],
      want: {},
    },
    { given: {}, ops: [{ op: "test", path: "/a", value: null }], want: {} },
    { given: { a: null }, ops: [{ op: "test", path: "/a" }], want: { a: null } },
    { given: {}, ops: [{ op: "test", path: "/a" }], want: {} },
    { given: { a: {} }, ops: [{ op: "replace", path: "/a/b", value: 1 }], want: { a: { b: 1 } } },
    { given: { a: 1 }, ops: [{ op: "replace", path: "/a" }], want: { a: null } },
    { given: { a: 1 }, ops: [{ op: "add", path: "/b" }], want: { a: 1, b: null } },
    { given: { a: [1] }, ops: [{ op: "add", path: "/a/0" }], want: { a: [null, 1] } },
    { given: { a: {} }, ops: [{ op: "copy", from: "/a/b", path: "/c" }], want: { a: {}, c: null } },
    { given: {}, ops: [{ op: "copy", from: "/toString", path: "/b" }], want: { b: null } },
    { given: { a: 1 }, ops: [{ op: "replace", path: "x/a", value: 2 }], want: { a: 2 } },
    { given: { a: 1 }, ops: [{ op: "test", path: "", value: { a: 1 } }], want: { a: 1 } },
    { given: { "": 1 }, ops: [{ op: "replace", path: "/", value: 2 }], want: { "": 2 } },
    {
      given: { metadata: {} },
      ops: [{ op: "replace", path: "/metadata/labels", value: { "a/b": "c" } }],
      want: { metadata: { labels: { "a/b": "c" } } },
    },
    { given: { a: 1 }, ops: [{ op: "replace", path: "", value: { b: 2 } }], want: { b: 2 } },
    {
      given: {},
      ops: [
        { op: "add", path: "/a", value: [null] },
        { op: "test", path: "/a/0", value: null },
        { op: "copy", from: "/a/0", path: "/b" },
        { op: "move", from: "/b", path: "/c" },
        { op: "remove", path: "/a/0" },
        { op: "remove", path: "/c" },
      ],
      want: { a: [] },
    },
    { given: { a: { b: 1, c: 2 } }, ops: [{ op: "test", path: "/a", value: { c: 2, b: 1 } }], want: { a: { b: 1, c: 2 } } },
    { given: { a: 1 }, ops: [{ op: "add", path: "/constructor", value: "x" }], want: { a: 1, constructor: "x" } as unknown as JsonObject },
  ])("$ops: applied in order", ({ given, ops, want }) => {
    expect(apply(given, ops)).toEqual({ ok: true, value: want });
  });
});

describe("refusals", () => {
  it.each<{ given: JsonObject; ops: Operations }>([
    { given: { a: 1 }, ops: [{ op: "remove", path: "/b" }] },
    { given: {}, ops: [{ op: "replace", path: "/a/b", value: 1 }] },
    { given: { a: null }, ops: [{ op: "replace", path: "/a/b", value: 1 }] },
    { given: { a: [1] }, ops: [{ op: "replace", path: "/a/1", value: 1 }] },
    { given: { a: [1] }, ops: [{ op: "replace", path: "/a/-", value: 1 }] },
    { given: {}, ops: [{ op: "test", path: "/a/b", value: null }] },
    { given: { a: 1 }, ops: [{ op: "test", path: "/a" }] },
    { given: { a: 1 }, ops: [{ op: "test", path: "", value: { a: 2 } }] },
    { given: {}, ops: [{ op: "copy", from: "/a/b", path: "/c" }] },
    { given: {}, ops: [{ op: "move", from: "/a", path: "/b" }] },
    { given: {}, ops: [{ op: "add", path: "", value: {} }] },
    { given: { a: 1 }, ops: [{ op: "copy", from: "", path: "/b" }] },
    { given: { a: 1 }, ops: [{ op: "move", from: "/a", path: "" }] },
    { given: {}, ops: [{ op: "replace", path: "" }] },
    { given: { a: 1 }, ops: [{ op: "add", path: "/b/c", value: 1 }] },
    { given: { a: 1 }, ops: [{ op: "add", path: "/a/c", value: 1 }] },
    { given: { a: [] }, ops: [{ op: "add", path: "/a/1", value: 1 }] },
    { given: { a: [1] }, ops: [{ op: "remove", path: "/a/-2" }] },
    { given: { a: [1] }, ops: [{ op: "add", path: "/a/-3", value: 1 }] },
    { given: { a: [1] }, ops: [{ op: "replace", path: "/a/1.0", value: 1 }] },
    { given: { a: [1, 2] }, ops: [{ op: "move", from: "/a/0", path: "/a/2" }] },
    { given: { a: [1] }, ops: [{ op: "remove", path: "/a/-" }] },
    { given: { a: [1] }, ops: [{ op: "remove", path: "/a/length" }] },
    { given: { a: 1 }, ops: [{ op: "test", path: "/a", value: 2 }] },
    { given: { a: 1 }, ops: [{ op: "test", path: "/b", value: 2 }] },
    { given: { a: { b: 1, c: 2 } }, ops: [{ op: "test", path: "/a", value: { b: 1 } }] },
    { given: { a: { b: 1 } }, ops: [{ op: "test", path: "/a", value: { b: 1, c: 2 } }] },
    { given: { a: { b: 1 } }, ops: [{ op: "test", path: "/a", value: { toString: 1 } }] },
    { given: { a: [1, 2] }, ops: [{ op: "test", path: "/a", value: [1] }] },
    { given: { a: { b: 1 } }, ops: [{ op: "move", from: "/a", path: "/a/c" }] },
    { given: { a: [1] }, ops: [{ op: "copy", from: "/a/push", path: "/b" }] },
    { given: {}, ops: [{ op: "remove", path: "/toString" }] },
    { given: {}, ops: [{ op: "add", path: "/constructor/prototype/polluted", value: 1 }] },
    { given: {}, ops: [{ op: "add", path: "/__proto__/polluted", value: 1 }] },
    { given: {}, ops: [{ op: "add", path: "/__proto__", value: { polluted: 1 } }] },
    { given: { a: 1 }, ops: [{ op: "remove", path: "" }] },
    { given: { a: 1 }, ops: [{ op: "replace", path: "", value: [] }] },
  ])("$ops on $given: unprocessable", ({ given, ops }) => {
    const result = apply(given, ops);
    expect(result).toMatchObject({ ok: false, error: { reason: "unprocessable" } });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each([
    ["{}", "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"],
    ["[1]", "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"],
    ["[", "unexpected end of JSON input"],
    ['[{"op":5,"path":"/a"}]', "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"],
    ['[{"op":"remove","path":{}}]', "json: cannot unmarshal object into Go struct field jsonPatchOp.path of type string"],
    ['[{"op":"copy","path":"/a","from":true}]', "json: cannot unmarshal bool into Go struct field jsonPatchOp.from of type string"],
  ])("patch %s: malformed, in Go's words", (patch, why) => {
    expect(jsonPatched({}, patch)).toEqual({ ok: false, error: { reason: "malformed", message: `error decoding patch: ${why}` } });
  });

  it.each([
    "[null]",
    '[{"op":"jump","path":"/a"}]',
    '[{"path":"/a"}]',
    '[{"op":"remove"}]',
    '[{"op":"add","path":"a","value":1}]',
    '[{"op":"copy","path":"/a"}]',
  ])("patch %s, no operation of JSON patch: unprocessable", (patch) => {
    expect(jsonPatched({}, patch)).toMatchObject({ ok: false, error: { reason: "unprocessable" } });
  });

  it("a body that is no list of operations: refused in Go's words; null: the empty list", () => {
    const message = "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp";
    expect(jsonPatched({}, "{}")).toEqual({ ok: false, error: { reason: "malformed", message } });
    expect(jsonPatched({ a: 1 }, "null")).toEqual({ ok: true, value: { a: 1 } });
  });

  it("more than 10000 operations: refused", () => {
    const ops = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/a", value: null }));
    expect(apply({}, ops)).toEqual({
      ok: false,
      error: { reason: "tooLarge", message: "The allowed maximum operations in a JSON patch is 10000, got 10001" },
    });
    expect(apply({}, ops.slice(1))).toEqual({ ok: true, value: {} });
  });

  it("elements of a list moved without end: refused at the limit; a list that grows to ten thousand from its head: taken", () => {
    const inFront = Array.from({ length: 10_000 }, () => ({ op: "add", path: "/a/0", value: 0 }));
    expect(apply({ a: [] }, inFront)).toMatchObject({ ok: true });
    const long = Array.from({ length: 100_000 }, () => 0);
    const often = Array.from({ length: 500 }, () => [
      { op: "add", path: "/a/0", value: 0 },
      { op: "remove", path: "/a/0" },
    ]).flat();
    expect(apply({ a: long }, often)).toEqual({
      ok: false,
      error: { reason: "tooLarge", message: "limit is 60000000 moved elements of lists" },
    });
  });

  it("a result that is deeper than a body may be: unprocessable, however the operations built it", () => {
    const nested = (depth: number): JsonObject => JSON.parse('{"a":'.repeat(depth) + "1" + "}".repeat(depth)) as JsonObject;
    const steps = (times: number) =>
      Array.from({ length: times }, () => [
        { op: "move", from: "/x", path: "/y" },
        { op: "add", path: "/x", value: nested(100) },
        { op: "move", from: "/y", path: `/x${"/a".repeat(100)}` },
      ]).flat();
    const first = { op: "add", path: "/x", value: nested(100) };
    expect(apply({}, [first, ...steps(8)])).toMatchObject({ ok: true });
    for (const times of [12, 300]) expect(apply({}, [first, ...steps(times)])).toMatchObject({ error: { reason: "unprocessable" } });
    const copied = [first, ...steps(300), { op: "copy", from: "/x", path: "/z" }];
    expect(apply({}, copied)).toMatchObject({ error: { reason: "unprocessable" } });
    expect(apply({}, [first, ...steps(300), { op: "remove", path: "/x" }])).toEqual({ ok: true, value: {} });
  });

  it("copies that double the object: refused at the limit", () => {
    const ops: Record<string, unknown>[] = [{ op: "add", path: "/a", value: { x: "y".repeat(1000) } }];
    for (let i = 0; i < 60; i++) ops.push({ op: "copy", from: "/a", path: `/a/c${String(i)}` });
    expect(apply({}, ops)).toMatchObject({ ok: false, error: { reason: "tooLarge" } });
  });
});

it("patchErrorStatus: the code of each reason", () => {
  const code = (reason: "malformed" | "tooLarge" | "unprocessable" | "internal") => patchErrorStatus({ reason, message: "m" });
  expect(code("malformed")).toMatchObject({ code: 400, reason: "BadRequest", message: "m" });
  expect(code("tooLarge")).toMatchObject({ code: 413, reason: "RequestEntityTooLarge", message: "Request entity too large: m" });
  expect(code("internal")).toMatchObject({ code: 500, message: "m" });
  expect(code("internal"), "upstream gives no reason").not.toHaveProperty("reason");
  expect(code("unprocessable")).toMatchObject({
    code: 422,
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
    details: {},
  });
  expect(code("unprocessable").details).toEqual({});
});
