/**
 * JSON patch as upstream's server applies it: by the rules of evanphx/json-patch v4 (patch.go), which departs from RFC 6902.
 *
 *   replace of an absent member of a map           sets it
 *   an absent `value`                              is null
 *   copy of an absent member                       copies null
 *   test of an absent member                       holds for null, and for no `value`
 *   an index                                       is any integer of Go; a negative one counts from the end
 *   a pointer                                      begins behind its first slash: "x/a" is "/a"
 *   the whole document                             can be tested and replaced, and neither added, removed, moved nor copied
 *
 * fast-json-patch performs the operations. It reads members through the prototype (`/metadata/constructor`, `/spec/ports/length`) and copies without
 * bound. So this file first resolves every pointer over own members only, and counts copies.
 */
import fastJsonPatch from "fast-json-patch";
import type { Operation } from "fast-json-patch";
import { parseJson } from "../../core/base/exact-json";
import { err, ok } from "../../core/base/result";
import type { Result } from "../../core/base/result";
import { parsePatch, wrongForm } from "./patch-body";
import { getMember, goKind, isJsonObject } from "../schema/json-value";
import type { JsonObject, JsonValue } from "../schema/json-value";
import type { PatchError } from "./patch-error";

/** Operations of one patch; upstream's limit. */
const JSON_PATCH_OPERATIONS_MAX = 10_000;

/** All copies of one patch together, in characters of JSON: each copy could double the object. Upstream: the body limit. */
const COPIED_CHARACTERS_MAX = 3 * 1024 * 1024;

const OPERATIONS: readonly JsonValue[] = ["add", "remove", "replace", "move", "copy", "test"];

/** Whether a value is a well-formed operation; unknown members are ignored. */
function isOperation(value: JsonValue): value is JsonObject {
  if (!isJsonObject(value) || !OPERATIONS.includes(value.op ?? null)) return false;
  const canBeWhole = value.op === "test" || value.op === "replace";
  if (!(canBeWhole && value.path === "") && !isPointer(value.path)) return false;
  return (value.op !== "move" && value.op !== "copy") || isPointer(value.from);
}

/** Go's error for what does not fit its type of an operation, before any operation is judged. null is an operation without members. */
function undecodable(value: JsonValue): string | undefined {
  if (value === null) return undefined;
  if (!isJsonObject(value)) return wrongForm(value, "handlers.jsonPatchOp");
  for (const member of ["op", "path", "from"]) {
    const text = getMember(value, member);
    if (text === undefined || text === null || typeof text === "string") continue;
    return `json: cannot unmarshal ${goKind(text)} into Go struct field jsonPatchOp.${member} of type string`;
  }
  return undefined;
}

/** To something inside the document. */
function isPointer(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value.includes("/");
}

function segmentsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** An index as upstream's library takes it: any integer of Go, where a negative one counts from the end. undefined = outside. */
function indexIn(segment: string, size: number): number | undefined {
  if (!/^[-+]?\d+$/.test(segment)) return undefined;
  const index = Number(segment);
  const counted = index < 0 ? index + size : index;
  return counted >= 0 && counted < size ? counted : undefined;
}

/** The own member or element, undefined when there is none. */
function child(value: JsonValue, segment: string): JsonValue | undefined {
  if (Array.isArray(value)) return value[indexIn(segment, value.length) ?? value.length];
  return isJsonObject(value) ? getMember(value, segment) : undefined;
}

const NO_PATH = (pointer: string): PatchError => ({ reason: "unprocessable", message: `the path "${pointer}" does not exist` });

/** What the last segment of a pointer may name: something that is there, also an absent member of a map, or also a place for one more element. */
type Target = "present" | "member" | "place";

