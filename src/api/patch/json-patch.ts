/**
 * JSON patch (RFC 6902) by fast-json-patch, with the server's limits and refusals.
 *
 * The library reads members through the prototype (`/metadata/constructor`, `/spec/ports/length`) and copies without bound. So this
 * file first resolves every pointer over own members only, and counts copies.
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

/** The own member or element, undefined when there is none. */
function child(value: JsonValue, segment: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(0|[1-9][0-9]*)$/.test(segment) ? value[Number(segment)] : undefined;
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

/** The error when a pointer of the operation leads to nothing; undefined = all lead to something. */
function checkPointers(document: JsonValue, operation: JsonObject): PatchError | undefined {
  const path = String(operation.path);
  if (operation.op === "move" || operation.op === "copy") {
    const from = String(operation.from);
    if (resolve(document, segmentsOf(from)) === undefined) return NO_PATH(from);
    if (operation.op === "move" && path.startsWith(`${from}/`)) {
      return { reason: "unprocessable", message: `"${from}" cannot be moved into itself` };
    }
  }
  if (path === "") return undefined;
  const segments = segmentsOf(path);
  const parent = resolve(document, segments.slice(0, -1));
  if (typeof parent !== "object" || parent === null) return NO_PATH(path);
  const last = segments.at(-1) ?? "";
  const adds = operation.op === "add" || operation.op === "move" || operation.op === "copy";
  if (!adds) return child(parent, last) === undefined ? NO_PATH(path) : undefined;
  if (!Array.isArray(parent) || last === "-" || last === String(parent.length)) return undefined;
  return child(parent, last) === undefined ? NO_PATH(path) : undefined;
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

/** The patched object; `patch` is the body as text. `current` is not changed. */
export function applyJsonPatch(current: JsonObject, patch: string): Result<JsonObject, PatchError> {
  const operations = decodeOperations(patch);
  if (!operations.ok) return operations;
  let document: JsonValue = parseJson(JSON.stringify(current)) as JsonObject;
  let copied = 0;
  for (const operation of operations.value) {
    // as upstream's library: a missing member equals null
    if (operation.op === "test" && operation.value === null && resolve(document, segmentsOf(String(operation.path))) === undefined)
      continue;
    const refused = checkPointers(document, operation);
    if (refused) return err(refused);
    let applicable = operation;
    if (operation.op === "copy") {
      const text = JSON.stringify(resolve(document, segmentsOf(String(operation.from))));
      copied += text.length;
      if (copied > COPIED_CHARACTERS_MAX) {
        const message = `Unable to complete the copy, the accumulated size increase of copy is ${copied}, exceeding the limit ${COPIED_CHARACTERS_MAX}`;
        return err({ reason: "tooLarge", message });
      }
      // The library's own copy would round integers beyond 2^53.
      applicable = { ...operation, op: "add", value: parseJson(text) as JsonValue };
    }
    try {
      document = fastJsonPatch.applyOperation(document, applicable as unknown as Operation, true, true, true).newDocument;
    } catch (error) {
      return err({ reason: "unprocessable", message: firstLine(error) });
    }
  }
  return isJsonObject(document) ? ok(document) : err({ reason: "unprocessable", message: "the result is not an object" });
}

/** The first line of the library's message; a dump of the document follows. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
