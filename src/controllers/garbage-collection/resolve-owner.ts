/** Where the owner that an ownerReference names is kept, if it is of a served kind. */
import type { OwnerReference } from "../../api/meta/kubernetes";
import { definitions } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
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

const namespacedByStore: ReadonlyMap<string, boolean> = new Map(
  definitions.map((definition) => [storeName(definition), definition.namespaced]),
);

/**
 * A namespaced owner is looked for in the dependent's own namespace. Undefined for a kind that is not served, and for a namespaced owner of a
 * cluster-scoped object. Nobody can say that such an owner is gone, so its dependents stay, as upstream.
 */
export function resolveOwner(reference: OwnerReference, dependent: Place): Place | undefined {
  const definition = byKind.get(`${reference.apiVersion} ${reference.kind}`);
  if (!definition) return undefined;
  const store = storeName(definition.representationOf ?? definition);
  if (!definition.namespaced) return { store, key: { namespace: "", name: reference.name } };
  if (!namespacedByStore.get(dependent.store)) return undefined;
  return { store, key: { namespace: dependent.key.namespace, name: reference.name } };
}
