/** The body of a patch: its parsing, and the errors in the words of Go. */
import { parseJson } from "../../core/encoding/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import { syntaxError } from "../schema/json/json-syntax";
import { DEPTH_MAX, VALUES_MAX } from "../schema/decode-limits";
import { isOperationField, operationProblems, repeatedFields, shapeOf } from "../schema/json/json-text";
import type { PatchError } from "./patch-error";
import { goKind, isJsonObject, type JsonValue, membersIn } from "../schema/json/json-value";

/** The parsed body of a patch. What is wrong with it stands behind `context`, in Go's words. */
export function parsePatch(text: string, context: string): Result<JsonValue, PatchError> {
  const { values, isTooDeep } = shapeOf(text);
  if (values > VALUES_MAX) return err({ reason: "tooLarge", message: `limit is ${VALUES_MAX} values` });
  if (isTooDeep) return err({ reason: "malformed", message: `${context}exceeded max depth` });
  try {
    return ok(parseJson(text) as JsonValue);
  } catch {
    return err({ reason: "malformed", message: context + syntaxError(text) });
  }
}

/** Go's error for a body that does not fit the patch; `type` is the Go type that it should have. */
export function wrongForm(value: JsonValue, type: string): string {
  return `json: cannot unmarshal ${goKind(value)} into Go value of type ${type}`;
}

/**
 * What "Strict" refuses in the body of a patch that could be applied: fields that stand twice, and those of a JSON patch that no operation has.
 * The member count of most bodies shows that they have neither. Upstream: apiserver endpoints/handlers/patch.go (applyJSPatch, strategicPatchObject).
 */
export function patchProblems(text: string, type: "json" | "merge" | "strategic"): string[] {
  const value = parseJson(text) as JsonValue;
  const isUnique = membersIn(value, DEPTH_MAX) === shapeOf(text).members;
  if (type !== "json") return isUnique ? [] : repeatedFields(text);
  if (isUnique && (!Array.isArray(value) || value.every(hasOperationFields))) return [];
  return operationProblems(text).map((problem) => `json patch ${problem}`);
}

function hasOperationFields(operation: JsonValue): boolean {
  return !isJsonObject(operation) || Object.keys(operation).every(isOperationField);
}
