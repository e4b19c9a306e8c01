/**
 * The OpenAPI 3.0 document of one group and version (`/openapi/v3/apis/{group}/{version}`): paths, parameters and components.
 * kubectl reads three things of it: the `fieldValidation` parameter and the media types of each kind's PATCH, and the components by
 * their `x-kubernetes-group-version-kind`. The rest is for people and generators of clients.
 */
import { DeleteOptionsSchema, ListMeta, StatusSchema } from "../meta";
import { listComponent, openApiComponents, refTo, sorted, type GroupVersionKind, type OpenApiSchema } from "./openapi-components";
import type { MessageSchema } from "../types";

/** One served resource: what its description needs. */
export interface OpenApiResource extends GroupVersionKind {
  resource: string;
  namespaced: boolean;
  schema: MessageSchema;
  /** create, delete, deletecollection, get, list, patch, update, watch */
  verbs: readonly string[];
  /** status, finalize */
  subresources: readonly string[];
  actions?: readonly OpenApiAction[];
  connects?: readonly OpenApiConnect[];
  /** DELETE answers the object, not a Status */
  returnsDeletedObject?: boolean;
}

/** A create-only subresource whose documents are of a kind of their own. */
export interface OpenApiAction extends GroupVersionKind {
  name: string;
  schema: MessageSchema;
  description: string;
  /** the collection that takes the same documents */
  collection?: { resource: string };
  /** "answer" = the document comes back, else a Status does */
  effect: { does: string };
}

/** A subresource that hands requests on, with whatever path stands behind it. */
export interface OpenApiConnect {
  name: string;
  /** kind of its options */
  kind: string;
  /** one sentence: what the parameter `path` says */
  pathDescription: string;
}

export interface OpenApiDocument {
  openapi: "3.0.0";
  info: { title: string; version: string };
  paths: Record<string, OpenApiSchema>;
  components: { schemas: Record<string, OpenApiSchema> };
}

/** The methods that such a subresource takes. Upstream: pkg/registry/core/node/rest/proxy.go. */
export const CONNECT_METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] as const;

const BODY_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
/** A list can also be asked for as a watch. */
const LIST_TYPES = [...BODY_TYPES, "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const PATCH_TYPES = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];
const PATCH = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
const PATCH_COMPONENT = { description: "A patch in one of the forms that the content type names.", type: "object" };

/** Document of the resources of one group and version. Equal input gives an equal document, member for member. */
export function openApiDocument(options: { title: string; version: string; resources: readonly OpenApiResource[] }): OpenApiDocument {
  const { title, version, resources } = options;
  const kinds = new Map<string, GroupVersionKind[]>();
  const lists = new Map<string, OpenApiSchema>();
  const paths = new Map<string, OpenApiSchema>();
  for (const resource of resources) {
    kinds.set(resource.schema.name, [kindOf(resource)]);
    for (const action of resource.actions ?? []) kinds.set(action.schema.name, [kindOf(action)]);
    if (resource.verbs.includes("list")) {
      lists.set(listName(resource), listComponent(resource.schema, { ...kindOf(resource), kind: `${resource.kind}List` }));
    }
    for (const [path, item] of pathsOf(resource)) paths.set(path, item);
  }
  kinds.set(DeleteOptionsSchema.name, deleteOptionsKinds(resources));
  kinds.set(StatusSchema.name, [{ group: "", version: "v1", kind: "Status" }]);
  const own = resources.flatMap(({ schema, actions = [] }) => [schema, ...actions.map((action) => action.schema)]);
  const messages = [...own, DeleteOptionsSchema, StatusSchema, ListMeta];
  const components = openApiComponents(messages, kinds);
  return {
    openapi: "3.0.0",
    info: { title, version },
    paths: sorted(paths),
    components: { schemas: sorted([...Object.entries(components), ...lists, [PATCH, PATCH_COMPONENT]]) },
  };
}

function kindOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind };
}

/** DeleteOptions belongs to every group and version. */
function deleteOptionsKinds(resources: readonly OpenApiResource[]): GroupVersionKind[] {
  const kinds = new Map<string, GroupVersionKind>();
  for (const { group, version } of [{ group: "", version: "v1" }, ...resources]) {
    kinds.set(`${group}/${version}`, { group, version, kind: "DeleteOptions" });
  }
  return [...kinds.values()];
}

function listName(resource: OpenApiResource): string {
  return `${resource.schema.name}List`;
}

