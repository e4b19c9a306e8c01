import type { NamespaceGuardStorage } from "../../../../src/api/store/write/namespace-guard";
import type { SavedGaps } from "../../../../src/api/store/state/revision-gaps";
import type { HistoryEntry, SavedMark, StoredObject, StoreState, StoreStorage } from "../../../../src/api/store/state/store-storage";
import { type Journal, JournaledMap } from "./journal";

/** The rows of a StoreEngine on a journal that it shares with the other tables of its object. */
export class SimStoreStorage implements StoreStorage, NamespaceGuardStorage {
  readonly #objects: JournaledMap<StoredObject>;
  readonly #history: JournaledMap<HistoryEntry>;
  readonly #closed: JournaledMap<string>;
  readonly #counts: JournaledMap<number>;
  readonly #journal: Journal;
  #state: StoreState | undefined;
  #marks: readonly SavedMark[] = [];
  #gaps: SavedGaps | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#objects = new JournaledMap(journal);
    this.#history = new JournaledMap(journal);
    this.#closed = new JournaledMap(journal);
    this.#counts = new JournaledMap(journal);
  }

  /** The function brings back the rows of now. */
  remembered(): () => void {
    const [state, marks, gaps] = [this.#state, this.#marks, this.#gaps];
    const maps = [this.#objects, this.#history, this.#closed, this.#counts].map((map) => map.remembered());
    return () => {
      for (const back of maps) back();
      this.#state = state;
      this.#marks = marks;
      this.#gaps = gaps;
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

  historyAppend(entry: HistoryEntry): void {
    this.#history.set(String(entry.revision), { ...entry });
  }

  historySince(after: number, limit: number): HistoryEntry[] {
    const found = this.#history.values().filter(({ revision }) => revision > after);
    return found.sort((a, b) => a.revision - b.revision).slice(0, limit);
  }

  changesSince(after: number, limit: number): Omit<HistoryEntry, "before">[] {
    return this.historySince(after, limit).map(({ revision, type, key, data }) => ({ revision, type, key, data }));
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

  historyTrim(through: number): number {
    let freed = 0;
    for (const { revision, data, before } of this.#history.values()) {
      if (revision > through) continue;
      freed += data.length + before.length;
      this.#history.delete(String(revision));
    }
    return freed;
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
