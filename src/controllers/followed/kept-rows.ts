/**
 * What a controller keeps in the rows of its object: facts by kind and key, and how far it has read each store. Changes are collected and saved in one
 * transaction, so a saved cursor never stands behind what was read up to it. It may stand before (lagging-cursors.ts): then the same is read again,
 * over facts that know it already. A crash before the save does the same.
 */
import type { StoreCursor } from "../../api/rpc/object-links";
import { LaggingCursors } from "./lagging-cursors";
import { type ChangedRow, type FactTaker, idOf, PackedRows } from "./packed-rows";
import type { RowStorage } from "./row-storage";

/** The form of the rows: each alone, or some in pages, which earlier releases do not know. Rows of another form are dropped, and everything is read anew. */
const ALONE = "1";
const PAGED = "2";
const FORMAT_KIND = "format";

export class KeptRows {
  #cursors = new LaggingCursors();
  readonly #changed = new Map<string, ChangedRow>();
  readonly #packed: PackedRows;
  readonly #takers = new Map<string, FactTaker>();
  #format = ALONE;

  /** @param savedTogether changes after which the facts are saved at the end of a page that was read, before the round ends; Infinity = none are */
  constructor(
    private readonly storage: RowStorage,
    private readonly savedTogether = Infinity,
  ) {
    this.#packed = new PackedRows(storage);
  }

  /** The facts of the kind go to `taker` while the rows are loaded, one by one: so nobody holds them all. To be called before `load`. */
  loadInto(kind: string, taker: FactTaker): void {
    this.#takers.set(kind, taker);
  }

  /** To be called once, first. */
  load(): void {
    const { storage } = this;
    const [format] = storage.rows(FORMAT_KIND);
    this.#format = format?.[1] === PAGED ? PAGED : ALONE;
    if (format?.[1] !== this.#format) {
      storage.transaction(() => {
        storage.clear();
        storage.rowPut(FORMAT_KIND, "", ALONE);
      });
    }
    this.#packed.load(this.#takers);
    this.#cursors = new LaggingCursors(storage.cursors());
  }

  /** What was saved of a kind. */
  *saved<T>(kind: string): Iterable<[key: string, value: T]> {
    for (const [key, value] of this.#packed.saved(kind)) yield [key, value as T];
  }

  /** The fact as it is now, saved or not; undefined = there is none. It reads a row, or one of the pages that were read last. */
  get<T extends object>(kind: string, key: string): T | undefined {
    const changed = this.#changed.get(idOf(kind, key));
    return (changed ? changed.value : this.#packed.get(kind, key)) as T | undefined;
  }

  /** undefined = the store has never been read to its end. */
  cursor(store: string): StoreCursor | undefined {
    return this.#cursors.get(store);
  }

  /** How far all stores were read: equal texts, nothing was read between. */
  get position(): string {
    return JSON.stringify([...this.#cursors.all].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  moveCursor(store: string, cursor: StoreCursor): void {
    this.#cursors.move(store, cursor);
  }

  /**
   * `value` is printed when it is saved, as it is then. `isNew`: there was no such row, so one that goes before it is saved costs nothing, and it may share
   * a row with others.
   */
  put(kind: string, key: string, value: object, isNew = false): void {
    const id = idOf(kind, key);
    this.#changed.set(id, { kind, key, value, isNew: this.#changed.get(id)?.isNew ?? isNew });
  }

  delete(kind: string, key: string): void {
    const id = idOf(kind, key);
    if (this.#changed.get(id)?.isNew) this.#changed.delete(id);
    else this.#changed.set(id, { kind, key, value: undefined, isNew: false });
  }

  /**
   * A page of a store was read, and everything that it caused is collected. Many facts are saved now, without the cursors: they are read again if the object
   * dies before the end of the round. Throws when storage does.
   */
  pageRead(): void {
    if (this.#changed.size >= this.savedTogether) this.#save([]);
  }

  /** Throws when storage does; what was collected stays for the next time. `mayWait`: cursors that are little ahead of the saved ones stay in memory. */
  save(mayWait = false): void {
    this.#save(this.#cursors.due(mayWait));
  }

  #save(cursors: readonly (readonly [store: string, cursor: StoreCursor])[]): void {
    if (cursors.length + this.#changed.size === 0) return;
    const { storage } = this;
    let format = this.#format;
    try {
      this.#packed.save(this.#changed.values(), (hasPages) => {
        if (hasPages) format = PAGED;
        if (format !== this.#format) storage.rowPut(FORMAT_KIND, "", format);
        for (const [store, cursor] of cursors) storage.cursorPut(store, cursor);
      });
    } catch (error) {
      // It is unknown whether the rows were kept.
      for (const [id, row] of this.#changed) this.#changed.set(id, { ...row, isNew: false });
      throw error;
    }
    this.#format = format;
    this.#changed.clear();
    this.#cursors.saved(cursors);
  }
}