function pathsOf(resource: OpenApiResource): [string, OpenApiSchema][] {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const collection = resource.namespaced ? `${root}/namespaces/{namespace}/${resource.resource}` : `${root}/${resource.resource}`;
  const place = resource.namespaced ? [pathParameter("namespace", "Namespace of the objects.")] : [];
  const named = [...place, pathParameter("name", "Name of the object.")];
  const has = (verb: string): boolean => resource.verbs.includes(verb);
  const scope = resource.namespaced ? "Namespaced" : "";

  const items: [string, OpenApiSchema][] = [
    [
      collection,
      {
        parameters: place,
        ...(has("list") ? { get: operation(resource, "list", scope) } : {}),
        ...(has("create") ? { post: operation(resource, "create", scope) } : {}),
        ...(has("deletecollection") ? { delete: operation(resource, "deletecollection", scope) } : {}),
      },
    ],
  ];
  if (resource.namespaced && has("list")) {
    items.push([`${root}/${resource.resource}`, { get: operation(resource, "list", "", "ForAllNamespaces") }]);
  }
  const one = {
    ...(has("get") ? { get: operation(resource, "get", scope) } : {}),
    ...(has("update") ? { put: operation(resource, "update", scope) } : {}),
    ...(has("patch") ? { patch: operation(resource, "patch", scope) } : {}),
    ...(has("delete") ? { delete: operation(resource, "delete", scope) } : {}),
  };
  if (Object.keys(one).length > 0) items.push([`${collection}/{name}`, { parameters: named, ...one }]);
  for (const subresource of resource.subresources) {
    const suffix = subresource.charAt(0).toUpperCase() + subresource.slice(1);
    const verbs = subresource === "finalize" ? { put: "update" } : { get: "get", put: "update", patch: "patch" };
    const operations = Object.entries(verbs).map(([method, verb]) => [method, operation(resource, verb, scope, suffix)]);
    items.push([`${collection}/{name}/${subresource}`, { parameters: named, ...Object.fromEntries(operations) }]);
  }
  for (const action of resource.actions ?? []) {
    const suffix = action.name.charAt(0).toUpperCase() + action.name.slice(1);
    const post = actionOperation(resource, action, `create${groupVersionWord(resource)}${scope}${resource.kind}${suffix}`);
    items.push([`${collection}/{name}/${action.name}`, { parameters: named, post }]);
    if (action.collection) {
      const alone = actionOperation(resource, action, `create${groupVersionWord(resource)}${scope}${action.kind}`);
      items.push([`${root}/namespaces/{namespace}/${action.collection.resource}`, { parameters: place, post: alone }]);
    }
  }
  for (const connect of resource.connects ?? []) {
    const path = `${collection}/{name}/${connect.name}`;
    items.push([
      path,
      { parameters: [...named, query("path", "string", connect.pathDescription)], ...connectOperations(resource, connect, "") },
    ]);
    const within = [...named, pathParameter("path", "Path behind the subresource.")];
    items.push([`${path}/{path}`, { parameters: within, ...connectOperations(resource, connect, "WithPath") }]);
  }
  return items;
}

/** verb -> upstream's word in operationId, `x-kubernetes-action`, and what the operation takes and answers */
const VERBS: Record<
  string,
  { word: string; action: string; description: string; body?: "object" | "patch" | "options"; answer: "object" | "list" | "status" }
> = {
  create: { word: "create", action: "post", description: "Creates an object.", body: "object", answer: "object" },
  get: { word: "read", action: "get", description: "Reads one object.", answer: "object" },
  list: { word: "list", action: "list", description: "Lists or watches objects.", answer: "list" },
  update: { word: "replace", action: "put", description: "Replaces an object.", body: "object", answer: "object" },
  patch: { word: "patch", action: "patch", description: "Changes parts of an object.", body: "patch", answer: "object" },
  delete: { word: "delete", action: "delete", description: "Deletes an object.", body: "options", answer: "status" },
  deletecollection: {
    word: "deleteCollection",
    action: "deletecollection",
    description: "Deletes the selected objects.",
    body: "options",
    answer: "status",
  },
};

function operation(resource: OpenApiResource, verb: string, scope: string, suffix = ""): OpenApiSchema {
  const facts = VERBS[verb];
  if (facts === undefined) return {};
  const component = answerOf(resource, verb, facts.answer);
  const answer = { description: "OK", content: contentOf(verb === "list" ? LIST_TYPES : BODY_TYPES, component) };
  return {
    tags: [tagOf(resource)],
    description: facts.description,
    operationId: `${facts.word}${groupVersionWord(resource)}${scope}${resource.kind}${suffix}`,
    parameters: PARAMETERS[verb] ?? [],
    ...(facts.body ? { requestBody: requestBody(facts.body, resource.schema.name) } : {}),
    responses: { "200": answer, ...furtherAnswer(verb, answer) },
    "x-kubernetes-action": facts.action,
    "x-kubernetes-group-version-kind": kindOf(resource),
  };
}

function answerOf(resource: OpenApiResource, verb: string, answer: "object" | "list" | "status"): string {
  if (answer === "list") return listName(resource);
  if (answer === "object" || (verb === "delete" && resource.returnsDeletedObject)) return resource.schema.name;
  return StatusSchema.name;
}

