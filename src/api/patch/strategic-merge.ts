/**
 * Strategic merge patch (upstream apimachinery pkg/util/strategicpatch), driven by the field schema:
 *
 *   map or message       merge member by member, null deletes
 *   list with mergeKey   merge element by element; `{"$patch":"delete",key}` removes one, `{"$patch":"replace"}` replaces the list
 *   list of kind "set"   union
 *   everything else      replace
 *
 * `$setElementOrder/F` orders any list, and `$deleteFromPrimitiveList/F` removes from any list of primitives.
 *
 * A list where none is stored is the patch's, equal merge keys and all. Elements of equal keys are merged one after the other into the first of their
 * key. Each merge reads the whole element, so all merges of a patch together have a limit.
 *
 * Pure: the result shares unchanged parts with `current`, neither input is changed.
 */
import { err, ok } from "../../core/base/result";
import type { Result } from "../../core/base/result";
import type { Field, FieldType, MessageSchema } from "../schema/types";
import { DELETE_PRIMITIVES, PATCH, SET_ORDER } from "./directives";
import { directiveList, elementDirective, isDirective, type MembersMet, passOver, patchDirective } from "./directives";
import { retained, withoutDirectives } from "./directives";
import { goMap } from "./go-map";
import { firstPlaces, orderElements } from "./element-order";
import type { ElementIdentity } from "./element-order";
import { type PatchBody, type Patched, wrongForm } from "./patch-body";
import { getMember, isJsonObject, setMember } from "../schema/json/json-value";
import type { JsonObject, JsonValue } from "../schema/json/json-value";
import { type PatchError, PatchRefusal, refuse } from "./patch-error";

/** The schema of an object's members: a message, a map of one type, or unknown. */
type MemberTypes = (member: string) => FieldType | undefined;

type ListType = Extract<FieldType, { kind: "list" }>;

/**
 * Members that all merges of one patch may read, an element of a list counted as two. A patch without equal merge keys reads each stored member once,
 * which is half as many in the largest objects. Upstream has no limit.
 */
const MERGED_MEMBERS_MAX = 400_000;
const MEMBERS_OF_ELEMENT = 2;

const UNKNOWN_SHAPE: MemberTypes = () => undefined;

function shapeOfMessage(schema: MessageSchema): MemberTypes {
  return (member) => {
    const field: Field | undefined = schema.byName.get(member);
    return field?.type;
  };
}

function shapeOf(type: FieldType | undefined): MemberTypes {
  if (type?.kind === "message") return shapeOfMessage(type.message());
  if (type?.kind === "map") return () => type.of;
  return UNKNOWN_SHAPE;
}

/** Objects of these types are values, not maps to merge. */
function isOpaque(type: FieldType | undefined): boolean {
  return type?.kind === "fieldsV1";
}

/** The patched object; the patch must be an object. `schema` is of the object's kind. */
export function applyStrategicMerge(current: JsonObject, { value }: PatchBody, schema: MessageSchema): Result<Patched, PatchError> {
  // Go decodes null as the empty map
  const changes = value ?? {};
  if (!isJsonObject(changes)) return err({ reason: "malformed", message: wrongForm(changes, "map[string]interface {}") });
  try {
    const merge = new Merge();
    const object = merge.object(current, changes, shapeOfMessage(schema));
    return ok({ object, members: merge.members });
  } catch (error) {
    if (error instanceof PatchRefusal) return err(error.refusal);
    throw error;
  }
}

/** One merge with all that nests in it. */
class Merge implements MembersMet {
  /** of all objects in the patch */
  members = 0;
  private read = 0;

  object(current: JsonObject, patch: JsonObject, shape: MemberTypes): JsonObject {
    const directive = patchDirective(patch);
    if (directive === "delete") {
      passOver(patch, this);
      return {};
    }
    if (directive === "replace") {
      const { [PATCH]: _, ...replacement } = patch;
      this.members++;
      return withoutDirectives(replacement, this) as JsonObject;
    }
    this.count(Object.keys(current).length);
    const base = retained(current, patch);
    const next: JsonObject = {};
    for (const key of Object.keys(base)) if (getMember(patch, key) !== null) setMember(next, key, base[key] ?? null);
    const named = new Set<string>();
    for (const key in patch) {
      this.members++;
      if (!isDirective(key)) {
        this.member(next, patch, key, shape(key));
        continue;
      }
      passOver(patch[key] ?? null, this);
      const name = listNamedBy(key);
      // A list with a value of its own has its turn with that.
      if (name === undefined || named.has(name) || Object.hasOwn(patch, name)) continue;
      named.add(name);
      this.member(next, patch, name, shape(name));
    }
    return next;
  }

  private member(next: JsonObject, patch: JsonObject, key: string, type: FieldType | undefined): void {
    const wanted = getMember(patch, key);
    if (wanted === null) return;
    const current = getMember(next, key);
    if (type?.kind === "list" && (type.list?.mergeKey !== undefined || hasListDirective(patch, key))) {
      const merged = this.listMember(current, wanted, patch, key, type);
      if (merged !== undefined) setMember(next, key, merged);
      return;
    }
    if (wanted === undefined) return;
    if (isJsonObject(wanted) && isJsonObject(current) && !isOpaque(type)) setMember(next, key, this.object(current, wanted, shapeOf(type)));
    else setMember(next, key, withoutDirectives(wanted, this));
  }

