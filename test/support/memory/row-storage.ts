import type { StoreCursor } from "../../../src/api/rpc/object-links";
import type { RowStorage } from "../../../src/controllers/followed/row-storage";
import { PAGES_KIND } from "../../../src/controllers/followed/packed-rows";
import { Journal, JournaledMap } from "../sim/platform/journal";

/** The rows of a controller on a journal. */
export class MemoryRowStorage implements RowStorage {
  readonly #rows: JournaledMap<readonly [kind: string, key: string, text: string]>;
  readonly #cursors: JournaledMap<string>;

  constructor(readonly journal = new Journal()) {
    this.#rows = new JournaledMap(journal);
    this.#cursors = new JournaledMap(journal);
  }

  /** The function brings back what there is now. */
  remembered(): () => void {
    const back = [this.#rows.remembered(), this.#cursors.remembered()];
    return () => back.forEach((one) => one());
  }

  transaction(work: () => void): void {
    this.journal.transaction(work);
  }

  cursors(): [string, StoreCursor][] {
    return this.#cursors.values().map((text) => JSON.parse(text) as [string, StoreCursor]);
  }

  cursorPut(store: string, cursor: StoreCursor): void {
    this.#cursors.set(store, JSON.stringify([store, cursor]));
  }

  rows(kind: string): [string, string][] {
    return this.#rows.values().flatMap(([of, key, text]): [string, string][] => (of === kind ? [[key, text]] : []));
  }

  /** The facts of a kind, those included that share rows (packed-rows.ts). */
  facts(kind: string): [key: string, text: string][] {
    const shared = this.rows(PAGES_KIND).flatMap(([, text]) => JSON.parse(text) as [string, string, unknown][]);
    return [
      ...this.rows(kind),
      ...shared.flatMap(([of, key, value]): [string, string][] => (of === kind ? [[key, JSON.stringify(value)]] : [])),
    ];
  }

  /** A fact is lost, wherever it stands. */
  lose(kind: string, key: string): void {
    this.rowDelete(kind, key);
    for (const [page, text] of this.rows(PAGES_KIND)) {
      const entries = JSON.parse(text) as [string, string, unknown][];
      this.rowPut(PAGES_KIND, page, JSON.stringify(entries.filter(([of, at]) => of !== kind || at !== key)));
    }
  }

  rowGet(kind: string, key: string): string | undefined {
    return this.#rows.get(JSON.stringify([kind, key]))?.[2];
  }

  rowPut(kind: string, key: string, text: string): void {
    this.#rows.set(JSON.stringify([kind, key]), [kind, key, text]);
  }

  rowDelete(kind: string, key: string): void {
    this.#rows.delete(JSON.stringify([kind, key]));
  }

  clear(): void {
    for (const at of this.#rows.keys()) this.#rows.delete(at);
    for (const store of this.#cursors.keys()) this.#cursors.delete(store);
  }
}
