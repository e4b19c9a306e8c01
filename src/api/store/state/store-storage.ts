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

/**
 * What a start cannot read from the other rows. It is saved with the first change beyond `reserved`, and when history is trimmed; what was written to the
 * history since then is counted again at a start (rule 22).
 */
export interface StoreState {
  /** fresh per store lifetime; continue tokens, cursors and snapshots carry it */
  incarnation: string;
  /** Every revision that was given out is at most this one. So code of a release that knows no history behind a saved state begins above all. */
  reserved: number;
  /** changes with a revision <= floor are no longer in the history */
  floor: number;
  /** entries of the history up to this revision are counted in what follows: the newest one when the state was saved */
  through: number;
  /** number of entries above the floor */
  historyEntries: number;
  /** characters of their `data` and `before` */
  historySize: number;
  counted: CountedObjects;
  /** changes up to this revision may have been in memory alone (rule 33); 0 = none */
  unwrittenThrough: number;
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

/** The retained changes of a store. */
export interface HistoryReader {
  /** entries with revision > `after`, in order: `limit` or a few more, since those of one row come together. Fewer = there are no more */
  historySince(after: number, limit: number): HistoryEntry[];
  /** at most `limit` of them, without what was before: half the bytes. Read one by one, within the turn: whoever has enough reads no more */
  changesSince(after: number, limit: number): Iterable<Omit<HistoryEntry, "before">>;
  /** at most `limit` of them, without their texts, one by one as above */
  headsSince(after: number, limit: number): Iterable<ChangeHead>;
}

/** Which object has changed, and how. */
export type ChangeHead = Pick<HistoryEntry, "revision" | "type" | "key">;

/** What a start reads of an entry of the history. */
export interface HistoryHead extends ChangeHead {
  /** characters of `data` and `before` */
  size: number;
}

export interface FreedHistory {
  entries: number;
  chars: number;
}

export interface StoreStorage extends HistoryReader {
  /** Runs `work` atomically: if it throws, no row changed. May be nested (a savepoint). Throws a StorageFault where the storage failed. */
  transaction<T>(work: () => T): T;
  /** Resolves when everything written so far is durable. */
  sync(): Promise<void>;
  /** what was last saved; of a store that an earlier release has written to, what that release saved. undefined at first */
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
  /** the changes of one turn, in order: they share rows (history-rows.ts) */
  historyAppend(entries: readonly HistoryEntry[]): void;
  /** what a start counts of the entries with revision > `after`, in order */
  historyHeads(after: number): Iterable<HistoryHead>;
  /** the revision of the entry at this place, from 1, behind a revision; undefined = there are fewer */
  historyRevisionAt(after: number, place: number): number | undefined;
  /** what was last saved, in order; nothing at first */
  marksLoad(): readonly SavedMark[];
  marksSave(marks: readonly SavedMark[]): void;
  /** what was last saved; undefined at first */
  gapsLoad(): SavedGaps | undefined;
  gapsSave(gaps: SavedGaps): void;
  /** whether the store has noted that cron's full visits know it (tenancy/visit-list.ts) */
  isEntered(): boolean;
  noteEntered(): void;
  /**
   * Drops entries with revision <= `through`; those that share a row with later ones go with these. Answers how many have a revision > `after`, and their
   * characters, whether they went or are to go: each counts in one call.
   */
  historyTrim(after: number, through: number): FreedHistory;
}
