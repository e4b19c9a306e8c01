/** How far a hostile text of YAML is read. */
import { type CST, LineCounter, Parser } from "yaml";
import { describe, expect, it } from "vitest";
import { failingComposer, firstDocument } from "../../../../../src/api/schema/json/yaml-document";
import { parseYamlText } from "../../../../../src/api/schema/json/yaml-text";

function errorOf(text: string): string {
  const parsed = parseYamlText(text);
  return parsed.ok ? "" : parsed.error.replace("error converting YAML to JSON: yaml: ", "");
}

describe("a text with many errors", () => {
  it.each([
    ["escapes that are none", String.raw`"\q\q"`, "Invalid escape sequence"],
    ["escapes in a list in a list", String.raw`[["\xzz"]]`, "Invalid escape sequence"],
    ["tags of a document", "!a !b !c d", "at most one tag"],
  ])("%s: the composer of the yaml library 2.9 throws the first one and goes no further", (_, text, error) => {
    expect(() => [...failingComposer().compose(new Parser().parse(text))]).toThrow(error);
  });

  it("the composer's warnings are no errors", () => {
    expect([...failingComposer().compose(new Parser().parse("!unknown a"))]).toHaveLength(1);
  });

  it.each([
    ["hex escapes", `a: b\nc: "${String.raw`\xzz`.repeat(3)}"`, String.raw`line 2: Invalid escape sequence \xzz`],
    ["anchors together", "a:\n  &b &c &d e", "line 2: A node can have at most one anchor"],
    ["tags that do not end", "- !<x y\n- !<x y\n", "line 1: Verbatim tags must end with a >"],
    ["brackets", "a: b\n]]]]", "line 2: Unexpected flow-seq-end"],
  ])("%s: the refusal names the first error and its line", (_, text, error) => {
    expect(errorOf(text)).toContain(error);
  });
});

describe("a key that is no scalar", () => {
  const MAP = "invalid map key: map[interface {}]interface {}";
  const LIST = "invalid map key: []interface {}";
  it.each([
    ["maps in keys of maps", `${"? ".repeat(240)}a`, MAP],
    ["the same in braces", `${"{? ".repeat(200)}a${" : b}".repeat(200)}`, MAP],
    ["a list", "? - a\n: b\n", LIST],
    ["a list in brackets", "[a]: b\n", LIST],
    ["in a list in a map", "a:\n- b: [{[c]: d}]\n", LIST],
    ["a list that is a map of one member", "[[a]: b]\n", LIST],
  ])("%s: refused as by Go", (_, text, error) => {
    expect(errorOf(text)).toBe(error);
  });

  it("refused before the composer sees it", () => {
    let composed = 0;
    const compose = Object.getPrototypeOf(failingComposer()) as { next: (token: CST.Token) => unknown };
    const next = compose.next;
    compose.next = function (token) {
      composed++;
      return next.call(this, token);
    };
    try {
      expect(() => firstDocument("? ? a", new LineCounter())).toThrow(MAP);
      expect(composed).toBe(0);
      expect(firstDocument("? a", new LineCounter())).toBeDefined();
      expect(composed).toBe(1);
    } finally {
      compose.next = next;
    }
  });

  it("lists and maps beside it are values", () => {
    expect(parseYamlText("[[a], {b: c}, {d}]")).toMatchObject({ ok: true, value: { value: [["a"], { b: "c" }, { d: null }] } });
  });
});

describe("what stands behind the first document", () => {
  it.each([
    ["a second one with an error", "a: b\n---\n]\n"],
    ["a second one that nests too deeply", `a: b\n---\n${"[".repeat(1_000)}`],
    ["more than a document may have", `a: b\n--- x\n${"y\n".repeat(100_000)}`],
    ["an end and words", "a: b\n...\n]\n"],
  ])("%s: is not read, as by Go", (_, text) => {
    expect(parseYamlText(text)).toMatchObject({ ok: true, value: { value: { a: "b" } } });
  });
});
