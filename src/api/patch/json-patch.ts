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
 * Work is in proportion to document and patch. Only two operations read a value as a whole: a copy, whose sum has a limit, and a test that holds,
 * which is no larger than the patch. Only elements of a list that make room for others are moved again and again, so they have a limit of their own.
 * Members are own members: no name reaches a prototype.
 */
import fastJsonPatch from "fast-json-patch";
import { parseJson } from "../../core/encoding/exact-json";
import { err, ok } from "../../core/base/result";
import type { Result } from "../../core/base/result";
import { DEPTH_MAX } from "../schema/decode-limits";
import { getMember, goKind, isJsonObject, type JsonObject, type JsonValue, membersIn } from "../schema/json/json-value";
import { PATCH_CONTEXT, type PatchBody, wrongForm } from "./patch-body";
import { type PatchError, PatchRefusal, refuse } from "./patch-error";

/** Operations of one patch; upstream's limit. */
const JSON_PATCH_OPERATIONS_MAX = 10_000;

/** All copies of one patch together, in characters of JSON: each copy could double the object. Upstream: the body limit. */
const COPIED_CHARACTERS_MAX = 3 * 1024 * 1024;

/** Elements of lists that all operations together may move: ten thousand insertions in front of a list that grows by them. Upstream has no limit. */
const MOVED_ELEMENTS_MAX = 60_000_000;

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

const noPath = (pointer: string): never => refuse("unprocessable", `the path "${pointer}" does not exist`);

/** Names that no operation follows or sets: no object of the API has them, and careless readers take them for prototypes. */
function isPrototype(segments: readonly string[], at: number): boolean {
  return segments[at] === "__proto__" || (segments[at] === "prototype" && segments[at - 1] === "constructor");
}

type JsonContainer = JsonObject | JsonValue[];

function isContainer(value: JsonValue | undefined): value is JsonContainer {
  return typeof value === "object" && value !== null;
}

function decodeOperations({ value }: PatchBody): Result<JsonObject[], PatchError> {
  const malformed = (why: string) => err({ reason: "malformed", message: PATCH_CONTEXT.json + why } as const);
  // Go decodes null as the empty list
  const operations = value ?? [];
  if (!Array.isArray(operations)) return malformed(wrongForm(operations, "[]handlers.jsonPatchOp"));
  if (operations.length > JSON_PATCH_OPERATIONS_MAX) {
    const message = `The allowed maximum operations in a JSON patch is ${JSON_PATCH_OPERATIONS_MAX}, got ${operations.length}`;
    return err({ reason: "tooLarge", message });
  }
  for (const operation of operations) {
    const unreadable = undecodable(operation);
    if (unreadable !== undefined) return malformed(unreadable);
  }
  const bad = operations.findIndex((operation) => !isOperation(operation));
  if (bad >= 0) return err({ reason: "unprocessable", message: `operation ${bad} is not a JSON patch operation` });
  return ok(operations.filter(isOperation));
}

/** A document while operations change it. */
class PatchedDocument {
  private copied = 0;
  private moved = 0;

  constructor(private root: JsonValue) {}

  /** The document after all operations, which is not deeper than a body may be. */
  get result(): JsonValue {
    if (membersIn(this.root, DEPTH_MAX) === undefined) refuse("unprocessable", "exceeded max depth");
    return this.root;
  }

  apply(operation: JsonObject): void {
    const pointer = String(operation.path);
    const value = operation.value ?? null;
    switch (operation.op) {
      case "add":
        this.add(pointer, value);
        break;
      case "remove":
        this.remove(pointer);
        break;
      case "replace":
        this.replace(pointer, value);
        break;
      case "move":
        // The place is looked for once the value has gone from its old one, as upstream's library does.
        this.add(pointer, this.remove(String(operation.from)));
        break;
      case "copy":
        this.add(pointer, this.copy(String(operation.from)));
        break;
      default:
        this.test(pointer, value);
    }
  }

  private add(pointer: string, value: JsonValue): void {
    const [container, name] = this.placeOf(pointer);
    if (!Array.isArray(container)) {
      change(container, name, { op: "add", value });
      return;
    }
    const { length } = container;
    const index = name === "-" ? length : (indexIn(name, length + 1) ?? noPath(pointer));
    this.move(length - index);
    change(container, String(index), { op: "add", value });
  }

  private remove(pointer: string): JsonValue {
    const [container, name] = this.placeOf(pointer);
    const value = childOf(container, name);
    if (value === undefined) return noPath(pointer);
    if (!Array.isArray(container)) change(container, name, { op: "remove" });
    else {
      const index = indexIn(name, container.length) ?? noPath(pointer);
      this.move(container.length - index);
      change(container, String(index), { op: "remove" });
    }
    return value;
  }

