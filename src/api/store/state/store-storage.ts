/**
 * The rows of one StoreEngine, behind a port: SQL in the Durable Object, plain maps in the simulation.
 * Every method is synchronous; what happens inside one `transaction` is durable together or not at all.
 */
import type { ChangeType } from "../../meta/watch-event";
import type { SavedGaps } from "./revision-gaps";

/** `key` orders objects as upstream's etcd does: `namespace/name`, or the bare name of a cluster-scoped kind. */
export interface StoredObject {
  key: string;
  uid: string;
  /** the number behind metadata.resourceVersion */
  revision: number;
  /** JSON text without kind and apiVersion, ready to be sent */
  data: string;
}

export interface HistoryEntry {
  revision: number;
  type: ChangeType;
  key: string;
  /** the object after the change; for DELETED its last state with the deletion's own resourceVersion */
  data: string;
  /** the object before the change; "" for ADDED */
  before: string;
}

/** Persisted with every change (rule 22): none of it can be derived from the other rows after a compaction. */
export interface StoreState {
  /** fresh per store lifetime; continue tokens, cursors and snapshots carry it */
  incarnation: string;
  /** the last revision given out */
  revision: number;
  /** changes with a revision <= floor are no longer in the history */
  floor: number;
  /** characters of `data` and `before` in the history */
  historySize: number;
  /** of this revision; a storage that holds none of this revision answers NOTHING_COUNTED */
  counted: CountedObjects;
}

/** How far the kept counts of objects reach (object-counts.ts). */
export interface CountedObjects {
  readonly objects: number;
  /** the objects up to this key are counted: "" = none, undefined = all */
  readonly through: string | undefined;
}

/** How far a store was at a time (revision-marks.ts): milliseconds since the epoch, its revision, characters of history written until then. */
export type SavedMark = readonly [atMs: number, revision: number, written: number];

/** The counts of a store that was written without them. */
export const NOTHING_COUNTED: CountedObjects = { objects: 0, through: "" };

/** The storage itself failed: disk full, read-only or broken. How much of the open transaction it kept is unknown. */
export class StorageFault extends Error {
  override readonly name = "StorageFault";
}

/** How the text of such a failure ends, as the platform writes it: errors cross RPC as their text. */
export const STORAGE_FAULT = /: SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|NOMEM)/;

export interface StoreStorage {
  /** Runs `work` atomically: if it throws, no row changed. May be nested (a savepoint). Throws a StorageFault where the storage failed. */
  transaction<T>(work: () => T): T;
  /** Resolves when everything written so far is durable. */
  sync(): Promise<void>;
  stateLoad(): StoreState | undefined;
  stateSave(state: StoreState): void;
  objectGet(key: string): StoredObject | undefined;
  objectPut(object: StoredObject): void;
  objectDelete(key: string): void;
  /** objects with `from` <= key < `to` in key order ("" as `to` = no end) */
  objectScan(from: string, to: string): Iterable<StoredObject>;
  /** keys > `after` in order, at most `limit` */
  objectKeysAfter(after: string, limit: number): string[];
  /** the kept count of a namespace; 0 at first */
  namespaceCount(namespace: string): number;
  /** changes it by `objects` */
  namespaceCountAdd(namespace: string, objects: number): void;
  namespaceCountsClear(): void;
  historyAppend(entry: HistoryEntry): void;
  /** entries with revision > `after`, in order, at most `limit` */
  historySince(after: number, limit: number): HistoryEntry[];
  /** the same without what was before: half the bytes. Read one by one, within the turn: whoever has enough reads no more */
  changesSince(after: number, limit: number): Iterable<Omit<HistoryEntry, "before">>;
  /** what was last saved, in order; nothing at first */
  marksLoad(): readonly SavedMark[];
  marksSave(marks: readonly SavedMark[]): void;
  /** what was last saved; undefined at first */
  gapsLoad(): SavedGaps | undefined;
  gapsSave(gaps: SavedGaps): void;
  /** drops entries with revision <= `through`; answers the characters freed */
  historyTrim(through: number): number;
}
