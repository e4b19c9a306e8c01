/** The body of a patch: its parsing, and the errors in the words of Go. */
import { parseJson } from "../../core/encoding/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import { syntaxError } from "../schema/json/json-syntax";
import { VALUES_MAX } from "../schema/decode-limits";
import { isOperationField, operationProblems, repeatedFields, shapeOf } from "../schema/json/json-text";
import type { PatchError } from "./patch-error";
import { goKind, isJsonObject, type JsonObject, type JsonValue } from "../schema/json/json-value";

/** Those that the store applies itself, without an owner of fields. */
type PatchForm = "json" | "merge" | "strategic";

/** The body of a patch, read once. Applying it may change what is in `value`, though not the names of a JSON patch's operations. */
export interface PatchBody {
  text: string;
  value: JsonValue;
  /** of all objects in the text, repeated names counted each time */
  members: number;
}

/** What a merge makes of an object. */
export interface Patched {
  object: JsonObject;
  /** of all objects in the patch: as many as its text has, unless a field stands there twice */
  members: number;
}

/** The beginning of each error about a body. Go's own words follow it. */
export const PATCH_CONTEXT: Readonly<Record<PatchForm, string>> = {
  json: "error decoding patch: ",
  merge: "error decoding patch: ",
  strategic: "",
};

/** Reads the body of a patch. Errors: 413 for too many values, 400 for what is no JSON or nests too deep. */
export function readPatch(text: string, form: PatchForm): Result<PatchBody, PatchError> {
  const { members, values, isTooDeep } = shapeOf(text);
  const context = PATCH_CONTEXT[form];
  if (values > VALUES_MAX) return err({ reason: "tooLarge", message: `limit is ${VALUES_MAX} values` });
  if (isTooDeep) return err({ reason: "malformed", message: `${context}exceeded max depth` });
  try {
    return ok({ text, value: parseJson(text) as JsonValue, members });
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
 *
 * @param found the members of all objects in the value, as it was read
 */
export function patchProblems({ text, value, members }: PatchBody, form: PatchForm, found: number): string[] {
  const isUnique = found === members;
  if (form !== "json") return isUnique ? [] : repeatedFields(text);
  if (isUnique && (!Array.isArray(value) || value.every(hasOperationFields))) return [];
  return operationProblems(text).map((problem) => `json patch ${problem}`);
}

function hasOperationFields(operation: JsonValue): boolean {
  return !isJsonObject(operation) || Object.keys(operation).every(isOperationField);
}
