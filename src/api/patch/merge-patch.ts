/**
 * JSON merge patch (RFC 7386): null deletes, objects merge, everything else replaces.
 *
 * Not from npm: json-merge-patch 1.0.2 stops at the first member named `constructor` or `prototype`, both legal label keys, and drops
 * the rest of the patch silently. It also calls the target's own `hasOwnProperty`.
 */
import { err, ok } from "../../core/base/result";
import type { Result } from "../../core/base/result";
import { DEPTH_MAX } from "../schema/decode-limits";
import { PATCH_CONTEXT, type PatchBody, type Patched, wrongForm } from "./patch-body";
import { getMember, isJsonObject, membersIn, setMember } from "../schema/json/json-value";
import type { JsonObject, JsonValue } from "../schema/json/json-value";
import type { PatchError } from "./patch-error";

/** One merge. It counts what it walks in any case: another walk over 100,000 members would cost as much as their parse. */
class ObjectMerge {
  /** of all objects in the patch */
  members = 0;

  /** The merged value, made of both inputs: a copy would cost as much as the parse, too. */
  merged(target: JsonValue | undefined, patch: JsonValue): JsonValue {
    if (!isJsonObject(patch)) return this.counted(patch);
    if (!isJsonObject(target)) {
      this.removeNulls(patch);
      return patch;
    }
    // Values of JSON inherit no members.
    for (const key in patch) {
      this.members++;
      const value = patch[key] ?? null;
      if (value === null) delete target[key];
      else setMember(target, key, this.merged(getMember(target, key), value));
    }
    return target;
  }

  /** What a patch makes of nothing is the patch without its nulls. Lists keep theirs. */
  private removeNulls(patch: JsonObject): void {
    for (const key in patch) {
      this.members++;
      const value = patch[key] ?? null;
      if (value === null) delete patch[key];
      else if (isJsonObject(value)) this.removeNulls(value);
      else this.counted(value);
    }
  }

  private counted(value: JsonValue): JsonValue {
    this.members += membersIn(value, DEPTH_MAX) ?? 0;
    return value;
  }
}

/** The patched object; the patch must be an object. Both become part of the result, and are changed. */
export function applyMergePatch(current: JsonObject, { value }: PatchBody): Result<Patched, PatchError> {
  const malformed = (message: string) => err({ reason: "malformed", message } as const);
  if (value === null) return malformed("Invalid JSON Patch");
  if (!isJsonObject(value)) return malformed(PATCH_CONTEXT.merge + wrongForm(value, "map[string]interface {}"));
  const merge = new ObjectMerge();
  const object = merge.merged(current, value) as JsonObject;
  return ok({ object, members: merge.members });
}
