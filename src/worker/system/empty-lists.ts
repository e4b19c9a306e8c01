/** Answers of kinds that have no objects (../routing/empty-resources.ts). */
import { notFound } from "../../api/meta/status";
import { apiVersionOf } from "../../api/meta/type-meta";
import { queryBool } from "../http/query";
import { parseQuery } from "../http/request-url";
import { jsonResponse, statusResponse } from "../http/respond";
import type { EmptyResource } from "../routing/empty-resources";

/** The answer to a GET of the collection; undefined for a watch, which is not served. `query` is raw. */
export function emptyListResponse({ group, version, kind }: EmptyResource, query: string): Response | undefined {
  if (queryBool(parseQuery(query), "watch")) return undefined;
  const list = { kind: `${kind}List`, apiVersion: apiVersionOf(group, version), metadata: { resourceVersion: "1" }, items: [] };
  return jsonResponse(200, JSON.stringify(list), "compact");
}

/** The answer to a GET of an object. */
export function emptyResourceResponse(resource: EmptyResource, name: string): Response {
  return statusResponse(notFound(resource, name));
}
