/** Path sets that were written under an older schema (structured-merge-diff typed/reconcile_schema). */
import type { MessageSchema } from "../schema/types";
import { type Managers, withFields } from "./managed-fields";
import { rootShape, type Shape, shapeBelow } from "./field-plan";
import { PathSet } from "./path-set";

/** The managers with sets of the present schema: an owned part of a value that is now one leaf becomes the whole leaf. */
export function reconciled(managers: Managers, schemaOf: (apiVersion: string) => MessageSchema | undefined): Managers {
  const result: Managers = new Map();
  for (const [identity, manager] of managers) {
    const schema = schemaOf(manager.apiVersion);
    const fields = schema ? wholeLeaves(manager.fields, rootShape(schema)) : manager.fields;
    result.set(identity, fields === manager.fields ? manager : withFields(manager, fields));
  }
  return result;
}

/** The same set when nothing has to change. */
function wholeLeaves(set: PathSet, shape: Shape): PathSet {
  if (shape.kind === "atomic") return set.owned && isLeaf(set) ? set : PathSet.leaf();
  if (shape.kind === "scalar" || shape.kind === "free") return set;
  let changed = false;
  const result = new PathSet();
  result.owned = set.owned;
  for (const [element, node] of set.entries()) {
    const below = shapeBelow(shape, element);
    const next = below ? wholeLeaves(node, below) : node;
    changed ||= next !== node;
    result.attach(element, next);
  }
  return changed ? result : set;
}

function isLeaf(set: PathSet): boolean {
  for (const _ of set.entries()) return false;
  return true;
}
