/** Merges an apply configuration into the live object by its schema (structured-merge-diff typed/merge). */
import { getMember, isJsonObject, type JsonObject, type JsonValue, type OptionalValue, setMember } from "../schema/json/json-value";
import type { MessageSchema } from "../schema/types";
import { FREE, itemElement, type ListShape, rootShape, type Shape } from "./field-plan";
import type { PathElement } from "./path-element";

/** A new object that shares unchanged parts with its inputs. Explicit nulls of `config` stay in it. */
export function mergeObjects(live: JsonObject, config: JsonObject, schema: MessageSchema): JsonObject {
  const merged = mergeValues(live, config, rootShape(schema));
  return isJsonObject(merged) ? merged : {};
}

function mergeValues(live: OptionalValue, config: OptionalValue, shape: Shape): OptionalValue {
  if (config === undefined) return live;
  switch (shape.kind) {
    case "scalar":
    case "atomic":
      return config;
    case "struct": {
      const plan = shape.plan();
      return mergeMembers(live, config, (name) => plan.byName.get(name)?.shape ?? FREE);
    }
    case "map":
      return mergeMembers(live, config, () => shape.of);
    case "keyed":
    case "set":
      return isEmptyList(live) && isEmptyList(config) ? config : mergeItems(live, config, shape);
    case "free":
      return isJsonObject(live) && isJsonObject(config) ? mergeMembers(live, config, () => FREE) : config;
  }
}

/** null in place of a map: the manager makes no statement about its members, so the live ones stay. */
function mergeMembers(live: OptionalValue, config: OptionalValue, shapeOf: (name: string) => Shape): OptionalValue {
  const left = isJsonObject(live) ? live : {};
  const right = isJsonObject(config) ? config : {};
  const merged: JsonObject = {};
  let isEmpty = true;
  for (const name of [...Object.keys(left), ...Object.keys(right).filter((key) => !Object.hasOwn(left, key))]) {
    const value = mergeValues(getMember(left, name), getMember(right, name), shapeOf(name));
    if (value === undefined) continue;
    setMember(merged, name, value);
    isEmpty = false;
  }
  return isEmpty ? config : merged;
}

function isEmptyList(value: OptionalValue): boolean {
  return !Array.isArray(value) || value.length === 0;
}

interface Item {
  element: PathElement;
  value: JsonValue;
}

/** Live items without identity get an identity of their own, so that they stay. */
function itemsOf(value: OptionalValue, shape: ListShape): Item[] {
  if (!Array.isArray(value)) return [];
  return value.map((item, at) => ({ element: itemElement(shape, item) ?? `i:${at}`, value: item }));
}

/**
 * Items of both lists stand in the order of the configuration; items that only the live list has keep their place among their
 * neighbours. An item that the live list has several times is replaced by that of the configuration.
 */
function mergeItems(live: OptionalValue, config: OptionalValue, shape: ListShape): OptionalValue {
  const left = itemsOf(live, shape);
  const right = itemsOf(config, shape);
  const wanted = new Set(right.map((item) => item.element));
  const known = new Map<PathElement, OptionalValue>();
  for (const { element, value } of left) known.set(element, known.has(element) ? undefined : value);
  const shared = right.filter((item) => known.has(item.element)).map((item) => item.element);
  const done = new Set<PathElement>();
  const merged: JsonValue[] = [];
  // by index: removing the first of a long array moves all others
  let nextShared = 0;
  const take = ({ element, value }: Item): void => {
    done.add(element);
    if (shared[nextShared] === element) nextShared++;
    const result = mergeValues(known.get(element), value, shape.of);
    if (result !== undefined) merged.push(result);
  };
  let l = 0;
  for (let r = 0; l < left.length || r < right.length;) {
    const own = left[l];
    const next = right[r];
    if (own && next && own.element === next.element) {
      take(next);
      l++;
      r++;
    } else if (own && !wanted.has(own.element)) {
      merged.push(own.value);
      l++;
    } else if (own && next && nextShared < shared.length && own.element !== shared[nextShared]) {
      // it is placed where the configuration has it
      l++;
    } else {
      if (own && done.has(own.element)) l++;
      if (next) {
        take(next);
        r++;
      }
    }
  }
  return merged.length > 0 ? merged : undefined;
}
