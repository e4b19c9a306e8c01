/** The store of ClusterRoles tells what compiles the rules of its own changes, in the transaction of each. */
import type { CompilingRules } from "../api/rpc/policy";
import type { StoreExtension } from "../api/store/state/extension";
import { forwarded } from "../api/store/state/forwarded-extension";

/** The extension of the store, with what is told. */
export function tellingOwnChanges<Supply>(
  inner: StoreExtension<Supply>,
  rules: () => Pick<CompilingRules, "ownChanged" | "ownUndone"> | undefined,
): StoreExtension<Supply> {
  return {
    ...forwarded(inner),
    committed: (change, operation) => {
      rules()?.ownChanged();
      inner.committed?.(change, operation);
    },
    writeUndone: () => {
      rules()?.ownUndone();
      inner.writeUndone?.();
    },
    turnLost: () => {
      rules()?.ownUndone();
      inner.turnLost?.();
    },
  };
}
