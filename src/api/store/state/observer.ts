import type { CommittedChange } from "./extension";

/**
 * Hears what a store has committed. An extension takes part in a write (extension.ts); an observer only learns of it, so any number of observers stand
 * beside each other.
 *
 * - When: after the transaction, in the same turn of the event loop, behind the extension's own `turnCommitted`. Calls to other objects leave when the
 *   transaction is durable, as the answers of the writes do.
 * - What: the changes of the turn, in the order of their revisions. Refused, undone and dry writes are no changes. A turn without changes is not told.
 * - On disk, if the process dies in between: the whole turn. Nobody tells it again. So whatever an observer causes must also be found another way: by a
 *   cursor, by cron, or at the next start.
 * - No observer changes the outcome: it has no storage and answers nothing, its errors are logged, and it leaves the objects of a change as they are.
 */
export interface StoreObserver {
  turnCommitted(changes: readonly CommittedChange[]): void;
  /** The transaction failed. Whether its changes are stored is unknown. */
  turnLost?(): void;
  /** It causes nothing behind a turn, so cron has nothing to make up for. */
  readonly isIdle?: true;
}
