/**
 * The body of an apply, YAML or JSON, as a JSON object. Texts: apiserver endpoints/handlers/patch.go (applyPatcher) and
 * sigs.k8s.io/yaml, which reads YAML by way of JSON.
 */
import { parseJson } from "../../core/encoding/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import { goKind, isJsonObject, type JsonObject, type JsonValue, membersIn } from "../schema/json/json-value";
import { badRequest, requestTooLarge, type Status } from "../meta/status";
import { APPLIED_VALUES_MAX, DEPTH_MAX, TOO_MANY_APPLIED } from "../schema/decode-limits";
import { type JsonShape, shapeOf } from "../schema/json/json-text";
import { TOO_DEEP } from "../schema/json/value-walk";
import { type ParsedYaml, parseYamlText } from "../schema/json/yaml-text";

export interface ParsedConfig {
  config: JsonObject;
  /** texts of Warning headers: repeated keys */
  warnings: string[];
}

/**
 * Parses `text`. A repeated key has its last value: "Strict" refuses it with 400, "Warn" adds a warning. A text that is neither YAML
 * nor JSON, and a value that is no object, are 400 too. An empty document is an empty object.
 */
export function parseApply(text: string, fieldValidation: "Strict" | "Warn" | "Ignore"): Result<ParsedConfig, Status> {
  const isJson = /^\s*\{/.test(text);
  const shape = shapeOf(text);
  if (isJson && shape.values > APPLIED_VALUES_MAX) return err(requestTooLarge(TOO_MANY_APPLIED));
  const parsed = (isJson ? parseJsonObject(text, shape) : undefined) ?? parseYamlText(text);
  if (!parsed.ok) return err(badRequest(`error decoding YAML: ${parsed.error}`));
  const { value, repeated } = parsed.value;
  const config = value ?? {};
  if (!isJsonObject(config)) {
    const why = `json: cannot unmarshal ${goKind(config)} into Go value of type map[string]interface {}`;
    return err(badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`));
  }
  if (repeated.length === 0 || fieldValidation === "Ignore") return ok({ config, warnings: [] });
  if (fieldValidation === "Warn") return ok({ config, warnings: repeated });
  const lines = repeated.map((line) => `  ${line}`).join("\n");
  return err(badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n${lines}`));
}

/** The JSON that most clients send; undefined = not JSON, or JSON with repeated keys: only the YAML parser knows their lines. */
function parseJsonObject(text: string, shape: JsonShape): Result<ParsedYaml, string> | undefined {
  if (shape.isTooDeep) return err(TOO_DEEP);
  let value: JsonValue;
  try {
    value = parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
  return membersIn(value, DEPTH_MAX) === shape.members ? ok({ value, repeated: [] }) : undefined;
}
