/**
 * The OpenAPI 2.0 document of the whole server (`/openapi/v2`), made from the 3.0 documents: both state the same.
 * Form: upstream kube-openapi. In 2.0 a reference stands beside its description; 3.0 wraps it in allOf.
 */
import { sorted, type OpenApiSchema } from "./openapi-components";
import type { OpenApiDocument } from "./openapi";

export interface OpenApiV2Document {
  swagger: "2.0";
  info: { title: string; version: string };
  paths: Record<string, OpenApiSchema>;
  definitions: Record<string, OpenApiSchema>;
}

const KINDS = "x-kubernetes-group-version-kind";
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"];

/** Merges the documents of all groups and versions. A definition that stands in several documents carries the kinds of all. */
export function openApiV2Document(documents: readonly OpenApiDocument[]): OpenApiV2Document {
  const paths = new Map<string, OpenApiSchema>();
  const definitions = new Map<string, OpenApiSchema>();
  for (const document of documents) {
    for (const [path, item] of Object.entries(document.paths)) paths.set(path, pathItem(item));
    for (const [name, component] of Object.entries(document.components.schemas)) {
      const definition = schemaOf(component);
      definitions.set(name, withKindsOf(definition, definitions.get(name)));
    }
  }
  const { title = "", version = "" } = documents[0]?.info ?? {};
  return { swagger: "2.0", info: { title, version }, paths: sorted(paths), definitions: sorted(definitions) };
}

function withKindsOf(definition: OpenApiSchema, other: OpenApiSchema | undefined): OpenApiSchema {
  if (!other?.[KINDS]) return definition;
  const kinds = new Map<string, unknown>();
  for (const kind of [...(other[KINDS] as unknown[]), ...((definition[KINDS] ?? []) as unknown[])]) kinds.set(JSON.stringify(kind), kind);
  return { ...definition, [KINDS]: [...kinds.values()] };
}

function pathItem(item: OpenApiSchema): OpenApiSchema {
  const out: OpenApiSchema = {};
  if (Array.isArray(item["parameters"]) && item["parameters"].length > 0) out["parameters"] = parametersOf(item["parameters"]);
  for (const method of METHODS) if (item[method]) out[method] = operation(item[method] as OpenApiSchema);
  return out;
}

interface Content {
  content: Record<string, { schema: OpenApiSchema }>;
}

/** The schema of a body or an answer, whatever its media type. */
function contentSchema({ content }: Content): OpenApiSchema {
  return schemaOf(Object.values(content)[0]?.schema ?? {});
}

function operation({ requestBody, responses, parameters, ...rest }: OpenApiSchema): OpenApiSchema {
  const body = requestBody as (Content & { required?: boolean }) | undefined;
  const bodies = body ? [{ name: "body", in: "body", ...(body.required ? { required: true } : {}), schema: contentSchema(body) }] : [];
  const answers = responses as Record<string, Content & { description: string }>;
  return {
    ...rest,
    consumes: body ? Object.keys(body.content) : ["*/*"],
    produces: [...new Set(Object.values(answers).flatMap(({ content }) => Object.keys(content)))],
    parameters: [...bodies, ...parametersOf(parameters as OpenApiSchema[])],
    responses: Object.fromEntries(
      Object.entries(answers).map(([code, answer]) => [code, { description: answer.description, schema: contentSchema(answer) }]),
    ),
  };
}

/** 2.0 names the type of a parameter where 3.0 has a schema. */
function parametersOf(parameters: readonly OpenApiSchema[]): OpenApiSchema[] {
  return parameters.map(({ schema, ...parameter }) => ({ ...parameter, ...(schema as OpenApiSchema) }));
}

function schemaOf(schema: OpenApiSchema): OpenApiSchema {
  const { $ref, allOf, oneOf, items, properties, additionalProperties, ...rest } = schema;
  if (typeof $ref === "string") return { ...rest, $ref: $ref.replace("#/components/schemas/", "#/definitions/") };
  const [only] = (allOf ?? []) as OpenApiSchema[];
  if (only) return { ...rest, ...schemaOf(only) };
  return {
    ...rest,
    // 2.0 has no alternatives: such types are strings with a format
    ...(oneOf ? { type: "string" } : {}),
    ...(items ? { items: schemaOf(items as OpenApiSchema) } : {}),
    ...(additionalProperties ? { additionalProperties: schemaOf(additionalProperties as OpenApiSchema) } : {}),
    ...(properties
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, schemaOf(property as OpenApiSchema)])),
        }
      : {}),
  };
}
