import { describe, expect, it, vi } from "vitest";
import { DEPTH_MAX, VALUES_MAX } from "../../../../src/api/schema/decode-limits";
import { patchProblems, readPatch } from "../../../../src/api/patch/patch-body";
import { membersIn } from "../../../../src/api/schema/json/json-value";

describe("patchProblems", () => {
  it.each<{ type: "json" | "merge" | "strategic"; text: string; want: string[] }>([
    { type: "merge", text: '{"spec":{"a":1,"b":{"a":1}}}', want: [] },
    { type: "merge", text: "null", want: [] },
    { type: "merge", text: '{"a":{"b":1,"b":2},"c":[{"d":1},{"d":1,"d":2}],"a":3}', want: ["a.b", "c[1].d", "a"].map(duplicate) },
    { type: "strategic", text: '{"spec":{"ports":[{"port":1,"port":1,"port":1}]}}', want: [duplicate("spec.ports[0].port")] },
    { type: "strategic", text: '{"__proto__":1,"__proto__":2}', want: [duplicate("__proto__")] },
    { type: "json", text: '[{"op":"add","path":"/a","value":{"x":1}}]', want: [] },
    { type: "json", text: '[{"op":"remove","path":"/a","from":"/b","value":null}]', want: [] },
    {
      type: "json",
      text: '[{"op":"add","path":"/a","value":{"x":1,"x":2},"foo":{"y":1,"y":2}},{"op":"add","path":"/b","path":"/c","value":1}]',
      want: [duplicate("[0].value.x"), 'unknown field "[0].foo"', duplicate("[1].path")].map((problem) => `json patch ${problem}`),
    },
    { type: "json", text: '[{"op":"remove","path":"/a","Path":"/b"}]', want: ['json patch unknown field "[0].Path"'] },
  ])("$type $text: $want", ({ type, text, want }) => {
    expect(problemsOf(text, type)).toEqual(want);
  });
});

it.each([
  [
    "more values than a document may have",
    `[${"1,".repeat(VALUES_MAX)}1]`,
    { reason: "tooLarge", message: `limit is ${VALUES_MAX} values` },
  ],
  [
    "deeper than a document may be",
    `${"[".repeat(DEPTH_MAX + 1)}${"]".repeat(DEPTH_MAX + 1)}`,
    { reason: "malformed", message: "error decoding patch: exceeded max depth" },
  ],
  ["no JSON", "{", { reason: "malformed", message: "error decoding patch: unexpected end of JSON input" }],
])("a body that is %s: refused", (_, text, error) => {
  expect(readPatch(text, "merge")).toEqual({ ok: false, error });
});

it("a field that stands many times below a long key: written once, its path cut", () => {
  const twice = Array.from({ length: 1_000 }, () => '"a":1').join(",");
  const text = `{"${"k".repeat(600)}":{"b":{${twice}}}}`;
  const written = vi.spyOn(JSON, "stringify");
  const problems = problemsOf(text, "merge");
  const { length } = written.mock.calls;
  written.mockRestore();
  expect(problems).toEqual([duplicate(`${"k".repeat(512)}...`)]);
  expect(length).toBeLessThan(5);
});

function problemsOf(text: string, type: "json" | "merge" | "strategic"): string[] {
  const body = readPatch(text, type);
  if (!body.ok) throw new Error(body.error.message);
  return patchProblems(body.value, type, membersIn(body.value.value, DEPTH_MAX) ?? 0);
}

function duplicate(path: string): string {
  return `duplicate field "${path}"`;
}
