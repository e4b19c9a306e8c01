/** The OpenAPI v3 documents of a server as one, for a program that makes requests of it. */
import { definitions } from "../../../src/api/registry/all";
import { ownPaths } from "./own-paths";
import { samples } from "../../../test/e2e/conformance/matrix/samples";

type Json = Record<string, unknown>;

interface Operation {
  parameters?: { name: string; in: string; schema: Json }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { content?: Record<string, { schema: Json }> }>;
  "x-kubernetes-action"?: string;
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json> };
}

export interface FuzzDocument extends Document {
  /** `group/kind` -> a small valid object, without its name */
  "x-samples": Record<string, Json>;
}

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const KINDS = "x-kubernetes-group-version-kind";
const JSON_TYPE = "application/json";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const JSON_PATCH = "application/json-patch+json";
/** An answer in another form, as kubectl and the metadata client ask for it. */
const form = (type: string, kind: string): string => `${type};as=${kind};g=meta.k8s.io;v=v1`;
const ACCEPTED = [
  "*/*",
  JSON_TYPE,
  "application/yaml",
  PROTOBUF,
  ...["Table", "PartialObjectMetadata", "PartialObjectMetadataList"].map((kind) => form(JSON_TYPE, kind)),
  ...["PartialObjectMetadata", "PartialObjectMetadataList"].map((kind) => form(PROTOBUF, kind)),
  form("application/yaml", "Table"),
];
/** Values that say something; of any others the server says that they are wrong. */
const VALUES: Readonly<Record<string, readonly (string | number)[]>> = {
  Accept: ACCEPTED,
  dryRun: ["All"],
  fieldManager: ["one", "two"],
  fieldSelector: ["metadata.name=a", "metadata.namespace!=default", ""],
  fieldValidation: ["Ignore", "Warn", "Strict"],
  gracePeriodSeconds: [0, 1, 30],
  labelSelector: ["a=b", "a!=b", "a in (b,c),!d", ""],
  limit: [0, 1, 500],
  pretty: ["true", "false"],
  propagationPolicy: ["Orphan", "Background", "Foreground"],
  resourceVersion: ["0", "1", ""],
  resourceVersionMatch: ["Exact", "NotOlderThan"],
};
/** What the operations of a JSON patch often name. */
const POINTERS = ["", "/metadata/name", "/metadata/labels", "/metadata/annotations/a~1b", "/metadata/finalizers", "/spec", "/spec/ports/0"];

/** Lists that stand in an answer even when they are empty. */
const NULL_LISTS = [
  ["io.k8s.api.discovery.v1.EndpointSlice", "endpoints"],
  ["io.k8s.api.discovery.v1.EndpointSlice", "ports"],
  ["io.k8s.api.rbac.v1.ClusterRole", "rules"],
  ["io.k8s.api.rbac.v1.Role", "rules"],
] as const;

/**
 * Reads the documents of all groups and versions. The result differs from what the server publishes in a few places, where upstream's document says
 * less than the API does. Parameters have values that mean something, and Accept is one of them. Patches are of their form and kind. A DELETE may
 * answer the object that stays. The paths of own-paths.ts are there, too; what is handed on to a node (nodes/proxy) is not, because its answers are
 * no objects. An unset time and an empty list of an EndpointSlice or of the rules of a role may be `null`. A condition may lack its time
 * (docs/compatibility.md, members with an empty value).
 *
 * @throws Error where a document cannot be read
 */
export async function fuzzDocument(url: string): Promise<FuzzDocument> {
  const { paths: listed } = await read<{ paths: Record<string, { serverRelativeURL: string }> }>(`${url}/openapi/v3`);
  const documents = await Promise.all(Object.values(listed).map(({ serverRelativeURL }) => read<Document>(url + serverRelativeURL)));
  const published = Object.assign({}, ...documents.map((document) => document.paths)) as Document["paths"];
  const direct = Object.entries(published).filter(([, { get }]) => get?.["x-kubernetes-action"] !== "connect");
  const paths = { ...Object.fromEntries(direct), ...structuredClone(ownPaths) } as Document["paths"];
  const schemas: Record<string, Json> = { JsonPatch: jsonPatch() };
  for (const [name, schema] of documents.flatMap(({ components }) => Object.entries(components.schemas)))
    schemas[name] = { ...schema, [KINDS]: [...kindsOf(schemas[name]), ...kindsOf(schema)] };
  for (const item of Object.values(paths)) adapt(item);
  for (const name of [`${META}.Time`, `${META}.MicroTime`]) schemas[name] = { ...schemas[name], nullable: true };
  for (const [kind, name] of NULL_LISTS) {
    const { properties } = schemas[kind] as { properties: Record<string, Json> };
    properties[name] = { ...properties[name], nullable: true };
  }
  const condition = schemas[`${META}.Condition`] as { required: string[] };
  condition.required = condition.required.filter((name) => name !== "lastTransitionTime");
  const info = { title: "Servicenet", version: "all groups" };
  return { openapi: "3.0.0", info, paths, components: { schemas }, "x-samples": samplesByKind() };
}

async function read<T>(url: string): Promise<T> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`GET ${url}: ${String(response.status)} ${await response.text()}`);
  return (await response.json()) as T;
}

function kindsOf(schema: Json | undefined): unknown[] {
  return (schema?.[KINDS] ?? []) as unknown[];
}

/** Changes the operations of a path. */
function adapt(item: Record<string, Operation>): void {
  const { get, patch, put, delete: remove } = item;
  const object = answerOf(get ?? put);
  for (const operation of Object.values(item)) {
    if (!operation.responses) continue;
    const parameters = [...(operation.parameters ?? []), { name: "Accept", in: "header", schema: { type: "string" } }];
    operation.parameters = parameters.map((parameter) => {
      const values = VALUES[parameter.name];
      return values ? { ...parameter, schema: { ...parameter.schema, enum: values } } : parameter;
    });
  }
  for (const [type, content] of Object.entries(patch?.requestBody?.content ?? {}))
    content.schema = type === JSON_PATCH ? { $ref: "#/components/schemas/JsonPatch" } : object;
  if (remove?.["x-kubernetes-action"] !== "delete") return;
  for (const { content = {} } of Object.values(remove.responses))
    for (const answer of Object.values(content)) answer.schema = { anyOf: [object, { $ref: `#/components/schemas/${META}.Status` }] };
}

function answerOf(operation: Operation | undefined): Json {
  return operation?.responses["200"]?.content?.[JSON_TYPE]?.schema ?? {};
}

function jsonPatch(): Json {
  const properties = {
    op: { type: "string", enum: ["add", "remove", "replace", "move", "copy", "test"] },
    path: { type: "string", enum: POINTERS },
    from: { type: "string", enum: POINTERS },
    value: {},
  };
  return { type: "array", items: { type: "object", required: ["op", "path"], properties } };
}

function samplesByKind(): Record<string, Json> {
  const kinds = new Map(definitions.map(({ group, resource, kind }) => [`${group}/${resource}`, `${group}/${kind}`]));
  return Object.fromEntries(Object.entries(samples).map(([key, sample]) => [kinds.get(key) ?? key, { ...sample.content(1, "default") }]));
}
