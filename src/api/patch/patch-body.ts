/** The body of a patch: its parsing, and the errors in the words of Go. */
import { parseJson } from "../../core/base/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import { syntaxError } from "../schema/json-syntax";
import { countMembers, isOperationField, operationProblems, repeatedFields } from "../schema/json-text";
import { goKind, isJsonObject, type JsonValue, membersIn } from "../schema/json-value";

/** Nesting beyond this is refused before anything recurses over it; no API object comes near. */
const DEPTH_MAX = 1000;

/** Whether containers nest deeper than DEPTH_MAX; strings are skipped, as they may hold brackets. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++;
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > DEPTH_MAX) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/** The parsed body of a patch; the error is in Go's words. */
export function parsePatch(text: string): Result<JsonValue, string> {
  if (isTooDeep(text)) return err("exceeded max depth");
  try {
    return ok(parseJson(text) as JsonValue);
  } catch {
    return err(syntaxError(text));
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
  const isUnique = membersIn(value, DEPTH_MAX) === countMembers(text);
  if (type !== "json") return isUnique ? [] : repeatedFields(text);
  if (isUnique && (!Array.isArray(value) || value.every(hasOperationFields))) return [];
  return operationProblems(text).map((problem) => `json patch ${problem}`);
}

function hasOperationFields(operation: JsonValue): boolean {
  return !isJsonObject(operation) || Object.keys(operation).every(isOperationField);
}
