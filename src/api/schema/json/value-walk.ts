/**
 * One walk of a parsed JSON value along its schema: checks types, normalises scalars, removes what the schema does not know.
 * The walk changes the value in place: it runs for every written object, and a copy would double its cost.
 *
 * It normalises as a Go server does by decoding and encoding. Null is absence. A zero value of a `plain` field is left out, that of an `always`
 * scalar is kept. Times are whole seconds (six digits for MicroTime) in UTC, quantities are canonical texts. Source of the texts: sigs.k8s.io/json
 * decode.go, metav1.Time, intstr.IntOrString, resource.Quantity.
 */
import { assertNever } from "../../../core/base/assert";
import { normalBase64 } from "../../../core/encoding/base64";
import { isInt64 } from "../../../core/encoding/exact-json";
import { DEPTH_MAX, OBJECT_MAX_BYTES, TOO_LARGE } from "../decode-limits";
import { formatMicroTime, formatTime, hasMicroFraction, isZeroTime, parseInstant, timeProblem } from "../instant";
import { goKind, type JsonObject, type JsonValue, setMember, type UncheckedObject } from "./json-value";
import { canonicalQuantity, type SmallestUnit } from "../quantity";
import type { Field, FieldType, MessageSchema } from "../types";

/** The failure of a document that nests too deeply. */
export const TOO_DEEP = "exceeded max depth";
/** Strict decoding problems reported for one document, so that a hostile body cannot make a huge answer. */
export const MAX_PROBLEMS = 100;

/** Characters of a path in a problem. A hundred problems below one long key would be a hundred times its length. */
export const PATH_MAX_CHARACTERS = 512;

export function problemOf(what: "unknown" | "duplicate", path: string): string {
  const shown = path.length <= PATH_MAX_CHARACTERS ? path : `${path.slice(0, PATH_MAX_CHARACTERS)}...`;
  return `${what} field ${JSON.stringify(shown)}`;
}

const INT32_MAX = 2147483647;
const INT32_MIN = -2147483648;

/** Stands for "leave the member out". */
const ABSENT = Symbol("absent");
/** Stands for a member name that the path does not show. */
const NO_NAME = -1;

function isObject(value: unknown): value is UncheckedObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `ServiceSpec` of `io.k8s.api.core.v1.ServiceSpec`. */
function shortName(schema: MessageSchema): string {
  return schema.name.slice(schema.name.lastIndexOf(".") + 1);
}

/** How Go names a type in its decoding errors. */
function goType(type: FieldType): string {
  switch (type.kind) {
    case "message":
      return `v1.${shortName(type.message())}`;
    case "list":
      return `[]${goType(type.of)}`;
    case "map":
      return `map[string]${goType(type.of)}`;
    case "bytes":
      return "[]uint8";
    case "time":
      return "v1.Time";
    case "microTime":
      return "v1.MicroTime";
    case "fieldsV1":
      return "v1.FieldsV1";
    case "intOrString":
      return "intstr.IntOrString";
    case "quantity":
      return "resource.Quantity";
    default:
      return type.kind;
  }
}

/** How Go names a JSON value in its decoding errors; numbers that do not fit are written out. */
function goValue(value: unknown, wantsInteger: boolean): string {
  const kind = goKind(value);
  return kind === "number" && wantsInteger ? `number ${String(value)}` : kind;
}

/** Quotes, colon and comma of a member. */
const MEMBER_CHARACTERS = 4;

/** The fewest characters of a value in JSON, those of its members and items apart. */
function ownSize(value: unknown): number {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "boolean":
      return 4;
    default:
      return 1;
  }
}

export class ValueWalk {
  /** members met so far, those of unknown and free-form values included */
  members = 0;
  /** `unknown field "spec.foo"`, as met */
  readonly problems: string[] = [];
  /** the first error, in Go's words; once set, the walk is over and the value is unusable */
  failure: string | undefined;
  private readonly path: (string | number)[] = [];
  /** The fewest characters that the stored JSON of what was met can have. The status is stored by writes of its own, and counts for itself. */
  private size = 0;

  /**
   * Walks a whole document that is a `schema`, but for its kind and apiVersion, and gives what the schema knows of it. A document of a hundred thousand
   * unknown members is neither copied nor emptied one by one: each costs as much as the parse.
   */
  root(source: UncheckedObject, schema: MessageSchema): UncheckedObject {
    const known: UncheckedObject = {};
    for (const name in source) {
      if (name === "kind" || name === "apiVersion") continue;
      this.members++;
      const field = schema.byName.get(name);
      if (field === undefined) this.unknown(source[name], name, schema, 1);
      else {
        known[name] = source[name];
        if (field.isTransient || name === "status") this.apart(known, name, field, schema, 1);
        else this.field(known, name, field, schema, 1);
      }
      if (this.failure !== undefined) return known;
    }
    this.absent(known, schema);
    return known;
  }

