/** The `$` members that steer a strategic merge (upstream apimachinery pkg/util/strategicpatch). */
import { DEPTH_MAX } from "../schema/decode-limits";
import { getMember, isJsonObject, membersIn, setMember } from "../schema/json/json-value";
import type { JsonObject, JsonValue } from "../schema/json/json-value";
import { goMap } from "./go-map";
import { refuse } from "./patch-error";

export const PATCH = "$patch";
const RETAIN_KEYS = "$retainKeys";
export const SET_ORDER = "$setElementOrder/";
export const DELETE_PRIMITIVES = "$deleteFromPrimitiveList/";

export function isDirective(key: string): boolean {
  return key.startsWith("$") && (key === PATCH || key === RETAIN_KEYS || key.startsWith(SET_ORDER) || key.startsWith(DELETE_PRIMITIVES));
}

/** undefined = the patch merges. The word `merge` itself is refused, as upstream does (strategicpatch/patch.go, handleDirectiveInMergeMap). */
export function patchDirective(patch: JsonObject): "replace" | "delete" | undefined {
  const directive = getMember(patch, PATCH);
  if (directive === undefined || directive === "replace" || directive === "delete") return directive;
  return refuse("malformed", `unknown patch type: ${goMap(directive)} in map: ${goMap(patch)}`);
}

/** The same of an element of a list, which upstream refuses in words of its own. */
export function elementDirective(element: JsonObject): "replace" | "delete" | undefined {
  return getMember(element, PATCH) === "merge" ? refuse("malformed", "merging lists is not supported yet") : patchDirective(element);
}

/** The list that a directive member must hold. */
export function directiveList(patch: JsonObject, key: string): JsonValue[] | undefined {
  const value = getMember(patch, key);
  if (value === undefined || Array.isArray(value)) return value;
  return refuse("malformed", `invalid patch format of ${key.split("/", 1)[0] ?? key}`);
}

/** `$retainKeys`: members that it does not name are removed; it must name every member that the patch sets. */
export function retained(current: JsonObject, patch: JsonObject): JsonObject {
  const list = directiveList(patch, RETAIN_KEYS);
  if (!list) return current;
  const kept = new Set(list);
  for (const key of Object.keys(patch)) {
    if (!isDirective(key) && patch[key] !== null && !kept.has(key)) refuse("malformed", "invalid patch format of retainKeys");
  }
  const next: JsonObject = {};
  for (const key of Object.keys(current)) if (kept.has(key)) setMember(next, key, current[key] ?? null);
  return next;
}

/** The directive of a patch for a member that is not stored yet. There `merge` changes nothing. */
function freshDirective(patch: JsonObject): "replace" | "delete" | undefined {
  return getMember(patch, PATCH) === "merge" ? undefined : patchDirective(patch);
}

/** Members of a patch's objects that were met: whoever walks a patch counts, since another walk would cost as much as its parse. */
export interface MembersMet {
  members: number;
}

/** Counts what no walk enters. */
export function passOver(value: JsonValue, met: MembersMet): void {
  met.members += membersIn(value, DEPTH_MAX) ?? 0;
}

/** The value of a patch where nothing is stored: without directives, nulls and elements to delete. An object that has none of them is not copied. */
export function withoutDirectives(value: JsonValue, met: MembersMet): JsonValue {
  if (Array.isArray(value)) {
    const isKept = (item: JsonValue): boolean => {
      if (!isJsonObject(item) || freshDirective(item) === undefined) return true;
      passOver(item, met);
      return false;
    };
    return value.filter(isKept).map((item) => withoutDirectives(item, met));
  }
  if (!isJsonObject(value)) return value;
  if (freshDirective(value) === "delete") {
    passOver(value, met);
    return {};
  }
  let next: JsonObject | undefined;
  for (const key in value) {
    met.members++;
    const member = value[key] ?? null;
    let kept: JsonValue | undefined;
    if (isDirective(key)) passOver(member, met);
    else if (member !== null) kept = withoutDirectives(member, met);
    if (next === undefined && kept === member) continue;
    next ??= membersBefore(key, value);
    if (kept !== undefined) setMember(next, key, kept);
  }
  return next ?? value;
}

function membersBefore(end: string, object: JsonObject): JsonObject {
  const before: JsonObject = {};
  for (const key in object) {
    if (key === end) break;
    setMember(before, key, object[key] ?? null);
  }
  return before;
}