  /** A list that merges or has directives; undefined = there is no list before or after. */
  private listMember(
    current: JsonValue | undefined,
    wanted: JsonValue | undefined,
    patch: JsonObject,
    key: string,
    type: ListType,
  ): JsonValue | undefined {
    if (wanted !== undefined && !Array.isArray(wanted)) return withoutDirectives(wanted, this);
    if (wanted?.some(Array.isArray)) refuse("unprocessable", "lists of lists are not supported");
    const mergeKey = type.list?.mergeKey;
    const order = directiveList(patch, `${SET_ORDER}${key}`);
    const removed = directiveList(patch, `${DELETE_PRIMITIVES}${key}`);
    const identity: ElementIdentity =
      mergeKey === undefined || mergeKey === "set" ? (element) => element : (element) => keyOf(element, mergeKey);
    if (order && wanted) checkOrder(order, wanted, identity);
    const gone = new Set(removed);
    const left = (list: readonly JsonValue[]): JsonValue[] => list.filter((element) => !gone.has(element));
    if (!Array.isArray(current)) return wanted === undefined ? current : left(withoutDirectives(wanted, this) as JsonValue[]);
    this.count(current.length * MEMBERS_OF_ELEMENT);
    const merged = left(this.elements(current, wanted, type));
    if (mergeKey === undefined && !order) return merged;
    const named = order ?? (wanted ?? []).filter((element) => !isJsonObject(element) || !Object.hasOwn(element, PATCH));
    return orderElements(merged, named.map(identity), current, identity);
  }

  /** The elements before their order. A list without a merge key is replaced by the patch's, where it has one. */
  private elements(stored: readonly JsonValue[], wanted: readonly JsonValue[] | undefined, type: ListType): JsonValue[] {
    const mergeKey = type.list?.mergeKey;
    if (mergeKey === undefined) {
      // What is stored is no part of the patch.
      const met = wanted ? this : { members: 0 };
      return (wanted ?? stored).map((element) => withoutDirectives(element, met));
    }
    if (mergeKey !== "set") return this.keyed(stored, wanted ?? [], type, mergeKey);
    passOver([...(wanted ?? [])], this);
    return [...new Set(stored.concat(wanted ?? []))];
  }

  private keyed(stored: readonly JsonValue[], wanted: readonly JsonValue[], type: ListType, mergeKey: string): JsonValue[] {
    const gone = new Set<JsonValue | undefined>();
    const plain: JsonObject[] = [];
    let replaces = false;
    for (const element of wanted) {
      if (!isJsonObject(element)) refuse("internal", `list element types are not identical: ${goMap([[...stored], [...wanted]])}`);
      const directive = elementDirective(element);
      if (directive !== undefined) passOver(element, this);
      if (directive === "replace") replaces = true;
      else if (directive === "delete") gone.add(requiredKey(element, mergeKey));
      else plain.push(element);
    }
    if (replaces) return plain.map((element) => withoutDirectives(element, this));
    const merged = gone.size === 0 ? [...stored] : stored.filter((element) => !gone.has(keyOf(element, mergeKey)));
    const places = firstPlaces(merged, (element) => keyOf(element, mergeKey));
    const shape = shapeOf(type.of);
    for (const element of plain) {
      const name = requiredKey(element, mergeKey);
      const place = places.get(name);
      const before = place === undefined ? undefined : merged[place];
      if (place !== undefined && isJsonObject(before)) merged[place] = this.object(before, element, shape);
      else {
        merged.push(withoutDirectives(element, this));
        if (place === undefined) places.set(name, merged.length - 1);
      }
    }
    return merged;
  }

  private count(members: number): void {
    this.read += members;
    if (this.read > MERGED_MEMBERS_MAX) refuse("tooLarge", `limit is ${MERGED_MEMBERS_MAX} members of objects and lists that are merged`);
  }
}

/** The list that a directive is about; undefined for directives about the object itself. */
function listNamedBy(directive: string): string | undefined {
  const prefix = [SET_ORDER, DELETE_PRIMITIVES].find((one) => directive.startsWith(one));
  return prefix === undefined ? undefined : directive.slice(prefix.length);
}

function hasListDirective(patch: JsonObject, key: string): boolean {
  return Object.hasOwn(patch, `${SET_ORDER}${key}`) || Object.hasOwn(patch, `${DELETE_PRIMITIVES}${key}`);
}

function keyOf(element: JsonValue, mergeKey: string): JsonValue | undefined {
  return isJsonObject(element) ? getMember(element, mergeKey) : element;
}

/**
 * Elements of the patch must stand in `$setElementOrder`, in the same order; equal keys count as often as they stand there. An empty list on either side
 * is not judged. Source: upstream strategicpatch/patch.go, validatePatchWithSetOrderList.
 */
function checkOrder(order: readonly JsonValue[], wanted: readonly JsonValue[], identity: ElementIdentity): void {
  if (order.length === 0) return;
  const elements = wanted.filter((element) => !isJsonObject(element) || !Object.hasOwn(element, PATCH));
  let next = 0;
  for (const element of order) if (next < elements.length && identity(element) === identity(elements[next] ?? null)) next++;
  if (next < elements.length)
    refuse("malformed", `The order in patch list:\n${goMap([...wanted])}\n doesn't match $setElementOrder list:\n${goMap([...order])}\n`);
}

function requiredKey(element: JsonObject, mergeKey: string): JsonValue {
  const value = getMember(element, mergeKey);
  if (value === undefined) refuse("internal", `map: ${goMap(element)} does not contain declared merge key: ${mergeKey}`);
  return value;
}
