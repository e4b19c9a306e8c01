/**
 * Schemas -> `components.schemas` of an OpenAPI 3.0 document: what `kubectl explain` prints, what client-side apply takes its merge
 * keys from. Form and extension names: kube-openapi pkg/generators, strategicpatch/meta.go (PatchMetaFromOpenAPIV3).
 */
import type { Field, FieldType, ListSemantics, MessageSchema } from "../types";

export type OpenApiSchema = Record<string, unknown>;

export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const TIME = `${META}Time`;
const MICRO_TIME = `${META}MicroTime`;
const FIELDS_V1 = `${META}FieldsV1`;
const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

/** The types that are no messages but have a name of their own. */
const SCALARS: Record<string, OpenApiSchema> = {
  [TIME]: { description: "A time in RFC 3339 form, whole seconds.", type: "string", format: "date-time" },
  [MICRO_TIME]: { description: "A time in RFC 3339 form with microseconds.", type: "string", format: "date-time" },
  [FIELDS_V1]: { description: "A set of fields as a tree of JSON objects.", type: "object" },
  [QUANTITY]: {
    description: "A number with an optional SI suffix, for example 100m or 1.5Gi.",
    oneOf: [{ type: "string" }, { type: "number" }],
  },
  [INT_OR_STRING]: { description: "A number or a text.", format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
};

const API_VERSION = {
  description: "Group and version of this form of the object, for example v1 or networking.k8s.io/v1.",
  type: "string",
};
const KIND = { description: "Kind of the object in CamelCase. It cannot be changed.", type: "string" };

/** A reference to a component. */
export function refTo(name: string): OpenApiSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Components of the given messages and of all that they reach, by name in sorted order.
 * `kinds` has the kinds of each message (`x-kubernetes-group-version-kind`).
 */
export function openApiComponents(
  schemas: readonly MessageSchema[],
  kinds: ReadonlyMap<string, readonly GroupVersionKind[]> = new Map(),
): Record<string, OpenApiSchema> {
  const components = new Map<string, OpenApiSchema>();
  const visit = (schema: MessageSchema): void => {
    if (components.has(schema.name)) return;
    components.set(schema.name, messageSchema(schema, kinds.get(schema.name)));
    for (const field of schema.byName.values()) visitType(field.type);
  };
  const visitType = (type: FieldType): void => {
    if (type.kind === "message") visit(type.message());
    else if (type.kind === "list" || type.kind === "map") visitType(type.of);
    else {
      const name = scalarName(type);
      const scalar = name === undefined ? undefined : SCALARS[name];
      if (name !== undefined && scalar !== undefined) components.set(name, scalar);
    }
  };
  for (const schema of schemas) visit(schema);
  return sorted(components);
}

/** Entries as an object whose members stand in the order of their names. */
export function sorted<T>(entries: Iterable<[string, T]>): Record<string, T> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** The component of a list kind: its items are `schema`. */
export function listComponent(schema: MessageSchema, kind: GroupVersionKind): OpenApiSchema {
  return {
    description: `A list of ${kind.kind.replace(/List$/, "")} objects.`,
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: API_VERSION,
      items: { description: "The objects.", type: "array", items: { allOf: [refTo(schema.name)] } },
      kind: KIND,
      metadata: { description: "Revision of the list and the token of its next page.", allOf: [refTo(`${META}ListMeta`)] },
    },
    "x-kubernetes-group-version-kind": [kind],
  };
}

function messageSchema(schema: MessageSchema, kinds: readonly GroupVersionKind[] | undefined): OpenApiSchema {
  const properties = new Map<string, OpenApiSchema>();
  if (schema.isKind) properties.set("apiVersion", API_VERSION).set("kind", KIND);
  const required: string[] = [];
  for (const field of schema.byName.values()) {
    properties.set(field.name, fieldSchema(field));
    if (field.required) required.push(field.name);
  }
  return {
    ...(schema.description ? { description: schema.description } : {}),
    type: "object",
    ...(required.length > 0 ? { required: required.sort() } : {}),
    ...(properties.size > 0 ? { properties: sorted(properties) } : {}),
    ...(schema.atomic ? { "x-kubernetes-map-type": "atomic" } : {}),
    ...(kinds ? { "x-kubernetes-group-version-kind": kinds } : {}),
  };
}

function fieldSchema(field: Field): OpenApiSchema {
  return {
    ...(field.description ? { description: field.description } : {}),
    ...typeSchema(field.type),
    ...(field.default === undefined ? {} : { default: field.default }),
  };
}

function typeSchema(type: FieldType): OpenApiSchema {
  switch (type.kind) {
    case "string":
      return { type: "string", ...(type.format ? { format: type.format } : {}), ...(type.enum ? { enum: type.enum } : {}) };
    case "int32":
    case "int64":
      return { type: "integer", format: type.kind };
    case "bool":
      return { type: "boolean" };
    case "bytes":
      return { type: "string", format: "byte" };
    case "message":
      return { allOf: [refTo(type.message().name)] };
    case "list":
      return { type: "array", items: typeSchema(type.of), ...listExtensions(type.list ?? {}) };
    case "map":
      return { type: "object", additionalProperties: typeSchema(type.of), ...(type.atomic ? { "x-kubernetes-map-type": "atomic" } : {}) };
    default:
      return { allOf: [refTo(scalarName(type) ?? "")] };
  }
}

function listExtensions(list: ListSemantics): OpenApiSchema {
  const strategy = [...(list.mergeKey ? ["merge"] : []), ...(list.retainKeys ? ["retainKeys"] : [])].join(",");
  return {
    "x-kubernetes-list-type": list.listType ?? "atomic",
    ...(list.listMapKeys ? { "x-kubernetes-list-map-keys": list.listMapKeys } : {}),
    ...(list.mergeKey && list.mergeKey !== "set" ? { "x-kubernetes-patch-merge-key": list.mergeKey } : {}),
    ...(strategy ? { "x-kubernetes-patch-strategy": strategy } : {}),
  };
}

function scalarName(type: FieldType): string | undefined {
  switch (type.kind) {
    case "time":
      return TIME;
    case "microTime":
      return MICRO_TIME;
    case "fieldsV1":
      return FIELDS_V1;
    case "quantity":
      return QUANTITY;
    case "intOrString":
      return INT_OR_STRING;
    default:
      return undefined;
  }
}
