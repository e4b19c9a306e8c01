/** The fields that an object sets (structured-merge-diff typed/tofieldset). */
import { getMember, isJsonObject, type JsonObject, type JsonValue } from "../schema/json/json-value";
import type { MessageSchema } from "../schema/types";
import { FREE, itemElement, type ListShape, rootShape, type Shape, type StructPlan } from "./field-plan";
import { fieldElement, type PathElement } from "./path-element";
import { PathSet } from "./path-set";

/** Members of metadata that the server sets or that identify the object; nobody owns them (fieldmanager stripmeta). */
const SERVER_METADATA = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
];

export const UNTRACKED_METADATA: ReadonlySet<string> = new Set(SERVER_METADATA);

const UNTRACKED = PathSet.of([
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...SERVER_METADATA.map((name) => ["f:metadata", fieldElement(name)]),
]);

/** The set without what nobody owns. */
export function tracked(set: PathSet): PathSet {
  return set.difference(UNTRACKED);
}

/**
 * Every leaf of `object`, every item of a map or associative list, and members that are null or an empty map. `ignored` names
 * top-level members to leave out. The result still has the members that nobody owns: see `tracked`.
 */
export function fieldSetOf(object: JsonObject, schema: MessageSchema, ignored: readonly string[] = []): PathSet {
  const set = new PathSet();
  const shape = rootShape(schema);
  if (shape.kind !== "struct") return set;
  const plan = shape.plan();
  for (const name of Object.keys(object)) if (!ignored.includes(name)) structMember(set, plan, name, object[name]);
  return set;
}

function structMember(set: PathSet, plan: StructPlan, name: string, value: JsonValue | undefined): void {
  if (value === undefined) return;
  const member = plan.byName.get(name);
  const child = new PathSet();
  collect(child, value, member?.shape ?? FREE);
  if (member === undefined || value === null || isEmptyObject(value)) child.owned = true;
  set.attach(member?.element ?? fieldElement(name), child);
}

function collect(set: PathSet, value: JsonValue, shape: Shape): void {
  switch (shape.kind) {
    case "scalar":
    case "atomic":
      set.owned = true;
      return;
    case "struct":
      if (isJsonObject(value)) for (const name of Object.keys(value)) structMember(set, shape.plan(), name, getMember(value, name));
      return;
    case "map":
      if (isJsonObject(value)) collectMap(set, value, shape.of);
      return;
    case "keyed":
    case "set":
      if (Array.isArray(value)) collectItems(set, value, shape);
      return;
    case "free":
      if (isJsonObject(value)) collectMap(set, value, FREE);
      else set.owned = true;
  }
}

function collectMap(set: PathSet, map: JsonObject, of: Shape): void {
  for (const key of Object.keys(map)) {
    const child = PathSet.leaf();
    collect(child, getMember(map, key) ?? null, of);
    set.attach(fieldElement(key), child);
  }
}

/** Equal items are owned as one; nobody owns items without identity. */
function collectItems(set: PathSet, list: readonly JsonValue[], shape: ListShape): void {
  const repeated = new Set<PathElement>();
  for (const item of list) {
    const element = itemElement(shape, item);
    if (element === undefined || repeated.has(element)) continue;
    if (set.child(element)) {
      repeated.add(element);
      set.attach(element, PathSet.leaf());
      continue;
    }
    const child = PathSet.leaf();
    collect(child, item, shape.of);
    set.attach(element, child);
  }
}

function isEmptyObject(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  for (const _ in value) return false;
  return true;
}
