/** YAML as upstream reads it: by way of JSON (sigs.k8s.io/yaml). */
import { type Document, LineCounter } from "yaml";
import { parseJson } from "../../../core/encoding/exact-json";
import { err, ok, type Result } from "../../../core/base/result";
import { YAML_MAX_CHARS } from "../decode-limits";
import type { JsonValue } from "./json-value";
import { firstDocument, YamlSyntaxError } from "./yaml-document";
import { TOO_DEEP } from "./value-walk";
import { NotAKeyError } from "./yaml-scalars";
import { yamlValue } from "./yaml-value";

export interface ParsedYaml {
  /** a key that stands twice has its last value */
  value: JsonValue;
  /** `line 4: key "a" already set in map`, in the order of the text, at most REPEATED_MAX */
  repeated: string[];
}

const NOT_CONVERTED = "error converting YAML to JSON: ";

/** The first document of `text`, null when there is none. The error is Go's text as far as the library says the same. */
export function parseYamlText(text: string): Result<ParsedYaml, string> {
  if (text.length > YAML_MAX_CHARS) return err(`${NOT_CONVERTED}yaml: the document is too large: limit is ${YAML_MAX_CHARS} characters`);
  const lines = new LineCounter();
  try {
    const document = firstDocument(text, lines);
    return document ? read(document, lines) : ok({ value: null, repeated: [] });
  } catch (error) {
    if (error instanceof RangeError) return err(TOO_DEEP);
    if (error instanceof NotAKeyError) return err(NOT_CONVERTED + error.message);
    const where = error instanceof YamlSyntaxError ? `line ${lines.linePos(error.at).line}: ` : "";
    return err(`${NOT_CONVERTED}yaml: ${where}${error instanceof Error ? error.message : "cannot be read"}`);
  }
}

function read(document: Document.Parsed, lines: LineCounter): Result<ParsedYaml, string> {
  const { value, isJson, repeated } = yamlValue(document, lines);
  if (isJson) return ok({ value, repeated });
  const unsayable: number[] = [];
  // by way of JSON: a value of an alias becomes several
  const json = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === "number" && !Number.isFinite(each)) unsayable.push(each);
    return each;
  });
  if (unsayable[0] !== undefined) return err(`${NOT_CONVERTED}json: unsupported value: ${goFloat(unsayable[0])}`);
  return ok({ value: parseJson(json) as JsonValue, repeated });
}

function goFloat(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
