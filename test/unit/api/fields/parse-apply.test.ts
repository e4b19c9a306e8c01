import { describe, expect, it } from "vitest";
import { parseApply } from "../../../../src/api/fields/parse-apply";

function message(text: string, fieldValidation: "Strict" | "Warn" | "Ignore" = "Warn"): string {
  const parsed = parseApply(text, fieldValidation);
  if (parsed.ok) throw new Error("should have been refused");
  expect([parsed.error.code, parsed.error.reason]).toEqual([400, "BadRequest"]);
  return parsed.error.message ?? "";
}

describe("the body of an apply", () => {
  it.each([
    ["JSON", '{"apiVersion":"v1","spec":{"a":[1,"x",true,null]}}'],
    ["YAML", "apiVersion: v1\nspec:\n  a:\n  - 1\n  - x\n  - true\n  - null\n"],
    ["YAML with a marker and a second document", "---\napiVersion: v1\nspec: {a: [1, x, true, ~]}\n---\nother: 1\n"],
    ["JSON that begins with a line break", '\n  {"apiVersion":"v1","spec":{"a":[1,"x",true,null]}}'],
  ])("%s: one object", (_name, text) => {
    expect(parseApply(text, "Strict")).toEqual({
      ok: true,
      value: { config: { apiVersion: "v1", spec: { a: [1, "x", true, null] } }, warnings: [] },
    });
  });

  it("an empty text: an empty object", () => {
    expect(parseApply("", "Strict")).toEqual({ ok: true, value: { config: {}, warnings: [] } });
  });

  it.each([
    ["YAML", 'kind: Service\nspec:\n  type: a\n  "type": b\nkind: Service\n'],
    ["JSON", '{"kind": "Service",\n"spec": {\n"type": "a",\n"type": "b"},\n"kind":"Service"}'],
  ])("%s with a repeated key: read, and the key is named", (_name, text) => {
    const lines = 'line 4: key "type" already set in map\n  line 5: key "kind" already set in map';
    expect(message(text, "Strict")).toBe(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${lines}`);
    expect(parseApply(text, "Warn")).toEqual({
      ok: true,
      value: {
        config: { kind: "Service", spec: { type: "b" } },
        warnings: ['line 4: key "type" already set in map', 'line 5: key "kind" already set in map'],
      },
    });
    expect(parseApply(text, "Ignore")).toEqual({ ok: true, value: { config: { kind: "Service", spec: { type: "b" } }, warnings: [] } });
  });

  it.each([
    ["broken YAML", "a: [1, 2\nb: }"],
    ["broken JSON", '{"a": '],
    ["a tab", "a:\n\tb: 1"],
    ["an alias to nothing", "a: *x"],
    [
      "a bomb of aliases",
      ["a: &a [x,x,x,x,x,x,x,x,x]", ..."bcdefgh".split("").map((c, i) => `${c}: &${c} [${`*${"abcdefgh"[i]},`.repeat(9)}]`)].join("\n"),
    ],
    ["a deep object", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
    ["a deep list of YAML", `a: ${"[".repeat(10_000)}${"]".repeat(10_000)}`],
  ])("%s: refused", (_name, text) => {
    expect(message(text)).toMatch(/^error decoding YAML: (error converting YAML to JSON: yaml: |exceeded max depth)/);
  });

  it.each([
    ["text", "string"],
    ["[1]", "array"],
    ["5", "number"],
    ["true", "bool"],
  ])("%s: refused, no object", (text, kind) => {
    expect(message(text)).toBe(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  });

  it("large and deeply nested texts: read, or refused by a bound", () => {
    const keys = Array.from({ length: 5_000 }, (_, i) => `k${i}: 1`).join("\n");
    expect(parseApply(keys, "Strict").ok).toBe(true);
    expect(message(`a: ${"- ".repeat(20_000)}`)).toContain("error decoding YAML");
    expect(message(`[${"[],".repeat(100_000)}]`)).toContain("the document is too large");
    expect(message(Array.from({ length: 400 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"))).toContain("exceeded max depth");
  });

  it("a key __proto__: an ordinary key", () => {
    for (const text of ['{"__proto__":{"x":1}}', "__proto__: {x: 1}"]) {
      const parsed = parseApply(text, "Strict");
      expect(parsed.ok && Object.keys(parsed.value.config)).toEqual(["__proto__"]);
    }
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
