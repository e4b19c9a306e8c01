import { describe, expect, it } from "vitest";
import { parseYamlText } from "../../../../src/api/schema/yaml-text";

describe("YAML by way of JSON", () => {
  it("an alias: replaced by the value that it names", () => {
    expect(parseYamlText("a: &x [1, 2]\nb: *x\nc: *x\n")).toEqual({
      ok: true,
      value: { value: { a: [1, 2], b: [1, 2], c: [1, 2] }, repeated: [] },
    });
  });

  it.each<[string, unknown]>([
    ["yes", true],
    ["On", true],
    ["n", false],
    ["010", 8],
    ["0o10", 8],
    ["0x1F", 31],
    ["0b11", 3],
    ["1_000", 1000],
    ["1e3", 1000],
    ["~", null],
    ["2024-01-01", "2024-01-01"],
    ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"],
    ["1:30", "1:30"],
    ['"yes"', "yes"],
  ])("the plain scalar %s: read as Go does", (text, value) => {
    expect(parseYamlText(`a: ${text}\n`)).toEqual({ ok: true, value: { value: { a: value }, repeated: [] } });
  });

  it("a plain scalar as a key: its value is the member's name", () => {
    expect(parseYamlText("on: 1\n8: 2\n")).toMatchObject({ ok: true, value: { value: { true: 1, 8: 2 } } });
  });

  it.each([
    [".inf", "+Inf"],
    ["[1, -.inf]", "-Inf"],
    ["{b: .NaN}", "NaN"],
  ])("%s, which JSON cannot say: refused", (text, name) => {
    expect(parseYamlText(`a: ${text}\n`)).toEqual({ ok: false, error: `error converting YAML to JSON: json: unsupported value: ${name}` });
  });

  it.each<[string, string, string]>([
    ["a value that contains itself", "a: &a\n  b: *a\n", "anchor 'a' value contains itself"],
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
