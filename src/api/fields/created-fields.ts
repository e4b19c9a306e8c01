/**
 * FieldsV1 of everything that a create sets, in one walk over the object. A comparison with an empty object gives the same tree and costs
 * more.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json/json-value";
import { semanticEqual } from "../meta/equality";
import { UNTRACKED_METADATA } from "./field-set-of";
import { type ListShape, itemElement, planOf, type Shape, type StructPlan } from "./field-plan";
import { FieldsSize } from "./fields-size";
import { fieldElement, type PathElement, sortedElements } from "./path-element";
import { type FieldContext, ignoredMembers } from "./ownership";

/** undefined = nothing is owned, or a list item has none of its keys. Throws FieldsTooLarge. */
export function createdFields(object: JsonObject, context: FieldContext): JsonObject | undefined {
  const walk = new CreateWalk();
  const ignored = ignoredMembers(context);
  const tree: JsonObject = {};
  for (const { name, element, shape, implied } of planOf(context.schema).members) {
    const value = object[name];
    if (value === undefined || ignored.includes(name)) continue;
    const below = name === "metadata" ? walk.metadata(value, shape) : walk.sinceImplied(value, shape, implied);
    if (below) tree[element] = below;
  }
  if (walk.failed) return undefined;
  for (const _ in tree) return tree;
  return undefined;
}

class CreateWalk {
  failed = false;
  readonly #size = new FieldsSize();

  metadata(value: JsonValue, shape: Shape): JsonObject | undefined {
    if (shape.kind !== "struct" || !isJsonObject(value)) return undefined;
    return this.grown(value, shape.plan(), UNTRACKED_METADATA);
  }

  /** The tree that is owned by setting a value that was `implied` before (undefined = absent); undefined = nothing. */
  sinceImplied(value: JsonValue, shape: Shape, implied: JsonValue | undefined): JsonObject | undefined {
    if (implied === undefined) return this.whole(value, shape);
    switch (shape.kind) {
      case "struct":
        return isJsonObject(value) ? this.grown(value, shape.plan(), undefined) : undefined;
      case "scalar":
      case "atomic":
      case "free":
        return semanticEqual(value, implied) ? undefined : {};
      case "map":
      case "keyed":
      case "set": {
        const tree: JsonObject = {};
        this.fill(tree, value, shape);
        for (const _ in tree) return tree;
        return undefined;
      }
    }
  }

  /** A struct that was there before, though empty: it is not owned itself. */
  private grown(object: JsonObject, plan: StructPlan, except: ReadonlySet<string> | undefined): JsonObject | undefined {
    const tree: JsonObject = {};
    let isEmpty = true;
    for (const { name, element, shape, implied } of plan.members) {
      const value = object[name];
      if (value === undefined || except?.has(name)) continue;
      const below = this.sinceImplied(value, shape, implied);
      if (below === undefined) continue;
      tree[element] = below;
      isEmpty = false;
    }
    return isEmpty ? undefined : tree;
  }

  /** A value that was absent before: it is owned itself, with everything in it. */
  private whole(value: JsonValue, shape: Shape): JsonObject {
    const tree: JsonObject = {};
    if (shape.kind === "scalar" || shape.kind === "atomic") return tree;
    tree["."] = {};
    this.fill(tree, value, shape);
    // a leaf is written without the mark
    let size = 0;
    for (const _ in tree) if (++size > 1) return tree;
    return {};
  }

  private fill(tree: JsonObject, value: JsonValue, shape: Shape): void {
    switch (shape.kind) {
      case "struct":
        this.fillStruct(tree, isJsonObject(value) ? value : {}, shape.plan());
        return;
      case "map":
        if (isJsonObject(value)) this.fillMap(tree, value, shape.of);
        return;
      case "keyed":
      case "set":
        if (Array.isArray(value)) this.fillList(tree, value, shape);
        return;
      case "scalar":
      case "atomic":
      case "free":
    }
  }

  private fillStruct(tree: JsonObject, object: JsonObject, plan: StructPlan): void {
    for (const { name, element, shape, implied } of plan.members) {
      const value = object[name] ?? implied;
      if (value !== undefined) tree[element] = this.whole(value, shape);
    }
  }

  private fillMap(tree: JsonObject, map: JsonObject, of: Shape): void {
    const keys = Object.keys(map);
    for (const key of keys) this.#size.add(fieldElement(key));
    if (keys.length > 1) keys.sort();
    for (const key of keys) tree[fieldElement(key)] = this.whole(map[key] ?? null, of);
  }

  private fillList(tree: JsonObject, list: readonly JsonValue[], shape: ListShape): void {
    const items = new Map<PathElement, JsonValue | undefined>();
    for (const item of list) {
      const element = itemElement(shape, item);
      if (element === undefined) this.failed = true;
      // an item that the list has several times is one leaf
      else items.set(element, items.has(element) ? undefined : item);
    }
    for (const element of items.keys()) this.#size.add(element);
    for (const element of sortedElements(items.keys())) {
      const item = items.get(element);
      tree[element] = item === undefined ? {} : this.whole(item, shape.of);
    }
  }
}