/** The second code under which the same body comes. */
function furtherAnswer(verb: string, answer: OpenApiSchema): OpenApiSchema {
  switch (verb) {
    case "create":
    case "patch":
    case "update":
      return { "201": answer };
    case "delete":
      return { "202": answer };
    default:
      return {};
  }
}

/** The POST of a document that has an effect and is not stored. */
function actionOperation(resource: OpenApiResource, action: OpenApiAction, operationId: string): OpenApiSchema {
  const answer = action.effect.does === "answer" ? action.schema.name : StatusSchema.name;
  return {
    tags: [tagOf(resource)],
    description: action.description,
    operationId,
    parameters: WRITE,
    requestBody: requestBody("object", action.schema.name),
    responses: { "201": { description: "Created", content: contentOf(BODY_TYPES, answer) } },
    "x-kubernetes-action": "post",
    "x-kubernetes-group-version-kind": kindOf(action),
  };
}

/** One operation for each method of the subresource. Names: upstream apiserver endpoints/installer.go. */
function connectOperations(resource: OpenApiResource, { name, kind }: OpenApiConnect, suffix: string): OpenApiSchema {
  const word = `${name.charAt(0).toUpperCase()}${name.slice(1)}${suffix}`;
  const answer = { description: "OK", content: { "*/*": { schema: { type: "string" } } } };
  const operations = CONNECT_METHODS.map((method) => [
    method.toLowerCase(),
    {
      tags: [tagOf(resource)],
      description: `connect ${method} requests to ${name} of ${resource.kind}`,
      operationId: `connect${groupVersionWord(resource)}${method.charAt(0)}${method.slice(1).toLowerCase()}${resource.kind}${word}`,
      parameters: [],
      responses: { "200": answer },
      "x-kubernetes-action": "connect",
      "x-kubernetes-group-version-kind": { ...kindOf(resource), kind },
    },
  ]);
  return Object.fromEntries(operations) as OpenApiSchema;
}

/** `networking_v1` */
function tagOf({ group, version }: GroupVersionKind): string {
  return `${group.split(".")[0] || "core"}_${version}`;
}

/** `NetworkingV1` */
function groupVersionWord(of: GroupVersionKind): string {
  return tagOf(of)
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

function requestBody(body: "object" | "patch" | "options", object: string): OpenApiSchema {
  const component = body === "object" ? object : body === "patch" ? PATCH : DeleteOptionsSchema.name;
  const types = body === "patch" ? PATCH_TYPES : BODY_TYPES;
  return {
    content: contentOf(types, component),
    ...(body === "options" ? {} : { required: true }),
  };
}

/** The same component in each media type. */
function contentOf(types: readonly string[], component: string): OpenApiSchema {
  return Object.fromEntries(types.map((type) => [type, { schema: refTo(component) }]));
}

function pathParameter(name: string, description: string): OpenApiSchema {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}

function query(name: string, type: "string" | "integer" | "boolean", description: string): OpenApiSchema {
  return { name, in: "query", description, schema: { type } };
}

const DRY_RUN = query("dryRun", "string", "All = do everything but store the result.");
const FIELD_MANAGER = query("fieldManager", "string", "Name under which the changed fields are tracked.");
const FIELD_VALIDATION = query(
  "fieldValidation",
  "string",
  "What unknown and duplicate fields cause: Ignore, Warn (unless set) or Strict.",
);
const PRETTY = query("pretty", "string", "true = indented output.");
const WRITE = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, PRETTY];
const SELECT = [
  query("continue", "string", "Token of the next page."),
  query("fieldSelector", "string", "Selects objects by fields."),
  query("labelSelector", "string", "Selects objects by labels."),
  query("limit", "integer", "Objects per page."),
  query("resourceVersion", "string", "Revision to read from."),
  query("resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."),
];
const DELETE = [
  DRY_RUN,
  query("gracePeriodSeconds", "integer", "Seconds that the object may take to end."),
  query("orphanDependents", "boolean", "Deprecated; use propagationPolicy."),
  PRETTY,
  query("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
];
const PARAMETERS: Record<string, OpenApiSchema[]> = {
  create: WRITE,
  update: WRITE,
  patch: [...WRITE, query("force", "boolean", "Apply only: take fields from other managers.")],
  get: [PRETTY, query("resourceVersion", "string", "Revision to read from.")],
  list: [
    query("allowWatchBookmarks", "boolean", "Send bookmarks while watching."),
    PRETTY,
    query("sendInitialEvents", "boolean", "Begin a watch with the present objects."),
    ...SELECT,
    query("timeoutSeconds", "integer", "Seconds after which a watch ends."),
    query("watch", "boolean", "Watch instead of list."),
  ],
  delete: DELETE,
  deletecollection: [...DELETE, ...SELECT],
};
