/**
 * JSON patch (RFC 6902) by fast-json-patch, with the server's limits and refusals.
 *
 * The library reads members through the prototype (`/metadata/constructor`, `/spec/ports/length`) and copies without bound. So this
 * file first resolves every pointer over own members only, reads indices as upstream's library does, and counts copies.
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

/** Whether a value is a well-formed operation; RFC 6902 ignores unknown members. */
function isOperation(value: JsonValue): value is JsonObject {
  if (!isJsonObject(value) || !OPERATIONS.includes(value.op ?? null)) return false;
  if (!isPointer(value.path)) return false;
  if (value.op === "move" || value.op === "copy") return isPointer(value.from);
  return value.op === "remove" || value.value !== undefined;
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

function isPointer(value: JsonValue | undefined): value is string {
  return typeof value === "string" && (value === "" || value.startsWith("/"));
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

function resolve(document: JsonValue, segments: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const segment of segments) {
    if (value === undefined) return undefined;
    value = child(value, segment);
  }
  return value;
}

const NO_PATH = (pointer: string): PatchError => ({ reason: "unprocessable", message: `the path "${pointer}" does not exist` });

/** The pointer with the indices of RFC 6901; undefined = it leads to nothing. An added element may stand behind the last one. */
function plainPointer(document: JsonValue, pointer: string, adds: boolean): string | undefined {
  const segments = segmentsOf(pointer);
  let value: JsonValue | undefined = document;
  let plain = "";
  for (const [at, segment] of segments.entries()) {
    if (typeof value !== "object" || value === null) return undefined;
    const isNew = adds && at === segments.length - 1;
    if (Array.isArray(value) && !(isNew && segment === "-")) {
      const index = indexIn(segment, value.length + (isNew ? 1 : 0));
      if (index === undefined) return undefined;
      plain += `/${index}`;
    } else {
      plain += `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    }
    value = child(value, segment);
    if (value === undefined && !isNew) return undefined;
  }
  return plain;
}

function decodeOperations(patch: string): Result<JsonObject[], PatchError> {
  const parsed = parsePatch(patch);
  if (!parsed.ok) return err({ reason: "malformed", message: `error decoding patch: ${parsed.error}` });
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

/** An operation without `from`, applied to the document, which is changed. */
function perform(document: JsonValue, operation: JsonObject): Result<JsonValue, PatchError> {
  const pointer = String(operation.path);
  const path = plainPointer(document, pointer, operation.op === "add");
  if (path === undefined) return err(NO_PATH(pointer));
  try {
    const applicable = { ...operation, path } as unknown as Operation;
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
    // as upstream's library: a missing member equals null
    if (op === "test" && operation.value === null && resolve(document, segmentsOf(String(path))) === undefined) continue;
    let step = operation;
    if (op === "move" || op === "copy") {
      let value = resolve(document, segmentsOf(String(from)));
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
