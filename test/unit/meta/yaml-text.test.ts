import { describe, expect, it } from "vitest";
import { parseYamlText } from "../../../src/meta/yaml-text";

describe("YAML by way of JSON", () => {
  it("repeats what an alias names", () => {
    expect(parseYamlText("a: &x [1, 2]\nb: *x\nc: *x\n")).toEqual({
      ok: true,
      value: { value: { a: [1, 2], b: [1, 2], c: [1, 2] }, repeated: [] },
    });
  });

  it.each<[string, string, string]>([
    ["a value that contains itself", "a: &a\n  b: *a\n", "anchor 'a' value contains itself"],
    ["a list that contains itself", "&l [1, [*l]]\n", "anchor 'l' value contains itself"],
    [
      "a large text repeated by many aliases",
      `x: &a "${"y".repeat(1_000_000)}"\nz: [${"*a,".repeat(40)}]\n`,
      "document contains excessive aliasing",
    ],
  ])("refuses %s", (_, text, cause) => {
    expect(parseYamlText(text)).toEqual({ ok: false, error: `error converting YAML to JSON: yaml: ${cause}` });
  });

  it("refuses aliases of aliases that multiply", () => {
    const lines = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (const [from, to] of ["ab", "bc", "cd", "de"]) lines.push(`${to}: &${to} [${`*${from},`.repeat(9)}]`);
    expect(parseYamlText(lines.join("\n"))).toMatchObject({ ok: false, error: expect.stringMatching(/alias/i) as unknown });
  });
});
