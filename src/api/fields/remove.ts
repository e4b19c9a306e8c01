/** Removes the items of a path set from an object (structured-merge-diff typed/remove). */
import { getMember, isJsonObject, type JsonObject, type JsonValue, setMember } from "../schema/json/json-value";
import type { MessageSchema } from "../schema/types";
import { FREE, itemElement, type ListShape, rootShape, type Shape, shapeBelow } from "./field-plan";
import { fieldElement } from "./path-element";
import { PathSet } from "./path-set";

/** A new object without `paths` and all below them. A list or map that becomes empty is null. */
export function removeItems(object: JsonObject, paths: PathSet, schema: MessageSchema): JsonObject {
  const rest = removeBelow(object, paths, rootShape(schema));
  return isJsonObject(rest) ? rest : {};
}

function removeBelow(value: JsonValue, paths: PathSet, shape: Shape): JsonValue {
  switch (shape.kind) {
    case "scalar":
      return value;
    case "atomic":
      return null;
    case "struct": {
      const plan = shape.plan();
      return isJsonObject(value) ? removeMembers(value, paths, (name) => plan.byName.get(name)?.shape ?? FREE) : null;
    }
    case "map":
      return isJsonObject(value) ? removeMembers(value, paths, () => shape.of) : null;
    case "free":
      return isJsonObject(value) ? removeMembers(value, paths, () => FREE) : value;
    case "keyed":
    case "set":
      return Array.isArray(value) ? removeFromList(value, paths, shape) : null;
  }
}

function removeMembers(object: JsonObject, paths: PathSet, shapeOf: (name: string) => Shape): JsonValue {
  const rest: JsonObject = {};
  let isEmpty = true;
  for (const name of Object.keys(object)) {
    const below = paths.child(fieldElement(name));
    if (below?.owned) continue;
    const value = getMember(object, name) ?? null;
    setMember(rest, name, below ? removeBelow(value, below, shapeOf(name)) : value);
    isEmpty = false;
  }
  return isEmpty ? null : rest;
}

function removeFromList(list: readonly JsonValue[], paths: PathSet, shape: ListShape): JsonValue {
  const rest: JsonValue[] = [];
  for (const item of list) {
    const element = itemElement(shape, item);
    const below = element === undefined ? undefined : paths.child(element);
    if (!below?.owned) rest.push(below ? removeBelow(item, below, shape.of) : item);
  }
  return rest.length > 0 ? rest : null;
}

/**
 * The set with the struct members on the way to its paths. The owner of a field inside a struct, list or map that the schema names also owns the
 * struct, list or map. Items of lists and entries of maps are not added.
 */
export function withNamedMembers(paths: PathSet, schema: MessageSchema): PathSet {
  return nameMembers(paths, rootShape(schema));
}

function nameMembers(paths: PathSet, shape: Shape | undefined): PathSet {
  const result = new PathSet();
  result.owned = paths.owned;
  for (const [element, node] of paths.entries()) {
    const below = nameMembers(node, shape && shapeBelow(shape, element));
    if (shape?.kind === "struct" && shape.plan().byName.has(element.slice(2))) below.owned = true;
    result.attach(element, below);
  }
  return result;
}
