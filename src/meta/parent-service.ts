/** Which Service an IPAddress is the address of. */

interface Parented {
  spec?: { parentRef?: { group?: string; resource?: string; namespace?: string; name?: string } };
}

/** The Service that an IPAddress names as its parent, whether or not there is one; undefined = it names something else, or nothing. */
export function parentServiceOf({ spec }: Parented): { namespace: string; name: string } | undefined {
  const { group = "", resource, namespace = "", name = "" } = spec?.parentRef ?? {};
  return group === "" && resource === "services" ? { namespace, name } : undefined;
}
