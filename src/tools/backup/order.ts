/** What is backed up, and in which order it is read and restored. */
import type { BackupSection, BackupType } from "./format";

/** The types, by typeName, that a backup and a restore know by name; a resource of the same name in another group is another type. */
export const NAMESPACES = "namespaces";
export const SERVICE_CIDRS = "servicecidrs.networking.k8s.io";
export const IP_ADDRESSES = "ipaddresses.networking.k8s.io";
export const SERVICES = "services";
export const ENDPOINTS = "endpoints";
export const ENDPOINT_SLICES = "endpointslices.discovery.k8s.io";
export const RESOURCE_QUOTAS = "resourcequotas";
export const CLUSTER_ROLES = "clusterroles.rbac.authorization.k8s.io";
export const CLUSTER_ROLE_BINDINGS = "clusterrolebindings.rbac.authorization.k8s.io";
export const ROLES = "roles.rbac.authorization.k8s.io";
export const ROLE_BINDINGS = "rolebindings.rbac.authorization.k8s.io";
export const SERVICE_ACCOUNTS = "serviceaccounts";
export const CONFIG_MAPS = "configmaps";
export const IP_POOLS = [
  "inclusterippools.ipam.cluster.x-k8s.io",
  "globalinclusterippools.ipam.cluster.x-k8s.io",
  "inclusterprefixpools.ipam.cluster.x-k8s.io",
  "globalinclusterprefixpools.ipam.cluster.x-k8s.io",
];
export const POOL_ADDRESSES = "ipaddresses.ipam.cluster.x-k8s.io";
export const ADDRESS_CLAIMS = "ipaddressclaims.ipam.cluster.x-k8s.io";
export const LEASES = "leases.coordination.k8s.io";

/**
 * Events tell of the last hour of another cluster. They name their objects by uids that a restore does not keep. A Cluster is what the server has, and no
 * content of the cluster `default`: each has a backup of its own. So is its profile.
 */
const LEFT_OUT = ["events", "events.events.k8s.io", "clusters.servicenet.dev", "clusterprofiles.multicluster.x-k8s.io"];

/**
 * Types that others need come first: namespaces hold objects, ServiceCIDRs give addresses, and IPAddresses without a Service take theirs before
 * any Service does. What Pods name comes before Pods, and owners come before their known dependents. Types without a name here come last, in the file's order.
 * A role comes before the bindings that name it.
 * ResourceQuotas come behind what they limit, so that a namespace that holds more than its quota allows comes back whole.
 */
const RESTORED_FIRST = [
  NAMESPACES,
  SERVICE_CIDRS,
  IP_ADDRESSES,
  "nodes",
  SERVICES,
  "serviceaccounts",
  CLUSTER_ROLES,
  CLUSTER_ROLE_BINDINGS,
  ROLES,
  ROLE_BINDINGS,
  "configmaps",
  SERVICE_ACCOUNTS,
  CONFIG_MAPS,
  "secrets",
  "podtemplates",
  "pods",
  ENDPOINTS,
  ENDPOINT_SLICES,
  LEASES,
  ...IP_POOLS,
  // A claim that finds its address takes it; otherwise it is given another one.
  POOL_ADDRESSES,
  ADDRESS_CLAIMS,
  RESOURCE_QUOTAS,
];

export function isBackedUp(type: Pick<BackupType, "group" | "resource">): boolean {
  return !LEFT_OUT.includes(typeName(type));
}

/** Reading goes the other way round: an object made meanwhile never lacks one that it needs. */
export function inReadingOrder(types: readonly BackupType[]): BackupType[] {
  return types.toSorted((a, b) => rankOf(b) - rankOf(a));
}

export function inRestoreOrder(sections: readonly BackupSection[]): BackupSection[] {
  return sections.toSorted((a, b) => rankOf(a.type) - rankOf(b.type));
}

/** `services`, `endpointslices.discovery.k8s.io` */
export function typeName({ group, resource }: Pick<BackupType, "group" | "resource">): string {
  return group === "" ? resource : `${resource}.${group}`;
}

function rankOf(type: BackupType): number {
  const rank = RESTORED_FIRST.indexOf(typeName(type));
  return rank < 0 ? RESTORED_FIRST.length : rank;
}