  private replace(pointer: string, value: JsonValue): void {
    if (pointer === "") {
      this.root = value;
      return;
    }
    const [container, name] = this.placeOf(pointer);
    const place = Array.isArray(container) ? String(indexIn(name, container.length) ?? noPath(pointer)) : name;
    // A member that is absent is set.
    change(container, place, { op: "replace", value });
  }

  private copy(pointer: string): JsonValue {
    const value = this.read(pointer) ?? null;
    if (membersIn(value, DEPTH_MAX) === undefined) refuse("unprocessable", "exceeded max depth");
    const text = JSON.stringify(value);
    this.copied += text.length;
    if (this.copied > COPIED_CHARACTERS_MAX) {
      const message = `Unable to complete the copy, the accumulated size increase of copy is ${this.copied}, exceeding the limit ${COPIED_CHARACTERS_MAX}`;
      refuse("tooLarge", message);
    }
    return parseJson(text) as JsonValue;
  }

  private test(pointer: string, wanted: JsonValue): void {
    if (!isEqual(this.read(pointer) ?? null, wanted)) refuse("unprocessable", `test of "${pointer}" failed`);
  }

  /** The value at the end of a pointer; undefined for an absent member of a map. */
  private read(pointer: string): JsonValue | undefined {
    if (pointer === "") return this.root;
    const [container, name] = this.placeOf(pointer);
    const value = childOf(container, name);
    return value === undefined && Array.isArray(container) ? noPath(pointer) : value;
  }

  /** The container that the last segment of a pointer names a child of, and that segment. */
  private placeOf(pointer: string): [JsonContainer, string] {
    const segments = segmentsOf(pointer);
    const last = segments.length - 1;
    let value: JsonValue | undefined = this.root;
    for (let at = 0; at < last; at++) {
      if (!isContainer(value) || isPrototype(segments, at)) return noPath(pointer);
      value = childOf(value, segments[at] ?? "");
    }
    if (!isContainer(value) || isPrototype(segments, last)) return noPath(pointer);
    return [value, segments[last] ?? ""];
  }

  private move(elements: number): void {
    this.moved += elements;
    if (this.moved > MOVED_ELEMENTS_MAX) refuse("tooLarge", `limit is ${MOVED_ELEMENTS_MAX} moved elements of lists`);
  }
}

/**
 * The library changes one member or element of a container. Nothing else of it is used: its own check of operations walks the whole value of each,
 * and its moves copy what they replace. Where upstream's rules differ from RFC 6902, they have been applied before.
 */
function change(container: JsonContainer, name: string, operation: { op: "add" | "replace"; value: JsonValue } | { op: "remove" }): void {
  fastJsonPatch.applyOperation<unknown>(container, { ...operation, path: `/${fastJsonPatch.escapePathComponent(name)}` }, false, true);
}

/** The own member or element, undefined when there is none. */
function childOf(container: JsonContainer, segment: string): JsonValue | undefined {
  if (!Array.isArray(container)) return getMember(container, segment);
  return container[indexIn(segment, container.length) ?? container.length];
}

/** Deep equality. It reads as much as `wanted` holds, and the names of one object that turns out to have more. */
function isEqual(value: JsonValue, wanted: JsonValue): boolean {
  if (value === wanted) return true;
  if (Array.isArray(wanted)) {
    return Array.isArray(value) && value.length === wanted.length && wanted.every((item, i) => isEqual(value[i] ?? null, item));
  }
  if (!isJsonObject(wanted) || !isJsonObject(value)) return false;
  const names = Object.keys(wanted);
  for (const name of names) {
    const member = getMember(value, name);
    if (member === undefined || !isEqual(member, wanted[name] ?? null)) return false;
  }
  return Object.keys(value).length === names.length;
}

/** The patched object. `current` is not changed, values in `patch` are. Refuses what upstream refuses, and endless moves in lists with 413. */
export function applyJsonPatch(current: JsonObject, patch: PatchBody): Result<JsonObject, PatchError> {
  const operations = decodeOperations(patch);
  if (!operations.ok) return operations;
  const document = new PatchedDocument(parseJson(JSON.stringify(current)) as JsonObject);
  try {
    for (const operation of operations.value) document.apply(operation);
    const { result } = document;
    return isJsonObject(result) ? ok(result) : err({ reason: "unprocessable", message: "the result is not an object" });
  } catch (error) {
    if (error instanceof PatchRefusal) return err(error.refusal);
    throw error;
  }
}
