import type { NamespaceGuardStorage } from "../../../../src/api/store/write/namespace-guard";
import type { SavedGaps } from "../../../../src/api/store/state/revision-gaps";
import { rowsOfTurn, sizeOf } from "../../../../src/api/store/state/history-rows";
import type {
  ChangeHead,
  FreedHistory,
  HistoryEntry,
  HistoryHead,
  SavedMark,
  StoredObject,
  StoreState,
  StoreStorage,
} from "../../../../src/api/store/state/store-storage";
import { type Journal, JournaledMap } from "./journal";

/** The rows of a StoreEngine on a journal that it shares with the other tables of its object. */
export class SimStoreStorage implements StoreStorage, NamespaceGuardStorage {
  readonly #objects: JournaledMap<StoredObject>;
  /** by the last revision of each row */
  readonly #history: JournaledMap<readonly HistoryEntry[]>;
  readonly #closed: JournaledMap<string>;
  readonly #counts: JournaledMap<number>;
  readonly #journal: Journal;
  #state: StoreState | undefined;
  #marks: readonly SavedMark[] = [];
  #gaps: SavedGaps | undefined;
  #isEntered = false;

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#objects = new JournaledMap(journal);
    this.#history = new JournaledMap(journal);
    this.#closed = new JournaledMap(journal);
    this.#counts = new JournaledMap(journal);
  }

  /** The function brings back the rows of now. */
  remembered(): () => void {
    const [state, marks, gaps, isEntered] = [this.#state, this.#marks, this.#gaps, this.#isEntered];
    const maps = [this.#objects, this.#history, this.#closed, this.#counts].map((map) => map.remembered());
    return () => {
      for (const back of maps) back();
      this.#state = state;
      this.#marks = marks;
      this.#gaps = gaps;
      this.#isEntered = isEntered;
    };
  }

  transaction<T>(work: () => T): T {
    return this.#journal.transaction(work);
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  stateLoad(): StoreState | undefined {
    return this.#state && { ...this.#state };
  }

  stateSave(state: StoreState): void {
    const before = this.#state;
    this.#journal.wrote(() => (this.#state = before));
    this.#state = { ...state };
  }

  objectGet(key: string): StoredObject | undefined {
    return this.#objects.get(key);
  }

  objectPut(object: StoredObject): void {
    this.#objects.set(object.key, { ...object });
  }

  objectDelete(key: string): void {
    if (this.#closed.has(key.slice(0, Math.max(0, key.indexOf("/"))))) this.#journal.note("emptyBatch");
    this.#objects.delete(key);
  }

  objectScan(from: string, to: string): StoredObject[] {
    const found = this.#objects.values().filter(({ key }) => key >= from && (to === "" || key < to));
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  objectKeysAfter(after: string, limit: number): string[] {
    const keys = this.#objects.values().map(({ key }) => key);
    return keys
      .filter((key) => key > after)
      .sort()
      .slice(0, limit);
  }

  namespaceCount(namespace: string): number {
    return this.#counts.get(namespace) ?? 0;
  }

  namespaceCountAdd(namespace: string, objects: number): void {
    this.#counts.set(namespace, this.namespaceCount(namespace) + objects);
  }

  namespaceCountsClear(): void {
    for (const namespace of this.#counts.keys()) this.#counts.delete(namespace);
  }

  historyAppend(entries: readonly HistoryEntry[]): void {
    for (const row of rowsOfTurn(entries)) {
      this.#history.set(
        String(lastOf(row)),
        row.map((entry) => ({ ...entry })),
      );
    }
  }

  historySince(after: number, limit: number): HistoryEntry[] {
    const entries: HistoryEntry[] = [];
    for (const row of this.#rowsBehind(after)) {
      if (entries.length >= limit) break;
      entries.push(...row.filter(({ revision }) => revision > after));
    }
    return entries;
  }

  changesSince(after: number, limit: number): Omit<HistoryEntry, "before">[] {
    const entries = this.historySince(after, limit).slice(0, limit);
    return entries.map(({ revision, type, key, data }) => ({ revision, type, key, data }));
  }

  headsSince(after: number, limit: number): ChangeHead[] {
    const entries = this.historySince(after, limit).slice(0, limit);
    return entries.map(({ revision, type, key }) => ({ revision, type, key }));
  }

  historyHeads(after: number): HistoryHead[] {
    return this.historySince(after, Infinity).map(({ revision, type, key, data, before }) => {
      return { revision, type, key, size: data.length + before.length };
    });
  }

  historyRevisionAt(after: number, place: number): number | undefined {
    return this.historySince(after, place)[place - 1]?.revision;
  }

  marksLoad(): readonly SavedMark[] {
    return this.#marks;
  }

  marksSave(marks: readonly SavedMark[]): void {
    const before = this.#marks;
    this.#journal.wrote(() => (this.#marks = before));
    this.#marks = marks;
  }

  gapsLoad(): SavedGaps | undefined {
    return this.#gaps;
  }

  gapsSave(gaps: SavedGaps): void {
    const before = this.#gaps;
    this.#journal.wrote(() => (this.#gaps = before));
    this.#gaps = gaps;
  }

  isEntered(): boolean {
    return this.#isEntered;
  }

  noteEntered(): void {
    const before = this.#isEntered;
    this.#journal.wrote(() => (this.#isEntered = before));
    this.#isEntered = true;
  }

  historyTrim(after: number, through: number): FreedHistory {
    const freed = { entries: 0, chars: 0 };
    for (const row of this.#history.values()) {
      if (lastOf(row) <= through) this.#history.delete(String(lastOf(row)));
      for (const entry of row) {
        if (entry.revision <= after || entry.revision > through) continue;
        freed.entries++;
        freed.chars += sizeOf(entry);
      }
    }
    return freed;
  }

  #rowsBehind(after: number): (readonly HistoryEntry[])[] {
    const rows = this.#history.values().filter((row) => lastOf(row) > after);
    return rows.sort((a, b) => lastOf(a) - lastOf(b));
  }

  namespaceClosedUid(name: string): string | undefined {
    return this.#closed.get(name);
  }

  namespaceClose(name: string, uid: string): void {
    this.#journal.note("closeNamespace");
    this.#closed.set(name, uid);
  }

  namespaceOpen(name: string): void {
    this.#closed.delete(name);
  }
}

function lastOf(row: readonly HistoryEntry[]): number {
  return row.at(-1)?.revision ?? 0;
}
