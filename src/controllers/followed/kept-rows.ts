/**
 * What a controller keeps in the rows of its object: facts by kind and key, and how far it has read each store. Changes are collected and saved in one
 * transaction, so a cursor never stands behind what was read up to it. A crash before loses both: the same is read again.
 */
import type { StoreCursor } from "../../api/rpc/object-links";
import type { RowStorage } from "./row-storage";

/** The form of the rows. Rows of another form are dropped, and everything is read anew. */
const FORMAT = "1";
const FORMAT_KIND = "format";

interface ChangedRow {
  readonly kind: string;
  readonly key: string;
  /** undefined = the row goes */
  readonly value: object | undefined;
  /** the storage has no such row */
  readonly isNew: boolean;
}

export class KeptRows {
  readonly #cursors = new Map<string, StoreCursor>();
  readonly #moved = new Set<string>();
  readonly #changed = new Map<string, ChangedRow>();

  constructor(private readonly storage: RowStorage) {}

  /** To be called once, first. */
  load(): void {
    const { storage } = this;
    const [format] = storage.rows(FORMAT_KIND);
    if (format?.[1] !== FORMAT) {
      storage.transaction(() => {
        storage.clear();
        storage.rowPut(FORMAT_KIND, "", FORMAT);
      });
    }
    for (const [store, cursor] of storage.cursors()) this.#cursors.set(store, cursor);
  }

  /** What was saved of a kind. */
  *saved<T>(kind: string): Iterable<[key: string, value: T]> {
    for (const [key, text] of this.storage.rows(kind)) yield [key, JSON.parse(text) as T];
  }

  /** undefined = the store has never been read to its end. */
  cursor(store: string): StoreCursor | undefined {
    return this.#cursors.get(store);
  }

  /** How far all stores were read: equal texts, nothing was read between. */
  get position(): string {
    return JSON.stringify([...this.#cursors].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  moveCursor(store: string, cursor: StoreCursor): void {
    const before = this.#cursors.get(store);
    if (before?.revision === cursor.revision && before.incarnation === cursor.incarnation) return;
    this.#cursors.set(store, cursor);
    this.#moved.add(store);
  }

  /** `value` is printed when it is saved, as it is then. `isNew`: there was no such row, so one that goes before it is saved costs nothing. */
  put(kind: string, key: string, value: object, isNew = false): void {
    const id = `${kind} ${key}`;
    this.#changed.set(id, { kind, key, value, isNew: this.#changed.get(id)?.isNew ?? isNew });
  }

  delete(kind: string, key: string): void {
    const id = `${kind} ${key}`;
    if (this.#changed.get(id)?.isNew) this.#changed.delete(id);
    else this.#changed.set(id, { kind, key, value: undefined, isNew: false });
  }

  /** Throws when storage does; what was collected stays for the next time. */
  save(): void {
    if (this.#moved.size + this.#changed.size === 0) return;
    const { storage } = this;
    storage.transaction(() => {
      for (const { kind, key, value } of this.#changed.values()) {
        if (value) storage.rowPut(kind, key, JSON.stringify(value));
        else storage.rowDelete(kind, key);
      }
      for (const store of this.#moved) {
        const cursor = this.#cursors.get(store);
        if (cursor) storage.cursorPut(store, cursor);
      }
    });
    this.#changed.clear();
    this.#moved.clear();
  }
}
