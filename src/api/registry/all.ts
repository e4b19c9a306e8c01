/** Every served resource. Routes, discovery, OpenAPI, stores and tables are derived from this list; a new resource is one entry. */
import { clusterProfilesDefinition } from "./cluster-profiles/definition";
import { clustersDefinition } from "./clusters/definition";
import { configMapsDefinition } from "./config-maps/definition";
import { endpointSlicesDefinition } from "./endpoint-slices/definition";
import { endpointsDefinition } from "./endpoints/definition";
import { eventsDefinition, eventsGroupEventsDefinition } from "./events/definition";
import { addressClaimsDefinition, poolAddressesDefinition, poolDefinitions } from "./ipam/definitions";
import { earlierClaimsDefinition, earlierPoolAddressesDefinition } from "./ipam/earlier-definitions";
import { ipAddressesDefinition } from "./ip-addresses/definition";
import { leasesDefinition } from "./leases/definition";
import { namespacesDefinition } from "./namespaces/definition";
import { nodesDefinition } from "./nodes/definition";
import { podTemplatesDefinition } from "./pod-templates/definition";
import { podsDefinition } from "./pods/definition";
import { resourceQuotasDefinition } from "./resource-quotas/definition";
import type { ResourceDefinition } from "./resource";
import { clusterRoleBindingsDefinition, roleBindingsDefinition } from "./role-bindings/definition";
import { clusterRolesDefinition, rolesDefinition } from "./roles/definition";
import { secretsDefinition } from "./secrets/definition";
import { serviceAccountsDefinition } from "./service-accounts/definition";
import { serviceCIDRsDefinition } from "./service-cidrs/definition";
import { servicesDefinition } from "./services/definition";

/** In the order in which discovery lists their groups. */
export const definitions: readonly ResourceDefinition[] = [
  configMapsDefinition,
  endpointsDefinition,
  eventsDefinition,
  namespacesDefinition,
  nodesDefinition,
  podsDefinition,
  podTemplatesDefinition,
  resourceQuotasDefinition,
  secretsDefinition,
  serviceAccountsDefinition,
  servicesDefinition,
  eventsGroupEventsDefinition,
  ipAddressesDefinition,
  serviceCIDRsDefinition,
  clusterRoleBindingsDefinition,
  clusterRolesDefinition,
  roleBindingsDefinition,
  rolesDefinition,
  leasesDefinition,
  endpointSlicesDefinition,
  clustersDefinition,
  clusterProfilesDefinition,
  // Last: kubectl takes `ipaddresses` for that of the first group.
  addressClaimsDefinition,
  poolAddressesDefinition,
  earlierClaimsDefinition,
  earlierPoolAddressesDefinition,
  ...Object.values(poolDefinitions),
];

/** Of a resource with other forms in other versions the first one counts. */
const byName: ReadonlyMap<string, ResourceDefinition> = new Map(
  definitions.map((definition) => [`${definition.group}/${definition.resource}`, definition] as const).reverse(),
);

const byVersion: ReadonlyMap<string, ResourceDefinition> = new Map(
  definitions.flatMap((definition) =>
    definition.versions.map((version) => [`${definition.group}/${version}/${definition.resource}`, definition] as const),
  ),
);

/** The definition of a resource, in its stored form if it has several; `group` is "" for core. */
export function definitionOf(group: string, resource: string): ResourceDefinition | undefined {
  return byName.get(`${group}/${resource}`);
}

/** The definition that serves a resource in a version. */
export function definitionIn(group: string, version: string, resource: string): ResourceDefinition | undefined {
  return byVersion.get(`${group}/${version}/${resource}`);
}

/** A resource that keeps its objects itself: events.k8s.io events live in the store of the core ones. */
export interface StoredResource {
  group: string;
  resource: string;
}

/** Those whose objects have a store of their own. */
export const storedDefinitions: readonly ResourceDefinition[] = definitions.filter(({ representationOf }) => !representationOf);

const storedEverywhere = storedDefinitions.filter(({ atRoot }) => !atRoot);

/** Those that a cluster has. `isRoot`: it is `default`, which has the kinds of the fleet, too. */
export function storedDefinitionsIn(isRoot: boolean): readonly ResourceDefinition[] {
  return isRoot ? storedDefinitions : storedEverywhere;
}

/** Those that every cluster serves. */
export const definitionsEverywhere: readonly ResourceDefinition[] = definitions.filter(({ atRoot }) => !atRoot);

/** The resource whose store keeps the objects of `definition`: itself unless it is another representation. */
export function storedResource(definition: ResourceDefinition): StoredResource {
  return definition.representationOf ?? definition;
}

/** The namespace in which the objects of this one are stored: "" = none, or all. undefined = no object is shown in this one. */
export function storedNamespace({ representationOf }: ResourceDefinition, namespace: string): string | undefined {
  const shownIn = representationOf?.shownIn;
  if (shownIn === undefined) return namespace;
  return namespace === "" || namespace === shownIn ? "" : undefined;
}

/** As metrics name a store: by its resource, with the group where another store has that name already. */
export function storeLabel({ group, resource }: StoredResource): string {
  const first = storedDefinitions.find((definition) => definition.resource === resource);
  return first === undefined || first.group === group ? resource : `${resource}.${group}`;
}

/** The definitions that serve the same stored objects under other groups, or in other forms. */
export function representationsOf(definition: ResourceDefinition): readonly ResourceDefinition[] {
  return definitions.filter((other) => {
    const of = other.representationOf;
    return of?.group === definition.group && of.resource === definition.resource;
  });
}
