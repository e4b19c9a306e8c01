/** Stores that the check of a cluster reads, without those that never began: they hold nothing, and to begin them costs more than all else of the check. */
import type { Env } from "../../../durable-objects/platform/env";

/** Nobody writes to this cluster. Its stores answer for those that never began. */
const EMPTY = "empty";

/** The bindings, where a store that never began (`isBegun`, by its name) is the same store of an empty cluster. */
export function onlyBegun(bindings: Env, isBegun: (name: string) => boolean): Env {
  const stores = bindings.RESOURCE_STORE;
  const get = (id: DurableObjectId) => {
    const name = id.name ?? "";
    return stores.get(isBegun(name) ? id : stores.idFromName(EMPTY + name.slice(name.indexOf("/"))));
  };
  const begun = { get, idFromName: (name: string) => stores.idFromName(name) } as unknown as Env["RESOURCE_STORE"];
  return { ...bindings, RESOURCE_STORE: begun };
}
