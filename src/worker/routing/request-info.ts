/**
 * URL and method -> what is asked of which object. Generic: the registry alone says what exists.
 * Source: upstream apiserver pkg/endpoints/request/requestinfo.go and pkg/endpoints/installer.go.
 *
 *   /api/v1/{resource}[/{name}[/{subresource}]]                          core, cluster-scoped; all namespaces
 *   /api/v1/namespaces/{namespace}/{resource}[/{name}[/{subresource}]]   core, namespaced
 *   /apis/{group}/{version}/…                                            the same for named groups
 *   …/{resource}/{name}/{connect}[/{path}]                               any method: a request that is handed on
 *   …/{resource}/{name}/{view}                                           GET of a document that is this server's own
 *   …/{resource}/{name}/{report}                                         PUT or POST of a document about the object, this server's own
 *   …/{version}/watch/…                                                  deprecated form of watch=true
 */
import { badRequest, methodNotAllowed, qualifiedResource, type Status, unknownResource } from "../../api/meta/status";
import type { ActionDefinition, ConnectDefinition, ObjectReport, ObjectView, ResourceDefinition, Verb } from "../../api/registry/resource";
import type { Subresource } from "../../api/rpc/store";
import type { Review } from "./review-kinds";
import { isRead, verbOn } from "./routes";
import type { ServedVersion } from "./served";
import { unservedResource } from "./unserved-resources";

export interface RequestInfo {
  cluster: string;
  verb: Verb;
  definition: ResourceDefinition;
  /** the served version of the URL, for example "v1beta1" */
  version: string;
  /** "" for cluster-scoped kinds and for collections of all namespaces */
  namespace: string;
  /** "" for collections; a watch of the deprecated form may have one */
  name: string;
  subresource: Subresource;
}

/** What each kind of target has. Kinds with their methods: TARGET_ROUTES in routes.ts, where `resource` is `object` or `collection`. */
interface Targets {
  resource: { info: RequestInfo };
  /** a document for a create-only subresource, or for the collection that stands for it (its name is "") */
  action: { info: RequestInfo; action: ActionDefinition };
  /** `path` is what stands behind the subresource: "" or from a slash on. The name is an id that may name a scheme and a port, too */
  connect: { info: RequestInfo; connect: ConnectDefinition; path: string };
  /** a read-only document under an object; the verb is get */
  view: { info: RequestInfo; view: ObjectView };
  /** a document about an object; the verb is update or create, which do the same */
  report: { info: RequestInfo; report: ObjectReport };
  /** a create-only review of authentication or authorization; `namespace` is "" for cluster-scoped ones */
  review: { review: Review; namespace: string };
  refused: { status: Status };
}

/** What a request inside a group and version asks for: one of the kinds `K`. */
export type RequestTarget<K extends keyof Targets = keyof Targets> = { [Kind in K]: { readonly kind: Kind } & Targets[Kind] }[K];

/** Kinds of targets that somebody answers. */
export type TargetKind = Exclude<keyof Targets, "refused">;

interface NamespacedPath {
  namespace: string;
  /** the path names a namespace, be it the empty one, which means all */
  isNamespaced: boolean;
  /** [resource, name?, subresource?, …], decoded */
  parts: string[];
}

function refused(status: Status): RequestTarget {
  return { kind: "refused", status };
}

/**
 * `rest` is the path after the version, percent-encoded, without its leading slash; `watchParameter` is the query's watch=true.
 */
