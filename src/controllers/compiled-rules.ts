/** The store of ClusterRoles tells what compiles the rules of its own changes, in the transaction of each. */
import type { CompilingRules } from "../api/rpc/policy";
import type { StoreExtension } from "../api/store/state/extension";

/** The extension of the store, with what is told. */
export function tellingOwnChanges<Supply>(
  inner: StoreExtension<Supply>,
  rules: () => Pick<CompilingRules, "ownChanged" | "ownUndone"> | undefined,
): StoreExtension<Supply> {
  // Method by method, because `inner` may be an instance of a class.
  return {
    admit: (change, operation) => inner.admit?.(change, operation) ?? { kind: "go" },
    committed: (change, operation) => {
      rules()?.ownChanged();
      inner.committed?.(change, operation);
    },
    abandon: (operation) => inner.abandon?.(operation),
    sealTurn: () => inner.sealTurn?.(),
    turnEnding: () => inner.turnEnding?.(),
    turnCommitted: () => inner.turnCommitted?.(),
    writeUndone: () => {
      rules()?.ownUndone();
      inner.writeUndone?.();
    },
    turnLost: () => {
      rules()?.ownUndone();
      inner.turnLost?.();
    },
    settled: (operation) => inner.settled?.(operation) ?? Promise.resolve(),
    ended: (operation) => inner.ended?.(operation),
  };
}
