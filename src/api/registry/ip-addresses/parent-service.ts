/** The Service that an IPAddress belongs to. */
import { ALLOCATOR_NAME, MANAGED_BY_LABEL } from "./allocator-labels";

interface Parented {
  metadata?: { labels?: Record<string, string> };
  spec?: { parentRef?: { group?: string; resource?: string; namespace?: string; name?: string } };
}

/** The Service that an IPAddress names as its parent, existing or not; undefined = the parent is something else or missing. */
export function parentServiceOf({ spec }: Parented): { namespace: string; name: string } | undefined {
  const { group = "", resource, namespace = "", name = "" } = spec?.parentRef ?? {};
  return group === "" && resource === "services" ? { namespace, name } : undefined;
}

/** Whether, by its labels, the allocator made the IPAddress for a Service. Such an object follows from its Service. */
export function isDerived(object: Parented): boolean {
  return object.metadata?.labels?.[MANAGED_BY_LABEL] === ALLOCATOR_NAME && parentServiceOf(object) !== undefined;
}