export function requestTarget(
  cluster: string,
  served: ServedVersion,
  rest: string,
  method: string,
  watchParameter: boolean,
): RequestTarget {
  const segments = decodeSegments(rest);
  if (!segments.ok) return refused(segments.status);
  const connected = connectAsked(served, segments.parts);
  if (connected) {
    const { definition, connect, name } = connected;
    const problem = invalidSegment("Name", name);
    if (problem) return refused(problem);
    const verb = verbOn("connect", method);
    if (!verb) return refused(methodNotAllowed());
    const info: RequestInfo = { cluster, verb, definition, version: served.version, namespace: "", name, subresource: "" };
    return { kind: "connect", info, connect, path: connectPath(segments.parts.slice(3), rest.endsWith("/")) };
  }
  const legacyWatch = segments.parts[0] === "watch";
  if (legacyWatch) segments.parts.shift();
  const { namespace, isNamespaced, parts } = placeOf(segments.parts, served.group);
  const [resource = "", name = "", subresource = ""] = parts;
  const unknown = (): RequestTarget => refused(unservedResource(served.group, parts, served.resources.has(resource)) ?? unknownResource());
  if (parts.length === 0 || parts.length > 3 || resource === "" || parts[2] === "") return unknown();
  // Rights on a path of this form are those to watch, so nothing else may stand behind it.
  if (legacyWatch && !isRead(method)) return refused(methodNotAllowed());
  const review = served.reviews.get(resource);
  if (review) {
    if (parts.length > 1 || review.namespaced !== isNamespaced) return refused(unknownResource());
    if (isNamespaced && namespace === "") return refused(NO_NAMESPACE);
    return verbOn("review", method) ? { kind: "review", review, namespace } : refused(methodNotAllowed());
  }
  const acted = actionAsked(served, parts, isNamespaced);
  if (acted) {
    const lacks = missingName(parts, isNamespaced, namespace) ?? (isNamespaced && namespace === "" ? NO_NAMESPACE : undefined);
    const problem = lacks ?? invalidSegment("Namespace", namespace) ?? invalidSegment("Name", name);
    if (problem) return refused(problem);
    const verb = verbOn("action", method);
    if (!verb) return refused(methodNotAllowed());
    const { definition, action } = acted;
    return { kind: "action", info: { cluster, verb, definition, version: served.version, namespace, name, subresource: "" }, action };
  }
  const definition = served.resources.get(resource);
  const view = definition?.views?.find((known) => known === subresource);
  const report = definition?.reports?.find((known) => known === subresource);
  if (!definition || !isServed(definition, isNamespaced, view || report ? parts.slice(0, 2) : parts)) return unknown();
  const segmentProblem =
    missingName(parts, isNamespaced, namespace) ?? invalidSegment("Namespace", namespace) ?? invalidSegment("Name", name);
  if (segmentProblem) return refused(segmentProblem);
  if (view || report) {
    const verb = legacyWatch ? undefined : verbOn(view ? "view" : "report", method);
    if (!verb) return refused(methodNotAllowed());
    const info: RequestInfo = { cluster, verb, definition, version: served.version, namespace, name, subresource: "" };
    if (view) return { kind: "view", info, view };
    if (report) return { kind: "report", info, report };
  }
  const wantsWatch = legacyWatch || (watchParameter && name === "");
  const verb = verbOf(method, { name, subresource, isNamespaced, wantsWatch, legacyWatch }, definition);
  if (typeof verb !== "string") return refused(verb);
  return {
    kind: "resource",
    info: { cluster, verb, definition, version: served.version, namespace, name, subresource: subresource as Subresource },
  };
}

/**
 * The answer to a request in a version that is not served: the 404 that names its resource. Undefined for a resource that Kubernetes does not have.
 *
 * @param rest as for `requestTarget`
 */
export function unservedTarget(group: string, rest: string): Status | undefined {
  const segments = decodeSegments(rest);
  if (!segments.ok) return undefined;
  if (segments.parts[0] === "watch") segments.parts.shift();
  return unservedResource(group, placeOf(segments.parts, group).parts);
}

/** Slashes at the end are ignored, as upstream's router does. */
function decodeSegments(rest: string): { ok: true; parts: string[] } | { ok: false; status: Status } {
  const parts = rest.split("/");
  while (parts.length > 1 && parts.at(-1) === "") parts.pop();
  if (!rest.includes("%")) return { ok: true, parts };
  try {
    return { ok: true, parts: parts.map((part) => (part.includes("%") ? decodeURIComponent(part) : part)) };
  } catch {
    return { ok: false, status: badRequest("the URL of the request contains an invalid percent-encoding") };
  }
}

/** `namespaces/x/status` is a subresource of the namespace x, `namespaces/x/services` the services in it. */
function placeOf(parts: string[], group: string): NamespacedPath {
  const [first, second = "", third] = parts;
  const isNamespaced = first === "namespaces" && third !== undefined && (group !== "" || (third !== "status" && third !== "finalize"));
  return isNamespaced ? { namespace: second, isNamespaced, parts: parts.slice(2) } : { namespace: "", isNamespaced, parts };
}

