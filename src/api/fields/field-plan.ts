/**
 * Schemas as field management needs them, compiled once for each message. They say which values are one leaf, which lists have items with an
 * identity, and the value of an absent member of a Go struct. Source: structured-merge-diff schema, kube-openapi schemaconv, and how Go encodes the
 * members of a struct.
 */
import type { JsonObject, JsonValue } from "../schema/json/json-value";
import { isJsonObject } from "../schema/json/json-value";
import type { Field, FieldType, MessageSchema } from "../schema/types";
import { fieldElement, type PathElement, valueElement } from "./path-element";

/** How field management divides a value into fields. */
export type Shape =
  | { kind: "scalar"; type: FieldType }
  /** list, map or struct that is owned and replaced as a whole */
  | { kind: "atomic"; type: FieldType }
  | { kind: "struct"; plan(): StructPlan }
  | { kind: "map"; of: Shape }
  /** list whose items are identified by some of their members */
  | { kind: "keyed"; keys: readonly KeyPlan[]; of: Shape }
  /** list whose items are identified by their value */
  | { kind: "set"; of: Shape }
  /** a member that the schema does not name: objects are divided, everything else is one leaf */
  | { kind: "free" };

export type ListShape = Shape & { kind: "keyed" | "set" };

interface KeyPlan {
  name: string;
  /** `"port":` */
  prefix: string;
  /** JSON text of the value of an absent key; undefined = the key is left out */
  fallback: string | undefined;
}

export interface MemberPlan {
  name: string;
  element: PathElement;
  shape: Shape;
  /** the value of an absent member of a present struct that Go always writes; undefined = absent */
  implied: JsonValue | undefined;
}

export interface StructPlan {
  /** in the order of their names */
  members: readonly MemberPlan[];
  byName: ReadonlyMap<string, MemberPlan>;
}

export const FREE: Shape = { kind: "free" };

const plans = new WeakMap<MessageSchema, StructPlan>();

export function planOf(schema: MessageSchema): StructPlan {
  const known = plans.get(schema);
  if (known) return known;
  const members = [...schema.byName.values()].map(memberPlan).sort((a, b) => (a.name < b.name ? -1 : 1));
  const plan: StructPlan = {
    members,
    byName: new Map(members.map((member) => [member.name, member])),
  };
  plans.set(schema, plan);
  return plan;
}

/** A whole object, divided even where values of its type are atomic elsewhere. */
export function rootShape(schema: MessageSchema): Shape {
  return { kind: "struct", plan: () => planOf(schema) };
}

function memberPlan(field: Field): MemberPlan {
  return { name: field.name, element: fieldElement(field.name), shape: shapeOf(field.type), implied: impliedValue(field) };
}

function shapeOf(type: FieldType): Shape {
  switch (type.kind) {
    case "message":
      return type.message().atomic ? { kind: "atomic", type } : { kind: "struct", plan: () => planOf(type.message()) };
    case "map":
      return type.atomic ? { kind: "atomic", type } : { kind: "map", of: shapeOf(type.of) };
    case "list":
      return listShape(type);
    case "fieldsV1":
      return { kind: "atomic", type };
    default:
      return { kind: "scalar", type };
  }
}

function listShape(type: FieldType & { kind: "list" }): Shape {
  const semantics = type.list;
  if (semantics?.listType === "set") return { kind: "set", of: shapeOf(type.of) };
  if (semantics?.listType !== "map" || type.of.kind !== "message") return { kind: "atomic", type };
  const { byName } = type.of.message();
  const keys = [...(semantics.listMapKeys ?? [])].sort().map((name): KeyPlan => {
    const value = byName.get(name)?.default;
    return { name, prefix: `${JSON.stringify(name)}:`, fallback: value === undefined ? undefined : JSON.stringify(value) };
  });
  // an item of a keyed list may be atomic (ownerReferences)
  return { kind: "keyed", keys, of: shapeOf(type.of) };
}

/**
 * Structs that are no pointers exist even when empty, and fields without omitempty even when zero: a new container owns
 * `resources`, a new Pod does not own `spec` itself. Times, quantities and IntOrString are structs to Go.
 */
export function impliedValue({ type, presence }: Field): JsonValue | undefined {
  if (presence === "pointer") return undefined;
  switch (type.kind) {
    case "message":
      return {};
    case "time":
    case "microTime":
      return null;
    case "quantity":
      return "0";
    case "intOrString":
      return 0;
    default:
      return presence === "always" ? zeroOf(type) : undefined;
  }
}

function zeroOf(type: FieldType): JsonValue {
  switch (type.kind) {
    case "string":
      return "";
    case "int32":
    case "int64":
      return 0;
    case "bool":
      return false;
    default:
      return null;
  }
}

/** The step to an item of a list; undefined when the item has no identity. */
export function itemElement(shape: ListShape, item: JsonValue | undefined): PathElement | undefined {
  if (item === undefined || item === null) return undefined;
  if (shape.kind === "set") return typeof item === "object" ? undefined : valueElement(item);
  return isJsonObject(item) ? keyedElement(shape.keys, item) : undefined;
}

function keyedElement(keys: readonly KeyPlan[], item: JsonObject): PathElement | undefined {
  let text = "";
  for (const key of keys) {
    const value = item[key.name];
    const written = value === undefined ? key.fallback : JSON.stringify(value);
    if (written !== undefined) text += (text === "" ? "" : ",") + key.prefix + written;
  }
  return text === "" ? undefined : `k:{${text}}`;
}

/** The shape below one step, for walks over path sets; undefined = the schema has nothing there. */
export function shapeBelow(shape: Shape, element: PathElement): Shape | undefined {
  switch (shape.kind) {
    case "struct":
      return shape.plan().byName.get(element.slice(2))?.shape;
    case "map":
    case "keyed":
    case "set":
      return shape.of;
    case "free":
      return FREE;
    default:
      return undefined;
  }
}
