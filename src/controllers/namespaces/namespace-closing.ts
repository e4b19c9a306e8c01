/**
 * A client that got the answer to its DELETE of a namespace must not be able to create there. (Upstream plugin namespace/lifecycle looks up
 * deleted namespaces live for the same reason.) So the answer waits until every store has closed the namespace, but not for long: the namespace
 * controller closes it again before it lists its content (rule 20).
 */
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Operation, StoreExtension } from "../../api/store/state/extension";
import type { TerminatingNamespace } from "./namespace-deletion";

/** How long the answer to a DELETE waits for slow stores. */
export const CLOSE_WAIT_MS = 2_000;

export interface NamespaceClosingPorts {
  clock: Clock;
  /** closes the namespace in every store of namespaced objects */
  close(namespace: TerminatingNamespace): Promise<unknown>;
}

/** The part of the namespaces store's extension that closes. */
export function closingNamespaces({ clock, close }: NamespaceClosingPorts): Pick<StoreExtension<undefined>, "committed" | "settled"> {
  const begun = new WeakMap<Operation<undefined>, TerminatingNamespace>();
  return {
    committed(change, operation) {
      const begins = change.after?.metadata?.deletionTimestamp && !change.before?.metadata?.deletionTimestamp;
      if (operation && begins) begun.set(operation, { name: change.key, uid: change.uid });
    },
    async settled(operation) {
      const namespace = begun.get(operation);
      if (namespace) await withTimeout(clock, CLOSE_WAIT_MS, close(namespace)).catch(() => undefined);
    },
  };
}
