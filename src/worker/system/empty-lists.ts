/**
 * Lists of kinds that are not served, for commands of kubectl that end without them. They are empty, and that is true: there are none. Nothing else
 * of these kinds is served, a watch neither, and discovery does not name them.
 *
 * - custom resource definitions: kubectl asks for them when OpenAPI does not have a kind; without an answer it cannot report an unknown kind
 * - the others: `kubectl cluster-info dump` lists them in each namespace. Source: upstream kubectl pkg/cmd/clusterinfo/clusterinfo_dump.go
 */
import { queryBool } from "../http/query";
import { parseQuery } from "../http/request-url";
import { jsonResponse } from "../http/respond";

interface EmptyList {
  /** as a route, without a trailing slash */
  path: string;
  apiVersion: string;
  /** of the list */
  kind: string;
}

export const EMPTY_LISTS: readonly EmptyList[] = [
  {
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinitionList",
  },
  { path: "/api/v1/namespaces/:namespace/replicationcontrollers", apiVersion: "v1", kind: "ReplicationControllerList" },
  { path: "/apis/apps/v1/namespaces/:namespace/daemonsets", apiVersion: "apps/v1", kind: "DaemonSetList" },
  { path: "/apis/apps/v1/namespaces/:namespace/deployments", apiVersion: "apps/v1", kind: "DeploymentList" },
  { path: "/apis/apps/v1/namespaces/:namespace/replicasets", apiVersion: "apps/v1", kind: "ReplicaSetList" },
];

/** The answer to a GET; undefined for a watch, which is not served. `query` is raw. */
export function emptyListResponse({ apiVersion, kind }: EmptyList, query: string): Response | undefined {
  if (queryBool(parseQuery(query), "watch")) return undefined;
  return jsonResponse(200, JSON.stringify({ kind, apiVersion, metadata: { resourceVersion: "1" }, items: [] }), "compact");
}
