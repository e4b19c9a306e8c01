import type { AddressKey } from "../../../src/addresses/alloc/owner-key";
import type {
  OwnerStorage,
  ReleasedList,
  StoredConfig,
  StoredPage,
  StoredReceiving,
  StoredRow,
} from "../../../src/addresses/alloc/owner-storage";
import type { DirtyPage } from "../../../src/addresses/alloc/pool";

/**
 * OwnerStorage in memory, with the faults of a real one. It outlives the Owner over it: a restart is a new Owner on the same storage.
 * `crashNext` makes the next outermost transaction throw, either before its commit (everything undone) or after it (everything kept,
 * but the caller cannot know).
 */
export class MemoryOwnerStorage implements OwnerStorage {
  crashNext: "beforeCommit" | "afterCommit" | undefined;
  /** outermost transactions that were kept and wrote something: what would cost a disk sync */
  commits = 0;
  /** single writes so far, undone ones included */
  writes = 0;

  #config: StoredConfig | undefined;
  #reserved = 0;
  readonly #rows = new Map<AddressKey, StoredRow>();
  readonly #keyByToken = new Map<string, AddressKey>();
  readonly #released = new Map<number, ReleasedList>();
  readonly #receiving = new Map<number, StoredReceiving>();
  readonly #pages = new Map<string, StoredPage>();
  /** how to undo the writes of the open transaction, oldest first; undefined = none is open */
  #undo: (() => void)[] | undefined;

  transaction<T>(body: () => T): T {
    const outer = this.#undo;
    const undo: (() => void)[] = [];
    this.#undo = undo;
    try {
      const result = body();
      if (outer !== undefined) outer.push(...undo);
      else this.#commit(undo.length > 0);
      return result;
    } catch (error) {
      if (!(error instanceof CommittedError)) for (const step of undo.reverse()) step();
      throw error;
    } finally {
      this.#undo = outer;
    }
  }

  configLoad(): StoredConfig | undefined {
    return this.#config;
  }

  configSave(config: StoredConfig): void {
    const before = this.#config;
    this.#write(() => (this.#config = before));
    this.#config = { ...config };
  }

  reservedLoad(): number {
    return this.#reserved;
  }

  reservedSave(position: number): void {
    const before = this.#reserved;
    this.#write(() => (this.#reserved = before));
    this.#reserved = position;
  }

  rowInsert(row: StoredRow): void {
    if (this.#rows.has(row.key)) throw new Error(`UNIQUE constraint failed: key ${row.key}`);
    if (this.#keyByToken.has(row.token)) throw new Error(`UNIQUE constraint failed: token ${row.token}`);
    this.#write(() => this.#removeRow(row));
    this.#addRow(row);
  }

  rowDelete(key: AddressKey, token: string): boolean {
    const row = this.#rows.get(key);
    if (row?.token !== token) return false;
    this.#write(() => this.#addRow(row));
    this.#removeRow(row);
    return true;
  }

  rowsDeleteBetween(after: AddressKey, before: AddressKey): void {
    for (const row of [...this.#rows.values()]) if (row.key > after && row.key < before) this.rowDelete(row.key, row.token);
  }

  rowByToken(token: string): StoredRow | undefined {
    const key = this.#keyByToken.get(token);
    return key === undefined ? undefined : this.#rows.get(key);
  }

  rowsSince(afterPosition: number, limit: number): StoredRow[] {
    const rows = [...this.#rows.values()].filter(({ position }) => position > afterPosition);
    return rows.sort((a, b) => a.position - b.position).slice(0, limit);
  }

  rowsIn({ first, last, after }: { first: AddressKey; last: AddressKey; after: AddressKey }, limit: number): StoredRow[] {
    const keys = this.rowKeys(first, last).filter((key) => key > after);
    return keys.slice(0, limit).flatMap((key) => this.#rows.get(key) ?? []);
  }

  rowKeys(first: AddressKey, last: AddressKey): AddressKey[] {
    return [...this.#rows.keys()].filter((key) => key >= first && key <= last).sort();
  }

  rowCount(first: AddressKey, last: AddressKey): number {
    const keys = this.rowKeys(first, last);
    return keys.length;
  }

  serviceRowCount(first: AddressKey, last: AddressKey): number {
    const keys = this.rowKeys(first, last).filter((key) => this.#rows.get(key)?.holder.kind === "service");
    return keys.length;
  }

  receivingLoad(handoff: number): StoredReceiving | undefined {
    return this.#receiving.get(handoff);
  }

  receivingSave(handoff: number, state: StoredReceiving): void {
    const before = this.#receiving.get(handoff);
    this.#write(() => (before === undefined ? this.#receiving.delete(handoff) : this.#receiving.set(handoff, before)));
    this.#receiving.set(handoff, { ...state });
  }

  receivingRetain(handoffs: readonly number[]): void {
    for (const [handoff, state] of [...this.#receiving]) {
      if (handoffs.includes(handoff)) continue;
      this.#write(() => this.#receiving.set(handoff, state));
      this.#receiving.delete(handoff);
    }
  }

  releasedLists(): ReleasedList[] {
    return [...this.#released.values()].sort((a, b) => a.id - b.id).map((list) => structuredClone(list));
  }

  releasedSave(list: ReleasedList): void {
    const before = this.#released.get(list.id);
    this.#write(() => (before === undefined ? this.#released.delete(list.id) : this.#released.set(list.id, before)));
    this.#released.set(list.id, structuredClone(list));
  }

  releasedDelete(id: number): void {
    const before = this.#released.get(id);
    if (before === undefined) return;
    this.#write(() => this.#released.set(id, before));
    this.#released.delete(id);
  }

  releasedClear(): void {
    for (const id of [...this.#released.keys()]) this.releasedDelete(id);
  }

  /** For tests: how many tokens are remembered. */
  get releasedCount(): number {
    return this.releasedLists().reduce((sum, { tokens }) => sum + tokens.length, 0);
  }

  pagesLoad(): StoredPage[] {
    return [...this.#pages.values()];
  }

  pageSave({ segment, page, bytes }: DirtyPage): void {
    const id = `${segment} ${page}`;
    const before = this.#pages.get(id);
    if (bytes === null && before === undefined) return;
    this.#write(() => (before === undefined ? this.#pages.delete(id) : this.#pages.set(id, before)));
    if (bytes === null) this.#pages.delete(id);
    else this.#pages.set(id, { segment, page, bytes: bytes.slice() });
  }

  pagesDelete(segment: string): void {
    for (const page of this.pagesLoad()) if (page.segment === segment) this.pageSave({ segment, page: page.page, bytes: null });
  }

  pagesClear(): void {
    for (const { segment, page } of this.pagesLoad()) this.pageSave({ segment, page, bytes: null });
  }

  #commit(wrote: boolean): void {
    const crash = this.crashNext;
    this.crashNext = undefined;
    if (crash === "beforeCommit") throw new Error("crash before commit");
    if (wrote) this.commits++;
    if (crash === "afterCommit") throw new CommittedError("crash after commit");
  }

  #write(undo: () => void): void {
    this.writes++;
    this.#undo?.push(undo);
  }

  #addRow(row: StoredRow): void {
    this.#rows.set(row.key, row);
    this.#keyByToken.set(row.token, row.key);
  }

  #removeRow(row: StoredRow): void {
    this.#rows.delete(row.key);
    this.#keyByToken.delete(row.token);
  }
}

class CommittedError extends Error {}
