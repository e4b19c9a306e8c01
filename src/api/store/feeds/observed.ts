/** An extension with an observer, which hears of commits. The extension's rules stay as they are. */
import type { CommittedChange, StoreExtension } from "../state/extension";

export interface StoreObserver {
  /** inside the transaction, once per change; must not throw */
  committed(change: CommittedChange): void;
  /** after the transaction, in the same turn */
  turnCommitted(): void;
  /** the transaction was lost */
  turnLost(): void;
}

/** `inner` with an observer. Written out method by method, because `inner` may be an instance of a class. */
export function observed<Supply>(inner: StoreExtension<Supply>, observer: StoreObserver): StoreExtension<Supply> {
  return {
    admit: (change, operation) => inner.admit?.(change, operation) ?? { kind: "go" },
    committed(change, operation) {
      inner.committed?.(change, operation);
      observer.committed(change);
    },
    abandon: (operation) => inner.abandon?.(operation),
    sealTurn: () => inner.sealTurn?.(),
    turnCommitted() {
      inner.turnCommitted?.();
      observer.turnCommitted();
    },
    writeUndone: () => inner.writeUndone?.(),
    turnLost() {
      inner.turnLost?.();
      observer.turnLost();
    },
    settled: (operation) => inner.settled?.(operation) ?? Promise.resolve(),
    ended: (operation) => inner.ended?.(operation),
  };
}