  /** Walks an object that is a `schema`; `depth` counts the containers around it. */
  private message(object: UncheckedObject, schema: MessageSchema, depth: number): void {
    const byName = schema.byName;
    for (const name in object) {
      this.members++;
      const field = byName.get(name);
      if (field === undefined) {
        const value = object[name];
        delete object[name];
        this.unknown(value, name, schema, depth);
      } else if (field.isTransient) this.apart(object, name, field, schema, depth);
      else this.field(object, name, field, schema, depth);
      if (this.failure !== undefined) return;
    }
    this.absent(object, schema);
  }

  /** What the schema says of members that are not there. */
  private absent(object: UncheckedObject, schema: MessageSchema): void {
    for (const [name, zero] of schema.zeros) {
      if (object[name] !== undefined) continue;
      object[name] = zero;
      this.count(name.length + MEMBER_CHARACTERS + ownSize(zero));
    }
    for (const [name, characters] of schema.stored) {
      if (object[name] === undefined) this.count(name.length + MEMBER_CHARACTERS + characters);
    }
  }

  private apart(object: UncheckedObject, name: string, field: Field, schema: MessageSchema, depth: number): void {
    const { size } = this;
    this.size = 0;
    this.field(object, name, field, schema, depth);
    this.size = size;
  }

  private count(characters: number): void {
    this.size += characters;
    if (this.size > OBJECT_MAX_BYTES) this.fail(TOO_LARGE);
  }

  private field(object: UncheckedObject, name: string, field: Field, schema: MessageSchema, depth: number): void {
    const before = object[name];
    const after = this.value(before, field.type, field.presence === "plain", name, schema, depth);
    if (after !== ABSENT) this.count(name.length + MEMBER_CHARACTERS + ownSize(after));
    if (after === before) return;
    if (after === ABSENT) delete object[name];
    else object[name] = after;
  }

