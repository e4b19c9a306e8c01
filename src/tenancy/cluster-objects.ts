/** What a cluster consists of, for its end. */
import { FNV_OFFSET, fnv1a } from "../core/encoding/fnv1a";
import { qualifiedResource } from "../api/meta/status";
import { storedDefinitionsIn } from "../api/registry/all";
import { serviceCIDRsDefinition } from "../api/registry/service-cidrs/definition";
import { servicesDefinition } from "../api/registry/services/definition";
import type { ClusterObject } from "./record-storage";

/** Name of the object that keeps the keys of the cluster's service account tokens; the deployment's own tokens are in an object of this name alone. */
export const CREDENTIALS = "credentials";

/** Name of the object that shows the cluster's Services to proxies. */
export const PROXY_VIEW = "proxy-view";

/**
 * How many objects of a cluster share its nodes. Their number is fixed, so that the end of a cluster knows them all, and checks of names that nobody has
 * make no further ones. The end of a cluster wipes each of them, so they are few; each has room for some thousand nodes. The number never changes: nodes
 * would lose their last reports.
 */
const NODE_PROXIES = 16;
const NODE_PROXY = "node-proxy-";

export function nodeProxyName(shard: number): string {
  return NODE_PROXY + String(shard);
}

/** Number of the object that keeps the health of a node. */
export function shardOf(node: string): number {
  return fnv1a(FNV_OFFSET, node) % NODE_PROXIES;
}

/** Name of the object that keeps the health of a node. */
export function nodeProxyOf(node: string): string {
  return nodeProxyName(shardOf(node));
}

/** Number of an object that keeps the health of nodes, by its name. */
export function shardNamed(name: string): number {
  return Number(name.slice(NODE_PROXY.length));
}

/**
 * The objects of a cluster besides owners of addresses, those that call others first: an object that is gone calls nobody any more. The
 * Coordinator, which alone knows the owners, comes last.
 *
 * @param controllers names of all controllers that the cluster has
 * @param isRoot whether it is the cluster `default`
 */
export function clusterObjects(controllers: readonly string[], isRoot = false): ClusterObject[] {
  const coordinated = qualifiedResource(serviceCIDRsDefinition);
  const callers = [qualifiedResource(servicesDefinition), ...storedDefinitionsIn(isRoot).map(qualifiedResource)];
  const stores = [...new Set(callers)].filter((name) => name !== coordinated);
  return [
    { kind: "credentials", name: CREDENTIALS },
    { kind: "view", name: PROXY_VIEW },
    ...Array.from({ length: NODE_PROXIES }, (_, shard): ClusterObject => ({ kind: "node-proxy", name: nodeProxyName(shard) })),
    ...controllers.map((name): ClusterObject => ({ kind: "controller", name })),
    ...[...stores, coordinated].map((name): ClusterObject => ({ kind: "store", name })),
  ];
}
