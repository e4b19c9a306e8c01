/** The body of a patch: its parsing, and the errors in the words of Go. */
import { parseJson } from "../../core/encoding/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import { syntaxError } from "../schema/json/json-syntax";
import { DEPTH_MAX, VALUES_MAX } from "../schema/decode-limits";
import { isOperationField, operationProblems, repeatedFields, shapeOf } from "../schema/json/json-text";
import type { PatchError } from "./patch-error";
import { goKind, isJsonObject, type JsonValue, membersIn } from "../schema/json/json-value";

/** Those that the store applies itself, without an owner of fields. */
type PatchForm = "json" | "merge" | "strategic";

/** The body of a patch, read once. Applying it may change what is in `value`, though not the names of a JSON patch's operations. */
export interface PatchBody {
  text: string;
  value: JsonValue;
  /** no object in it has a member twice */
  isUnique: boolean;
}

/** The beginning of each error about a body. Go's own words follow it. */
export const PATCH_CONTEXT: Readonly<Record<PatchForm, string>> = {
  json: "error decoding patch: ",
  merge: "error decoding patch: ",
  strategic: "",
};

/**
 * Reads the body of a patch. Errors: 413 for too many values, 400 for what is no JSON or nests too deep.
 *
 * @param judgesFields whether `patchProblems` will be asked: only then the values are walked for fields that stand twice
 */
export function readPatch(text: string, form: PatchForm, judgesFields = true): Result<PatchBody, PatchError> {
  const { members, values, isTooDeep } = shapeOf(text);
  const context = PATCH_CONTEXT[form];
  if (values > VALUES_MAX) return err({ reason: "tooLarge", message: `limit is ${VALUES_MAX} values` });
  if (isTooDeep) return err({ reason: "malformed", message: `${context}exceeded max depth` });
  try {
    const value = parseJson(text) as JsonValue;
    return ok({ text, value, isUnique: !judgesFields || membersIn(value, DEPTH_MAX) === members });
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
export function patchProblems({ text, value, isUnique }: PatchBody, form: PatchForm): string[] {
  if (form !== "json") return isUnique ? [] : repeatedFields(text);
  if (isUnique && (!Array.isArray(value) || value.every(hasOperationFields))) return [];
  return operationProblems(text).map((problem) => `json patch ${problem}`);
}

function hasOperationFields(operation: JsonValue): boolean {
  return !isJsonObject(operation) || Object.keys(operation).every(isOperationField);
}
