/** Removes the fields that a manager applied last time and no longer applies (structured-merge-diff merge/update.go prune). */
import type { JsonObject } from "../schema/json/json-value";
import type { MessageSchema } from "../schema/types";
import { fieldSetOf } from "./field-set-of";
import type { Manager, Managers } from "./managed-fields";
import { type FieldContext, formOf } from "./ownership";
import { PathSet } from "./path-set";
import { removeItems, withNamedMembers } from "./remove";

/**
 * `merged` without the fields of `last` that nobody owns any more. `managers` already have the applier's new fields. A list, map or
 * struct is removed as a whole only when nobody owns anything in it; until then its unowned members stay.
 */
export function prune(merged: JsonObject, last: Manager | undefined, managers: Managers, context: FieldContext): JsonObject {
  if (!last || last.fields.isEmpty()) return merged;
  const form = formOf(context, last.apiVersion);
  if (!form) return merged;
  const { schema, convert } = form;
  const whole = convert ? convert.from(merged) : merged;
  const lastNamed = withNamedMembers(last.fields, schema);
  const bare = removeItems(whole, lastNamed, schema);
  const pruned = convert ? convert.to(bare) : bare;
  const owned = addBackOwned(merged, pruned, managers, last.apiVersion, context);
  // members of a removed list or struct that this manager never owned come back
  const gone = membersOf(whole, schema).difference(membersOf(convert ? convert.from(owned) : owned, schema));
  const rest = removeItems(whole, gone.intersection(lastNamed), schema);
  return convert ? convert.to(rest) : rest;
}

/** The version of the last apply comes first, because the others are converted from its result. */
function addBackOwned(merged: JsonObject, pruned: JsonObject, managers: Managers, first: string, context: FieldContext): JsonObject {
  const owned = new Map<string, PathSet[]>([[first, []]]);
  for (const { apiVersion, fields } of managers.values()) {
    const sets = owned.get(apiVersion);
    if (sets) sets.push(fields);
    else owned.set(apiVersion, [fields]);
  }
  let result = pruned;
  for (const [apiVersion, sets] of owned) {
    const fields = PathSet.unionOf(sets);
    const form = formOf(context, apiVersion);
    if (!form || fields.isEmpty()) continue;
    const { schema, convert } = form;
    const whole = convert ? convert.from(merged) : merged;
    const left = membersOf(convert ? convert.from(result) : result, schema).union(withNamedMembers(fields, schema));
    const rest = removeItems(whole, membersOf(whole, schema).difference(left), schema);
    result = convert ? convert.to(rest) : rest;
  }
  return result;
}

function membersOf(object: JsonObject, schema: MessageSchema): PathSet {
  return withNamedMembers(fieldSetOf(object, schema), schema);
}
