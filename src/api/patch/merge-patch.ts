/**
 * JSON merge patch (RFC 7386): null deletes, objects merge, everything else replaces.
 *
 * Not from npm: json-merge-patch 1.0.2 stops at the first member named `constructor` or `prototype`, both legal label keys, and drops
 * the rest of the patch silently. It also calls the target's own `hasOwnProperty` and changes its input.
 */
import { err, ok } from "../../core/base/result";
import type { Result } from "../../core/base/result";
import { PATCH_CONTEXT, type PatchBody, wrongForm } from "./patch-body";
import { getMember, isJsonObject, setMember } from "../schema/json/json-value";
import type { JsonObject, JsonValue } from "../schema/json/json-value";
import type { PatchError } from "./patch-error";

/** A new value; shares unchanged parts with its inputs and changes neither. */
function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const next: JsonObject = {};
  if (isJsonObject(target)) {
    for (const key of Object.keys(target)) if (getMember(patch, key) !== null) setMember(next, key, target[key] ?? null);
  }
  for (const key of Object.keys(patch)) {
    const value = getMember(patch, key) ?? null;
    if (value !== null) setMember(next, key, mergePatch(getMember(next, key), value));
  }
  return next;
}

/** The patched object; `patch` must be an object. */
export function applyMergePatch(current: JsonObject, { value }: PatchBody): Result<JsonObject, PatchError> {
  const malformed = (message: string) => err({ reason: "malformed", message } as const);
  if (value === null) return malformed("Invalid JSON Patch");
  if (!isJsonObject(value)) return malformed(PATCH_CONTEXT.merge + wrongForm(value, "map[string]interface {}"));
  return ok(mergePatch(current, value) as JsonObject);
}