  private unknown(value: unknown, name: string, schema: MessageSchema, depth: number): void {
    // A dropped member counts too: the comparison with the text needs every member.
    this.free(value, depth + 1);
    // A kind inside another one may name itself (the options in an Eviction).
    if (schema.isKind && (name === "kind" || name === "apiVersion")) return;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problemOf("unknown", this.pathTo(name)));
  }

  /**
   * The value to keep for `value` at member `name` of `owner`, or ABSENT. Containers come back as the same, changed, object.
   * `dropZero` = a zero value of the type means absence.
   */
  private value(value: unknown, type: FieldType, dropZero: boolean, name: string | number, owner: MessageSchema, depth: number): unknown {
    if (value === null) return ABSENT;
    switch (type.kind) {
      case "string":
        if (typeof value !== "string") break;
        return dropZero && value === "" ? ABSENT : value;
      case "bool":
        if (typeof value !== "boolean") break;
        return dropZero && !value ? ABSENT : value;
      case "int32":
        if (typeof value !== "number" || !Number.isInteger(value) || value > INT32_MAX || value < INT32_MIN) break;
        return dropZero && value === 0 ? ABSENT : value;
      case "int64":
        if (!isInt64(value)) break;
        return dropZero && value === 0 ? ABSENT : value;
      case "message":
        if (!isObject(value)) break;
        return this.nested(value, name, depth, () => this.message(value, type.message(), depth + 1));
      case "list":
        if (!Array.isArray(value)) break;
        if (value.length === 0) return dropZero ? ABSENT : value;
        return this.nested(value, name, depth, () => this.list(value, type.of, owner, depth + 1));
      case "map":
        if (!isObject(value)) break;
        return this.mapAt(value, type.of, dropZero, name, owner, depth);
      case "bytes":
        if (typeof value !== "string") break;
        return dropZero && value === "" ? ABSENT : this.bytes(value);
      case "time":
      case "microTime":
        // Go reads the text of a time before it knows that it is one
        return typeof value === "string" ? this.time(value, type.kind) : this.mismatch(value, { kind: "string" }, name, owner);
      case "intOrString":
        return this.intOrString(value, dropZero);
      case "quantity":
        return this.quantity(value, -9, dropZero);
      case "fieldsV1":
        if (!isObject(value)) return this.fail(`json: cannot unmarshal ${goValue(value, false)} into Go value of type v1.FieldsV1`);
        this.free(value, depth + 1, true);
        return value;
      default:
        return assertNever(type);
    }
    return this.mismatch(value, type, name, owner);
  }

  /** Runs `walk` one level deeper in the path. */
  private nested(value: object, name: string | number, depth: number, walk: () => void): unknown {
    if (depth >= DEPTH_MAX) return this.fail(TOO_DEEP);
    this.path.push(name);
    walk();
    if (this.failure === undefined) this.path.pop();
    return value;
  }

  /** A map is empty when no member was met in it: to ask a large one for its first name costs as much as all names. */
  private mapAt(
    map: UncheckedObject,
    of: FieldType,
    dropZero: boolean,
    name: string | number,
    owner: MessageSchema,
    depth: number,
  ): unknown {
    const before = this.members;
    const kept = this.nested(map, name, depth, () => this.map(map, of, owner, depth + 1));
    return dropZero && this.members === before ? ABSENT : kept;
  }

  private list(list: unknown[], of: FieldType, owner: MessageSchema, depth: number): void {
    for (let i = 0; i < list.length; i++) {
      const before = list[i];
      const after = before === null && of.kind !== "message" ? zeroOf(of) : this.value(before ?? {}, of, false, i, owner, depth);
      if (this.failure !== undefined) return;
      this.count(ownSize(after) + 1);
      if (after !== before) list[i] = after;
    }
  }

  private mapValue(value: unknown, of: FieldType, name: string | number, owner: MessageSchema, depth: number): unknown {
    // A map of quantities is always a list of resources.
    return of.kind === "quantity" ? this.quantity(value, -3) : this.value(value, of, false, name, owner, depth);
  }

  private map(map: UncheckedObject, of: FieldType, owner: MessageSchema, depth: number): void {
    for (const key in map) {
      this.members++;
      const before = map[key];
      // Go's errors name struct fields only; its strict problems also name the map keys above a field
      const place = of.kind === "message" || of.kind === "list" || of.kind === "map" ? key : NO_NAME;
      const after = before === null ? zeroOf(of) : this.mapValue(before, of, place, owner, depth);
      if (this.failure !== undefined) return;
      this.count(key.length + MEMBER_CHARACTERS + ownSize(after));
      if (after !== before) setMember(map as JsonObject, key, after as JsonValue);
    }
  }

  private bytes(text: string): unknown {
    const normal = normalBase64(text);
    return normal.ok ? normal.value : this.fail(`illegal base64 data at input byte ${normal.error}`);
  }

  private time(value: string, kind: "time" | "microTime"): unknown {
    const instant = parseInstant(value);
    if (instant === undefined || (kind === "microTime" && !hasMicroFraction(value))) return this.fail(timeProblem(value, kind) ?? "");
    if (kind === "time") return formatTime(instant);
    return isZeroTime(instant) ? null : formatMicroTime(instant);
  }

  private intOrString(value: unknown, dropZero: boolean): unknown {
    if (typeof value === "string") return dropZero && value === "" ? ABSENT : value;
    if (typeof value === "number" && Number.isInteger(value) && value <= INT32_MAX && value >= INT32_MIN) {
      return dropZero && value === 0 ? ABSENT : value;
    }
    return this.fail(`json: cannot unmarshal ${goValue(value, true)} into Go value of type int32`);
  }

  private quantity(value: unknown, smallest: SmallestUnit, dropZero = false): unknown {
    const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value;
    const canonical = canonicalQuantity(typeof text === "string" ? text : "", smallest);
    if (!canonical.ok) return this.fail(canonical.error);
    return dropZero && canonical.value === "0" ? ABSENT : canonical.value;
  }

  /** A value without a schema: only its members are counted and its depth is bounded. */
  private free(value: unknown, depth: number, isStored = false): void {
    if (typeof value !== "object" || value === null || this.failure !== undefined) return;
    if (depth > DEPTH_MAX) {
      this.fail(TOO_DEEP);
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value) {
        if (isStored) this.count(ownSize(item) + 1);
        this.free(item, depth + 1, isStored);
      }
      return;
    }
    for (const name in value) {
      this.members++;
      const member = (value as UncheckedObject)[name];
      if (isStored) this.count(name.length + MEMBER_CHARACTERS + ownSize(member));
      this.free(member, depth + 1, isStored);
    }
  }

  private mismatch(value: unknown, type: FieldType, name: string | number, owner: MessageSchema): undefined {
    const members = [...this.path, name].filter((part) => typeof part === "string").join(".");
    const wantsInteger = type.kind === "int32" || type.kind === "int64";
    return this.fail(
      `json: cannot unmarshal ${goValue(value, wantsInteger)} into Go struct field ${shortName(owner)}.${members} of type ${goType(type)}`,
    );
  }

  private fail(cause: string): undefined {
    this.failure ??= cause;
    return undefined;
  }

  /** `spec.ports[0].foo` */
  private pathTo(name: string): string {
    let text = "";
    for (const part of this.path) text += typeof part === "number" ? `[${part}]` : text === "" ? part : `.${part}`;
    return text === "" ? name : `${text}.${name}`;
  }
}

/** What Go leaves in a list or map whose element is null. */
function zeroOf(type: FieldType): unknown {
  switch (type.kind) {
    case "string":
    case "bytes":
      return "";
    case "int32":
    case "int64":
    case "intOrString":
      return 0;
    case "bool":
      return false;
    case "quantity":
      return "0";
    case "message":
      return Object.fromEntries(type.message().zeros);
    case "map":
    case "fieldsV1":
      return {};
    case "list":
      return [];
    default:
      return null;
  }
}
