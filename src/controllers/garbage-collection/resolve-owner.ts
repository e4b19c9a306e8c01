/** Where the owner that an ownerReference names is kept, if it is of a served kind. */
import type { OwnerReference } from "../../api/meta/kubernetes";
import { definitions, storedDefinitions } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import { assert } from "../../core/base/assert";
import type { Place } from "./graph";

/** `leases.coordination.k8s.io`, `services`. */
export function storeName({ group, resource }: { group: string; resource: string }): string {
  return group === "" ? resource : `${resource}.${group}`;
}

const byKind: ReadonlyMap<string, ResourceDefinition> = new Map(
  definitions.flatMap((definition) =>
    definition.versions.map((version) => [
      `${definition.group === "" ? version : `${definition.group}/${version}`} ${definition.kind}`,
      definition,
    ]),
  ),
);

const byStore: ReadonlyMap<string, ResourceDefinition> = new Map(
  storedDefinitions.map((definition) => [storeName(definition), definition]),
);

/**
 * A namespaced owner is looked for in the dependent's own namespace. Undefined for a kind that is not served, and for a namespaced owner of a
 * cluster-scoped object. Nobody can say that such an owner is gone, so its dependents stay, as upstream.
 */
export function resolveOwner(reference: OwnerReference, dependent: Place): Place | undefined {
  const definition = definitionOfOwner(reference);
  if (!definition) return undefined;
  const store = storeName(definition.representationOf ?? definition);
  if (!definition.namespaced) return { store, key: { namespace: "", name: reference.name } };
  if (!byStore.get(dependent.store)?.namespaced) return undefined;
  return { store, key: { namespace: dependent.key.namespace, name: reference.name } };
}

/** Where owners are kept. Of a kind that the cluster does not have nobody can say that an owner is gone, either. */
export type OwnerResolver = (reference: OwnerReference, dependent: Place) => Place | undefined;

/** `stores`: names of those that the cluster has */
export function ownersIn(stores: ReadonlySet<string>): OwnerResolver {
  return (reference, dependent) => {
    const place = resolveOwner(reference, dependent);
    return place && stores.has(place.store) ? place : undefined;
  };
}

/** Whether a cluster-scoped object names an owner of a kind whose objects are in namespaces: no such owner can be meant. */
export function isOwnedAcrossScopes(reference: OwnerReference, dependent: Place): boolean {
  return dependent.key.namespace === "" && definitionOfOwner(reference)?.namespaced === true;
}

/** What the objects of a store are. */
export function kindIn(store: string): { apiVersion: string; kind: string } {
  const definition = byStore.get(store);
  assert(definition, "objects are in stores of served kinds");
  const { group, versions, kind } = definition;
  return { apiVersion: [group, versions[0]].filter(Boolean).join("/"), kind };
}

function definitionOfOwner({ apiVersion, kind }: OwnerReference): ResourceDefinition | undefined {
  return byKind.get(`${apiVersion} ${kind}`);
}
