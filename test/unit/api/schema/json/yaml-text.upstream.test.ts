/** Documents of YAML, and what sigs.k8s.io/yaml makes of them, which scripts/dev/upstream/yaml prints. */
import { describe, expect, it } from "vitest";
import { parseYamlText } from "../../../../../src/api/schema/json/yaml-text";
import { parseJson } from "../../../../../src/core/encoding/exact-json";

const tables = import.meta.glob("../../../../fixtures/upstream/yaml-*.tsv", { query: "?raw", import: "default" });
const table = String(await tables["../../../../fixtures/upstream/yaml-1.36.tsv"]?.());

const ERROR = "error: ";
const REPEATED = "repeated: yaml: unmarshal errors:   ";
/** What Go says of a document that is well-formed. Of others the library has texts of its own. */
const SAME_TEXT = /cannot decode|unsupported value|base64|map merge|unknown anchor/;
/** Members of one name, from keys of two types: which of them counts is random in Go. Here the last one does, and both are named. */
const RANDOM_IN_GO = '1: a\n"1": a\n';
/** A merged map has a key twice: Go names the line of the merged map, here it is that of the merge. */
const LINE_DIFFERS = "x: &x {a: 1}\ny: {a: 2, <<: *x}\n";

/** A line each: the document, and its value, its error, or its value and the repeated keys. */
const rows = table
  .trimEnd()
  .split("\n")
  .filter((line) => !line.startsWith("#"))
  .map((line) => {
    const [text = "", result = "", repeated = ""] = line.split("\t");
    return { text: JSON.parse(text) as string, result, repeated: repeated.slice(REPEATED.length) };
  });
const [failing, read] = [true, false].map((fails) => rows.filter(({ result }) => result.startsWith(ERROR) === fails)) as [
  typeof rows,
  typeof rows,
];

/** JSON as the server writes it. */
function withoutNegativeZero(json: string): unknown {
  return parseJson(JSON.stringify(parseJson(json)));
}

describe("YAML as Go reads it", () => {
  it("the table: has documents of both kinds", () => {
    expect([failing.length > 50, read.length > 700]).toEqual([true, true]);
  });

  it.each(read)("$text: $result", ({ text, result, repeated }) => {
    const parsed = parseYamlText(text);
    expect(parsed).toMatchObject({ ok: true, value: { value: withoutNegativeZero(result) } });
    if (text !== RANDOM_IN_GO && text !== LINE_DIFFERS) expect(parsed.ok && parsed.value.repeated.join("   ")).toBe(repeated);
  });

  it.each(failing)("$text: refused, $result", ({ text, result }) => {
    const parsed = parseYamlText(text);
    const error = SAME_TEXT.test(result) ? result.replace(ERROR, "error converting YAML to JSON: ") : (expect.any(String) as string);
    expect(parsed).toEqual({ ok: false, error });
  });
});
