/** Which Service an IPAddress is the address of. */
import { ALLOCATOR_NAME, MANAGED_BY_LABEL } from "./allocator-labels";

interface Parented {
  metadata?: { labels?: Record<string, string> };
  spec?: { parentRef?: { group?: string; resource?: string; namespace?: string; name?: string } };
}

/** The Service that an IPAddress names as its parent, whether or not there is one; undefined = it names something else, or nothing. */
export function parentServiceOf({ spec }: Parented): { namespace: string; name: string } | undefined {
  const { group = "", resource, namespace = "", name = "" } = spec?.parentRef ?? {};
  return group === "" && resource === "services" ? { namespace, name } : undefined;
}

/** Whether the allocator made it for a Service, as far as its labels tell: such an object follows from its Service. */
export function isDerived(object: Parented): boolean {
  return object.metadata?.labels?.[MANAGED_BY_LABEL] === ALLOCATOR_NAME && parentServiceOf(object) !== undefined;
}
