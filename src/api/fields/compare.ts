/** Which fields differ between two states of an object (structured-merge-diff typed/compare). */
import { semanticEqual } from "../meta/equality";
import { getMember, isJsonObject, type JsonObject, type JsonValue, type OptionalValue } from "../schema/json/json-value";
import type { MessageSchema } from "../schema/types";
import { itemElement, type ListShape, planOf, type Shape, type StructPlan } from "./field-plan";
import type { FieldsSize } from "./fields-size";
import { fieldElement, type PathElement } from "./path-element";
import { PathSet } from "./path-set";

/** No path is in two of the sets. An added or removed list, map or struct is in its set itself, with everything in it. */
export interface Comparison {
  added: PathSet;
  modified: PathSet;
  removed: PathSet;
}

export function isSame(comparison: Comparison): boolean {
  return comparison.added.isEmpty() && comparison.modified.isEmpty() && comparison.removed.isEmpty();
}

/**
 * Compares two objects of one schema, neither with kind or apiVersion. `ignored` names top-level members to leave out.
 * undefined = an item of an associative list has none of its keys, so the objects cannot be compared. `added` counts what `after` has more, and throws.
 */
export function compareObjects(
  before: JsonObject,
  after: JsonObject,
  schema: MessageSchema,
  ignored: readonly string[] = [],
  added?: FieldsSize,
): Comparison | undefined {
  const walk = new CompareWalk(added);
  walk.members(before, after, planOf(schema), ignored);
  return walk.failed ? undefined : walk.comparison;
}

class CompareWalk {
  readonly comparison: Comparison = { added: new PathSet(), modified: new PathSet(), removed: new PathSet() };
  failed = false;
  private readonly path: PathElement[] = [];

  constructor(private readonly added: FieldsSize | undefined) {}

  /** Members of a struct that at least one side has. */
  members(before: JsonObject | undefined, after: JsonObject | undefined, plan: StructPlan, ignored: readonly string[] = []): void {
    for (const { name, element, shape, implied } of plan.members) {
      const left = before && memberOf(before, name, implied);
      const right = after && memberOf(after, name, implied);
      if (left === right || ignored.includes(name)) continue;
      this.below(element, left, right, shape);
    }
  }

  private below(element: PathElement, before: OptionalValue, after: OptionalValue, shape: Shape): void {
    this.path.push(element);
    this.values(before, after, shape);
    this.path.pop();
  }

  /** Compares two values; at least one of them is there. */
  private values(before: OptionalValue, after: OptionalValue, shape: Shape): void {
    if (before === after) return;
    switch (shape.kind) {
      case "scalar":
      case "atomic":
      case "free":
        this.leaf(before, after);
        return;
      case "struct":
        this.members(structOf(before), structOf(after), shape.plan());
        break;
      case "map":
        this.entries(objectOf(before), objectOf(after), shape.of);
        break;
      case "keyed":
      case "set":
        this.items(listOf(before), listOf(after), shape);
    }
    if (before === undefined) this.comparison.added.insert(this.path);
    else if (after === undefined) this.comparison.removed.insert(this.path);
  }

  private leaf(before: OptionalValue, after: OptionalValue): void {
    if (before === undefined) this.comparison.added.insert(this.path);
    else if (after === undefined) this.comparison.removed.insert(this.path);
    else if (!semanticEqual(before, after)) this.comparison.modified.insert(this.path);
  }

  private entries(before: JsonObject | undefined, after: JsonObject | undefined, of: Shape): void {
    for (const key of keysOf(before, after)) {
      const element = fieldElement(key);
      const left = before && getMember(before, key);
      if (left === undefined) this.added?.add(element);
      this.below(element, left, after && getMember(after, key), of);
    }
  }

  private items(before: readonly JsonValue[], after: readonly JsonValue[], shape: ListShape): void {
    const left = this.index(before, shape);
    const right = this.index(after, shape);
    for (const [element, values] of left) this.item(element, values, right.get(element) ?? [], shape);
    for (const [element, values] of right) {
      if (left.has(element)) continue;
      this.added?.add(element);
      this.item(element, [], values, shape);
    }
  }

  /** An item that a list has several times is one leaf: its parts cannot be told apart. */
  private item(element: PathElement, before: readonly JsonValue[], after: readonly JsonValue[], shape: ListShape): void {
    const wasRepeated = before.length > 1;
    const isRepeated = after.length > 1;
    if (!wasRepeated && !isRepeated) {
      this.below(element, before[0], after[0], shape.of);
      return;
    }
    if (!wasRepeated && before.length > 0) this.below(element, before[0], undefined, shape.of);
    if (!isRepeated && after.length > 0) this.below(element, undefined, after[0], shape.of);
    this.path.push(element);
    this.leaf(wasRepeated ? [...before] : undefined, isRepeated ? [...after] : undefined);
    this.path.pop();
  }

  private index(list: readonly JsonValue[], shape: ListShape): Map<PathElement, JsonValue[]> {
    const index = new Map<PathElement, JsonValue[]>();
    for (const item of list) {
      const element = itemElement(shape, item);
      if (element === undefined) {
        this.failed = true;
        continue;
      }
      const values = index.get(element);
      if (values) values.push(item);
      else index.set(element, [item]);
    }
    return index;
  }
}

function memberOf(object: JsonObject, name: string, implied: OptionalValue): OptionalValue {
  const value = object[name];
  return value === undefined ? implied : value;
}

/** null is a struct without members that is present. */
function structOf(value: OptionalValue): JsonObject | undefined {
  return value === undefined ? undefined : isJsonObject(value) ? value : {};
}

function objectOf(value: OptionalValue): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function listOf(value: OptionalValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function keysOf(before: JsonObject | undefined, after: JsonObject | undefined): string[] {
  const keys = before ? Object.keys(before) : [];
  if (after) for (const key of Object.keys(after)) if (before === undefined || !Object.hasOwn(before, key)) keys.push(key);
  return keys;
}
