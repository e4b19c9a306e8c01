/** Which objects of a store a CollectionRequest means: its namespace and its selectors as a filter. */
import { err, ok, type Result } from "../../../core/base/result";
import { parseFieldSelector } from "../../meta/field-selector";
import type { KubeObject } from "../../meta/kubernetes";
import { parseLabelSelector } from "../../meta/selector";
import { badRequest, type Status } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest, WatchedCollection } from "../../rpc/store";
import type { Filter } from "./filter";
import { type KeyRange, namespaceRange, storageKey } from "../state/keys";

/** What a filter has to know of a kind. */
type FilteredKind = Pick<
  ResourceDefinition,
  "group" | "namespaced" | "fieldLabels" | "unknownFieldLabel" | "selectableFields" | "representationOf"
>;

/** The objects that a request sees, or the 400 of a selector that cannot be read. `definition` is the requested representation. */
export function filterOf(
  request: Pick<CollectionRequest, "namespace" | "labelSelector" | "fieldSelector">,
  definition: FilteredKind,
): Result<Filter, Status> {
  const labels = parseLabelSelector(request.labelSelector);
  if (!labels.ok) return err(badRequest(labels.error));
  const fields = parseFieldSelector(request.fieldSelector);
  if (!fields.ok) return err(badRequest(fields.error));
  const known = fieldLabelsOf(definition);
  const unknown = fields.value.terms.find((term) => !known.includes(term.field));
  if (unknown) return err(badRequest(definition.unknownFieldLabel(unknown.field)));
  const range = rangeOf(request.namespace, fields.value.exact("metadata.name"), definition);
  if (labels.value.empty && fields.value.empty) return ok({ range });
  const convert = definition.representationOf?.fromStored;
  const matches = (stored: KubeObject): boolean => {
    const object = convert ? convert(stored) : stored;
    if (!labels.value.matches(object.metadata?.labels)) return false;
    if (fields.value.empty) return true;
    const { name = "", namespace = "" } = object.metadata ?? {};
    return fields.value.matches({ ...definition.selectableFields(object), "metadata.name": name, "metadata.namespace": namespace });
  };
  return ok({ range, selector: JSON.stringify([definition.group, request.labelSelector, request.fieldSelector]), matches });
}

/**
 * The fields that a selector may name. Kinds without fields of their own take both of metadata, in whatever scope; Nodes and Namespaces, which have
 * some, know no namespace. Source: apimachinery pkg/runtime/conversion.go, kubernetes pkg/apis/core/v1/conversion.go.
 */
function fieldLabelsOf({ namespaced, fieldLabels }: FilteredKind): readonly string[] {
  if (!namespaced && fieldLabels.length > 0) return ["metadata.name", ...fieldLabels];
  return ["metadata.name", "metadata.namespace", ...fieldLabels];
}

/** One named object is a range of one key. */
function rangeOf(namespace: string, name: string | undefined, definition: FilteredKind): KeyRange {
  if (!name || (definition.namespaced && !namespace)) return namespaceRange(namespace);
  const key = storageKey({ namespace, name });
  return { from: key, to: `${key}\0` };
}

/** As upstream's CleanScope: a watch of one name has the scope of an object. */
export function scopeOf({ namespace }: Pick<CollectionRequest, "namespace">, range: KeyRange): WatchedCollection["scope"] {
  if (range.to === `${range.from}\0`) return "resource";
  return namespace === "" ? "cluster" : "namespace";
}
