/**
 * Method, path and query of a request -> what it asks for. The path alone decides, so that no route can be forgotten: what is no request for a resource
 * is one for a path. Source: upstream apiserver pkg/endpoints/request/requestinfo.go.
 *
 * Upstream reads the decoded path. Here an encoded slash separates nothing, as in the routes of this server.
 */
import { parseFieldSelector } from "../../api/meta/field-selector";
import { resourceAttributes } from "./attributes";
import type { Attributes, PathAttributes } from "./attributes";

const VERBS: Readonly<Record<string, string | undefined>> = {
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};
/** Behind `namespaces/{name}` they are subresources of the namespace; anything else is a resource in it. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);
/** Verbs that selectors narrow. */
const COLLECTION_VERBS: ReadonlySet<string> = new Set(["list", "watch", "deletecollection"]);

/**
 * @param path inside the cluster, percent-encoded, from its slash on
 */
export function attributesOf(method: string, path: string, query: URLSearchParams): Attributes {
  const parts = path.split("/").map(decoded);
  while (parts.length > 1 && parts.at(-1) === "") parts.pop();
  // ["", "api", version, resource, …], ["", "apis", group, version, resource, …]
  const isCore = parts[1] === "api";
  const head = isCore ? 3 : 4;
  if ((!isCore && parts[1] !== "apis") || parts.length <= head) return pathAttributes(method, path);
  const [group = "", version = ""] = isCore ? ["", parts[2]] : parts.slice(2);
  let rest = parts.slice(head);
  const isLegacyWatch = rest[0] === "watch" && rest.length > 1;
  if (isLegacyWatch) rest.shift();
  let namespace = "";
  if (rest[0] === "namespaces" && rest.length > 1) {
    namespace = rest[1] ?? "";
    if (rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(rest[2] ?? "")) rest = rest.slice(2);
  }
  const [resource = "", named = "", subresource = ""] = rest;
  const verb = isLegacyWatch && VERBS[method] === "get" ? "watch" : verbOf(method, named, query);
  const fieldSelector = COLLECTION_VERBS.has(verb) ? (query.get("fieldSelector") ?? "") : "";
  const labelSelector = COLLECTION_VERBS.has(verb) ? (query.get("labelSelector") ?? "") : "";
  const name = named === "" && (verb === "list" || verb === "watch") ? nameSelected(fieldSelector) : named;
  return resourceAttributes({ verb, group, version, resource, subresource, namespace, name, fieldSelector, labelSelector });
}

function pathAttributes(method: string, path: string): PathAttributes {
  return { kind: "path", verb: method.toLowerCase(), path: path.split("/").map(decoded).join("/") };
}

function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    // The routes refuse it.
    return segment;
  }
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  const verb = VERBS[method] ?? "";
  if (name !== "") return verb;
  if (verb === "delete") return "deletecollection";
  if (verb !== "get") return verb;
  return isTrue(query.get("watch")) ? "watch" : "list";
}

/** Present without a value is true. Source: upstream apimachinery conversion Convert_Slice_string_To_bool. */
function isTrue(value: string | null): boolean {
  return value !== null && !/^(0|false)$/i.test(value);
}

/** The one name that a field selector leaves, "" = none. */
function nameSelected(selector: string): string {
  const parsed = selector === "" ? undefined : parseFieldSelector(selector);
  return parsed?.ok ? (parsed.value.exact("metadata.name") ?? "") : "";
}
