import { describe, expect, it } from "vitest";
import { parseYamlText } from "../../../../../src/api/schema/json/yaml-text";

describe("YAML by way of JSON", () => {
  it("an alias: replaced by the value that it names", () => {
    expect(parseYamlText("a: &x [1, 2]\nb: *x\nc: *x\n")).toEqual({
      ok: true,
      value: { value: { a: [1, 2], b: [1, 2], c: [1, 2] }, repeated: [] },
    });
  });

  it.each([
    ["a float that JSON has as a large integer", "1e17", 100000000000000000n],
    ["a float that JSON has with an exponent", "1e21", 1e21],
    ["an integer beyond 2^53", "9007199254740993", 9007199254740993n],
    ["an integer of JSON's numbers", "9007199254740991", 9007199254740991],
    ["a zero with a sign", "-0.0", 0],
    ["a fraction", "1.5", 1.5],
  ])("%s: read as from JSON", (_, text, want) => {
    expect(parseYamlText(`a: ${text}\n`)).toEqual({ ok: true, value: { value: { a: want }, repeated: [] } });
  });

  it("an alias of a name that is given anew: the last value before it", () => {
    expect(parseYamlText("a: &x 1\nb: *x\nc: &x 2\nd: *x\n")).toMatchObject({ ok: true, value: { value: { a: 1, b: 1, c: 2, d: 2 } } });
  });

  it("an alias of what is merged: replaced, too", () => {
    expect(parseYamlText("<<: &x [&y {a: 1}, {b: 2}]\nc: *x\nd: *y\n")).toMatchObject({
      ok: true,
      value: { value: { a: 1, b: 2, c: [{ a: 1 }, { b: 2 }], d: { a: 1 } } },
    });
  });

  it("more than a hundred aliases of one value: replaced, as by Go, unless nearly all of the document is repeated", () => {
    const labels = "labels: &l {app: web, tier: front}\n";
    const aliases = (count: number): string => labels + Array.from({ length: count }, (_, i) => `a${i}: *l\n`).join("");
    expect(parseYamlText(aliases(500))).toMatchObject({ ok: true, value: { value: { a499: { app: "web", tier: "front" } } } });
    const long = `x: &x [${"y, ".repeat(2_000)}]\n`;
    expect(parseYamlText(`${long}a: *x\n`).ok).toBe(true);
    expect(parseYamlText(`x: &x [${"y, ".repeat(20)}]\nz: &z [${"*x, ".repeat(20)}]\na: [${"*z, ".repeat(20)}]\n`)).toEqual({
      ok: false,
      error: "error converting YAML to JSON: yaml: document contains excessive aliasing",
    });
  });

  it.each<[string, string, string]>([
    ["a value that contains itself", "a: &a\n  b: *a\n", "anchor 'a' value contains itself"],
    ["a map that merges itself", "a: &a\n  <<: *a\n", "anchor 'a' value contains itself"],
    ["a list that contains itself", "&l [1, [*l]]\n", "anchor 'l' value contains itself"],
    [
      "a large text repeated by many aliases",
      `x: &a "${"y".repeat(1_000_000)}"\nz: [${"*a,".repeat(40)}]\n`,
      "document contains excessive aliasing",
    ],
  ])("%s: refused", (_, text, cause) => {
    expect(parseYamlText(text)).toEqual({ ok: false, error: `error converting YAML to JSON: yaml: ${cause}` });
  });

  it("aliases of aliases that multiply: refused", () => {
    const lines = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de"]) lines.push(`${to}: &${to} [${`*${from},`.repeat(9)}]`);
    expect(parseYamlText(lines.join("\n"))).toMatchObject({ ok: false, error: expect.stringMatching(/alias/i) as unknown });
  });
});