/** The pointer with the indices of RFC 6901; undefined = it leads to nothing. */
function plainPointer(document: JsonValue, pointer: string, target: Target): string | undefined {
  const segments = segmentsOf(pointer);
  let value: JsonValue | undefined = document;
  let plain = "";
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1;
    if (Array.isArray(value)) {
      const places = isLast && target === "place";
      const index = places && segment === "-" ? segment : indexIn(segment, value.length + (places ? 1 : 0));
      if (index === undefined) return undefined;
      plain += `/${index}`;
    } else if (isJsonObject(value)) {
      if (isLast && target === "present" && getMember(value, segment) === undefined) return undefined;
      plain += `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    } else return undefined;
    value = child(value, segment);
  }
  return plain;
}

/** The value at the end of a pointer; null for an absent member of a map, undefined where the pointer leads to nothing. */
function valueAt(document: JsonValue, pointer: string): JsonValue | undefined {
  if (plainPointer(document, pointer, "member") === undefined) return undefined;
  let value: JsonValue | undefined = document;
  for (const segment of segmentsOf(pointer)) value = child(value ?? null, segment);
  return value ?? null;
}

function decodeOperations(patch: string): Result<JsonObject[], PatchError> {
  const parsed = parsePatch(patch, "error decoding patch: ");
  if (!parsed.ok) return parsed;
  // Go decodes null as the empty list
  const operations = parsed.value ?? [];
  if (!Array.isArray(operations)) {
    return err({ reason: "malformed", message: `error decoding patch: ${wrongForm(operations, "[]handlers.jsonPatchOp")}` });
  }
  if (operations.length > JSON_PATCH_OPERATIONS_MAX) {
    const message = `The allowed maximum operations in a JSON patch is ${JSON_PATCH_OPERATIONS_MAX}, got ${operations.length}`;
    return err({ reason: "tooLarge", message });
  }
  for (const operation of operations) {
    const unreadable = undecodable(operation);
    if (unreadable !== undefined) return err({ reason: "malformed", message: `error decoding patch: ${unreadable}` });
  }
  const bad = operations.findIndex((operation) => !isOperation(operation));
  if (bad >= 0) return err({ reason: "unprocessable", message: `operation ${bad} is not a JSON patch operation` });
  return ok(operations.filter(isOperation));
}

const TARGETS: Readonly<Record<string, Target>> = { add: "place", remove: "present", replace: "member", test: "member" };

/** An operation without `from`, applied to the document, which is changed. */
function perform(document: JsonValue, operation: JsonObject): Result<JsonValue, PatchError> {
  const pointer = String(operation.path);
  const asked = String(operation.op);
  const path = plainPointer(document, pointer, TARGETS[asked] ?? "present");
  if (path === undefined) return err(NO_PATH(pointer));
  const value = operation.value ?? null;
  const isAbsent = plainPointer(document, pointer, "present") === undefined;
  if (asked === "test" && isAbsent)
    return value === null ? ok(document) : err({ reason: "unprocessable", message: `test of "${pointer}" failed` });
  const op = asked === "replace" && isAbsent ? "add" : asked;
  try {
    const applicable = { op, path, value } as unknown as Operation;
    return ok(fastJsonPatch.applyOperation(document, applicable, true, true, true).newDocument);
  } catch (error) {
    return err({ reason: "unprocessable", message: firstLine(error) });
  }
}

/** The patched object; `patch` is the body as text. `current` is not changed. */
export function applyJsonPatch(current: JsonObject, patch: string): Result<JsonObject, PatchError> {
  const operations = decodeOperations(patch);
  if (!operations.ok) return operations;
  let document: JsonValue = parseJson(JSON.stringify(current)) as JsonObject;
  let copied = 0;
  for (const operation of operations.value) {
    const { op, path = "", from = "" } = operation;
    let step = operation;
    if (op === "move" || op === "copy") {
      let value = valueAt(document, String(from));
      if (value === undefined) return err(NO_PATH(String(from)));
      if (op === "move") {
        // The place is looked for once the value has gone from its old one, as upstream's library does.
        const removed = perform(document, { op: "remove", path: from });
        if (!removed.ok) return removed;
        document = removed.value;
      } else {
        const text = JSON.stringify(value);
        copied += text.length;
        if (copied > COPIED_CHARACTERS_MAX) {
          const message = `Unable to complete the copy, the accumulated size increase of copy is ${copied}, exceeding the limit ${COPIED_CHARACTERS_MAX}`;
          return err({ reason: "tooLarge", message });
        }
        // The library's own copy would round integers beyond 2^53.
        value = parseJson(text) as JsonValue;
      }
      step = { op: "add", path, value };
    }
    const performed = perform(document, step);
    if (!performed.ok) return performed;
    document = performed.value;
  }
  return isJsonObject(document) ? ok(document) : err({ reason: "unprocessable", message: "the result is not an object" });
}

/** The first line of the library's message; a dump of the document follows. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
