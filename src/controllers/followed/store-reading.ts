/**
 * Whether a store may have something that was not read. Pokes say how far their stores have come; what says nothing of a store leaves it unread until
 * a pull that began later has read it to its end.
 *
 *   not read yet in this life of the object, or the last pull failed     it is read
 *   a pass by alarm or cron, or a poke that names no store               it is read
 *   a poke told of a place behind the cursor                             it is read, and asks for a pass
 *   a poke told of a place that the cursor has reached                   nothing
 *
 * A poke may be lost. Then the store is read with the next one, which cron's visit to the store asks for within a minute.
 */
import type { StoreCursor } from "../../api/rpc/object-links";
import { FIRST_REVISION } from "../../api/store/state/revisions";

export class StoreReading {
  #mustRead = true;
  /** the newest place that pokes told of since the last pull began */
  #told: StoreCursor | undefined;
  #isUsed = false;

  /** A poke told of the store. */
  hears({ incarnation, revision }: StoreCursor): void {
    if (revision > FIRST_REVISION) this.#isUsed = true;
    const isOlder = this.#told?.incarnation === incarnation && this.#told.revision >= revision;
    if (!isOlder) this.#told = { incarnation, revision };
  }

  /** Whether the store itself has told of a write: then nobody needs to be asked whether it was ever written to (used-stores.ts). */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** The store is read next, whatever pokes say. */
  mustRead(): void {
    this.#mustRead = true;
  }

  /** A pull begins. What was told before needs no other one. */
  begins(): void {
    this.#mustRead = false;
    this.#told = undefined;
  }

  /** @param cursor how far the store was read */
  isBehind(cursor: StoreCursor | undefined): boolean {
    return this.#mustRead || this.wants(cursor);
  }

  /** Whether a poke told of something that was not read: then a pass is needed. */
  wants(cursor: StoreCursor | undefined): boolean {
    if (!this.#told) return false;
    return cursor?.incarnation !== this.#told.incarnation || cursor.revision < this.#told.revision;
  }
}
