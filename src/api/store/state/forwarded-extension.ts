import type { StoreExtension } from "./extension";

/** Every method of `inner`, to be spread where some are replaced: `inner` may be an instance of a class, of which a spread takes no method along. */
export function forwarded<Supply>(inner: StoreExtension<Supply>): Required<StoreExtension<Supply>> {
  return {
    admit: (change, operation) => inner.admit?.(change, operation) ?? { kind: "go" },
    committed: (change, operation) => inner.committed?.(change, operation),
    abandon: (operation) => inner.abandon?.(operation),
    sealTurn: () => inner.sealTurn?.(),
    turnEnding: () => inner.turnEnding?.(),
    turnCommitted: () => inner.turnCommitted?.(),
    writeUndone: () => inner.writeUndone?.(),
    turnLost: () => inner.turnLost?.(),
    settled: (operation) => inner.settled?.(operation) ?? Promise.resolve(),
    ended: (operation) => inner.ended?.(operation),
  };
}
