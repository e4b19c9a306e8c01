/** The stores of namespaced objects as the end of a namespace calls them: every call has a timeout (rule 18), and a failure names its store. */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { qualifiedResource } from "../../api/meta/status";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { MaintainedStore } from "../../api/rpc/store";
import type { UsedStores } from "../followed/used-stores";
import type { NamespaceContent } from "./namespace-deletion";

/** A store that closes may first ask the namespaces store, with a timeout of its own. */
const CLOSE_TIMEOUT_MS = 2 * RPC_TIMEOUT_MS;
/** Emptying a large namespace takes longer than a usual call. A late call does no harm. */
const EMPTY_TIMEOUT_MS = 60_000;

/** A store of the cluster; `store` makes a stub for one call. */
export interface ContentStore {
  definition: Pick<ResourceDefinition, "group" | "resource" | "namespaced">;
  store(): Pick<MaintainedStore, "closeNamespace" | "emptyNamespace">;
}

/** Those of the stores that hold namespaced objects. */
export function namespaceContent(clock: Clock, stores: readonly ContentStore[], used: Pick<UsedStores, "isUnused">): NamespaceContent[] {
  const namespaced = stores.filter(({ definition }) => definition.namespaced);
  return namespaced.map(({ definition: { group, resource }, store }) => ({
    group,
    resource,
    isUnused: () => used.isUnused(qualifiedResource({ group, resource })),
    close: (name, uid) => withTimeout(clock, CLOSE_TIMEOUT_MS, store().closeNamespace(name, uid)),
    empty: (name, uid) => withTimeout(clock, EMPTY_TIMEOUT_MS, store().emptyNamespace(name, uid)),
  }));
}
