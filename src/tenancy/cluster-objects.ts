/** What a cluster consists of, for its end. */
import { qualifiedResource } from "../api/meta/status";
import { storedDefinitions } from "../api/registry/all";
import { serviceCIDRsDefinition } from "../api/registry/service-cidrs/definition";
import { servicesDefinition } from "../api/registry/services/definition";
import type { ClusterObject } from "./record-storage";

/** Name of the object that shows the cluster's Services to proxies. */
export const PROXY_VIEW = "proxy-view";

/**
 * The objects of a cluster besides owners of addresses, those that call others first: an object that is gone calls nobody any more. The
 * Coordinator, which alone knows the owners, comes last.
 *
 * @param controllers names of all controllers
 */
export function clusterObjects(controllers: readonly string[]): ClusterObject[] {
  const coordinated = qualifiedResource(serviceCIDRsDefinition);
  const callers = [qualifiedResource(servicesDefinition), ...storedDefinitions.map(qualifiedResource)];
  const stores = [...new Set(callers)].filter((name) => name !== coordinated);
  return [
    { kind: "view", name: PROXY_VIEW },
    ...controllers.map((name): ClusterObject => ({ kind: "controller", name })),
    ...[...stores, coordinated].map((name): ClusterObject => ({ kind: "store", name })),
  ];
}
