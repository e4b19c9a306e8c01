/**
 * How far stores were read, and how far that is on disk. A cursor may be saved later than what was read up to it, and never earlier. A crash takes it
 * back, and the same changes are read once more: at most those of a minute, or CURSOR_LAG_MAX of each store. Where the history has lost them by then, the
 * store is listed.
 */
import type { StoreCursor } from "../../api/rpc/object-links";

/** Revisions that a cursor may be ahead of the saved one: reading them again takes one call. */
export const CURSOR_LAG_MAX = 100;

export class LaggingCursors {
  #now: Map<string, StoreCursor>;
  /** those on disk that are not as in `#now`, and stores that have none there */
  readonly #behind = new Map<string, StoreCursor | undefined>();

  /** @param saved those on disk */
  constructor(saved: Iterable<[store: string, cursor: StoreCursor]> = []) {
    this.#now = new Map(saved);
  }

  get(store: string): StoreCursor | undefined {
    return this.#now.get(store);
  }

  get all(): Iterable<[store: string, cursor: StoreCursor]> {
    return this.#now;
  }

  move(store: string, cursor: StoreCursor): void {
    const before = this.#now.get(store);
    if (before?.revision === cursor.revision && before.incarnation === cursor.incarnation) return;
    if (!this.#behind.has(store)) this.#behind.set(store, before);
    this.#now.set(store, cursor);
  }

  /** Those that are to be saved now. `mayWait`: only what is far behind, or has no cursor of this life of its store on disk. */
  due(mayWait: boolean): [store: string, cursor: StoreCursor][] {
    return [...this.#behind].flatMap(([store, saved]): [string, StoreCursor][] => {
      const cursor = this.#now.get(store);
      const isNear = saved !== undefined && saved.incarnation === cursor?.incarnation && cursor.revision - saved.revision < CURSOR_LAG_MAX;
      return cursor && !(mayWait && isNear) ? [[store, cursor]] : [];
    });
  }

  /** These are on disk now. */
  saved(cursors: Iterable<readonly [store: string, cursor: StoreCursor]>): void {
    for (const [store] of cursors) this.#behind.delete(store);
  }
}