/** The connect subresource that the path begins with. They are those of resources without namespaces. */
function connectAsked(
  { resources }: ServedVersion,
  [resource = "", name = "", subresource]: readonly string[],
): { definition: ResourceDefinition; connect: ConnectDefinition; name: string } | undefined {
  const definition = resources.get(resource);
  const connect = definition?.connects?.find((known) => known.name === subresource);
  return definition && connect && name !== "" ? { definition, connect, name } : undefined;
}

/** Upstream: apiserver endpoints/handlers/get.go, getRequestOptions. */
function connectPath(segments: readonly string[], endsWithSlash: boolean): string {
  const joined = segments.join("/");
  const path = joined === "" || joined.startsWith("/") ? joined : `/${joined}`;
  return endsWithSlash && !path.endsWith("/") ? `${path}/` : path;
}

/** The action that the path names: as a subresource of an object, or by its collection. */
function actionAsked(
  { resources }: ServedVersion,
  [resource = "", name, subresource]: readonly string[],
  isNamespaced: boolean,
): { definition: ResourceDefinition; action: ActionDefinition } | undefined {
  if (name !== undefined && subresource === undefined) return undefined;
  const candidates = name === undefined ? (resources.has(resource) ? [] : resources.values()) : [resources.get(resource)];
  for (const definition of candidates) {
    if (!definition?.actions || definition.namespaced !== isNamespaced) continue;
    const action = definition.actions.find((known) =>
      name === undefined ? known.collection?.resource === resource : known.name === subresource,
    );
    if (action) return { definition, action };
  }
  return undefined;
}

/** Whether any method is served on this form of the path. */
function isServed(definition: ResourceDefinition, isNamespaced: boolean, parts: readonly string[]): boolean {
  const subresource = parts[2];
  if (subresource !== undefined && !definition.subresources.some((known) => known === subresource)) return false;
  if (!definition.namespaced) return !isNamespaced;
  return isNamespaced || parts.length === 1;
}

/** Upstream: apiserver pkg/registry/generic/registry/store.go, NamespaceKeyFunc. */
const NO_NAMESPACE = badRequest("Namespace parameter required.");

/** An object, or what stands under one, needs its name and its namespace; a collection of the empty namespace is that of all namespaces. */
function missingName(parts: readonly string[], isNamespaced: boolean, namespace: string): Status | undefined {
  if (parts.length === 1) return undefined;
  // Upstream: apiserver pkg/endpoints/handlers/namer.go.
  if (parts[1] === "") return badRequest("name must be provided");
  return isNamespaced && namespace === "" ? NO_NAMESPACE : undefined;
}

/** Source: apimachinery pkg/api/validation/path; the texts are those of the generic store's key functions. */
function invalidSegment(what: "Name" | "Namespace", segment: string): Status | undefined {
  if (segment === "." || segment === "..")
    return badRequest(`${what} parameter invalid: ${JSON.stringify(segment)}: may not be '${segment}'`);
  const problems = ["/", "%"].filter((character) => segment.includes(character)).map((character) => `may not contain '${character}'`);
  if (problems.length === 0) return undefined;
  return badRequest(`${what} parameter invalid: ${JSON.stringify(segment)}: ${problems.join(";")}`);
}

interface RequestParts {
  name: string;
  subresource: string;
  isNamespaced: boolean;
  wantsWatch: boolean;
  legacyWatch: boolean;
}

function verbOf(method: string, asked: RequestParts, definition: ResourceDefinition): Verb | Status {
  const verb = methodVerb(method, asked);
  if (verb === undefined) return methodNotAllowed();
  // The path without a namespace is read-only.
  const writesAllNamespaces = definition.namespaced && !asked.isNamespaced && (verb === "create" || verb === "deletecollection");
  if (writesAllNamespaces) return methodNotAllowed();
  if (asked.subresource === "finalize" && verb !== "update") return methodNotAllowed();
  if (asked.subresource === "status" && verb === "delete") return methodNotAllowed();
  if (definition.verbs.includes(verb)) return verb;
  if (verb === "watch")
    return methodNotAllowed(`watch is not supported on resources of kind ${JSON.stringify(qualifiedResource(definition))}`);
  return methodNotAllowed();
}

function methodVerb(method: string, asked: RequestParts): Verb | undefined {
  if (asked.legacyWatch) return isRead(method) && asked.subresource === "" ? "watch" : undefined;
  if (asked.name !== "") return verbOn("object", method);
  const verb = verbOn("collection", method);
  return verb === "list" && asked.wantsWatch ? "watch" : verb;
}
