/**
 * The objects of a store at one revision, computed from the current rows and the history since (rule 22): the pages of a list must not mix revisions.
 *
 * What changes after the revision is noted by its place in the history. Its text is read from there when the reader comes to it. So a snapshot whose
 * reader takes its time holds keys and numbers, and no objects.
 */
import { ownText } from "../../../core/encoding/own-text";
import { type KeyRange, inRange, rangeBehind } from "./keys";
import type { HistoryReader, StoreStorage } from "./store-storage";

/** A store, whose history may be in memory in part. */
export interface PastStore {
  readonly storage: Pick<StoreStorage, "objectScan" | "objectGet">;
  readonly history: HistoryReader;
  /** changes up to this revision are no longer in the history */
  readonly floor: number;
}

/** Key and stored text, in key order. */
export interface SnapshotRow {
  key: string;
  data: string;
  /** of a row of now; that of a former one is in its text */
  revision?: number;
}

/** The history no longer tells what the objects were. */
export class HistoryLost extends Error {
  override readonly name = "HistoryLost";

  constructor(revision: number) {
    super(`the history no longer reaches back to revision ${revision}`);
  }
}

/** Changes that are noted at once, where all are: about 10 ms. */
const CHANGES_TOGETHER = 5_000;

/** It did not exist at the revision of the snapshot. */
const ABSENT = 0;

/** Rows of now. */
export function* rowsNow(storage: Pick<StoreStorage, "objectScan">, range: KeyRange): Iterable<SnapshotRow> {
  yield* storage.objectScan(range.from, range.to);
}

/** Rows as of `revision`, which lies between the floor and the head; to be read in this turn. */
export function rowsAt(store: PastStore, range: KeyRange, revision: number): Iterable<SnapshotRow> {
  const snapshot = new Snapshot(store, range, revision);
  snapshot.catchUpAtOnce();
  return snapshot.rows();
}

/** The objects of a range as of `revision`, which lies between the floor and the head, for one reader who may pause between rows. */
export class Snapshot {
  /** By the key of each object that has changed since and is still to come: the revision of its first change, or ABSENT. */
  readonly #former = new Map<string, number>();
  /** its keys in order; undefined = some are missing */
  #sorted: readonly string[] | undefined = [];
  /** of former objects in the row of the history that was read last, by the revision of their change */
  #texts: ReadonlyMap<number, string> = new Map();
  /** changes up to this revision are noted */
  #through: number;
  /** the key up to which rows were given; "" = none */
  #after = "";
  #isThrough = false;

  constructor(
    private readonly store: PastStore,
    private readonly range: KeyRange,
    private readonly revision: number,
  ) {
    this.#through = revision;
  }

  /** Notes the next changes, at most `limit`. False = there may be more. Throws HistoryLost. */
  catchUp(limit = CHANGES_TOGETHER): boolean {
    if (this.store.floor > this.#through) throw new HistoryLost(this.revision);
    const range = rangeBehind(this.range, this.#after);
    let read = 0;
    for (const { revision, type, key } of this.store.history.headsSince(this.#through, limit)) {
      read++;
      this.#through = revision;
      if (this.#former.has(key) || !inRange(key, range)) continue;
      this.#former.set(key, type === "ADDED" ? ABSENT : revision);
      this.#sorted = undefined;
    }
    return read < limit;
  }

  /** Notes all changes. */
  catchUpAtOnce(): void {
    while (!this.catchUp());
  }

  /** Whether `rows` has come to the end of the range. */
  get isThrough(): boolean {
    return this.#isThrough;
  }

  /**
   * The rows to come, in key order; they end early where `skippedMax` characters of rows were passed over that are no part of it. To be read within the
   * turn in which the last change was noted. Throws HistoryLost.
   */
  *rows(skippedMax = Infinity): Iterable<SnapshotRow> {
    let skipped = 0;
    const { from, to } = rangeBehind(this.range, this.#after);
    const former = this.#formerKeys();
    let next = 0;
    for (const row of this.store.storage.objectScan(from, to)) {
      for (let key = former[next]; key !== undefined && key < row.key; key = former[++next]) yield* this.#formerRows(key);
      if (former[next] === row.key) {
        next++;
        const before = this.#formerRow(row.key);
        if (before) yield before;
        else if ((skipped += row.data.length) >= skippedMax) return;
      } else {
        this.#after = row.key;
        yield row;
      }
    }
    for (let key = former[next]; key !== undefined; key = former[++next]) yield* this.#formerRows(key);
    this.#isThrough = true;
  }

  /** How many more objects there are now, of those to come; negative = fewer. */
  grown(): number {
    let grown = 0;
    for (const [key, revision] of this.#former) {
      grown += Number(this.store.storage.objectGet(key) !== undefined) - Number(revision !== ABSENT);
    }
    return grown;
  }

  #formerKeys(): readonly string[] {
    const sorted = this.#sorted ?? [...this.#former.keys()].sort();
    const first = sorted.findIndex((key) => key > this.#after);
    return (this.#sorted = first < 0 ? [] : sorted.slice(first));
  }

  *#formerRows(key: string): Iterable<SnapshotRow> {
    const row = this.#formerRow(key);
    if (row) yield row;
  }

  /** undefined: the object did not exist. */
  #formerRow(key: string): SnapshotRow | undefined {
    const revision = this.#former.get(key) ?? ABSENT;
    const data = revision === ABSENT ? undefined : this.#textBefore(revision);
    this.#former.delete(key);
    this.#after = key;
    return data === undefined ? undefined : { key, data: ownText(data) };
  }

  /** What the object was before its change of this revision. Objects that changed in one turn share a row of the history. */
  #textBefore(revision: number): string {
    if (!this.#texts.has(revision)) {
      this.#texts = new Map(this.store.history.historySince(revision - 1, 1).map((entry) => [entry.revision, entry.before]));
    }
    const text = this.#texts.get(revision);
    if (text === undefined) throw new HistoryLost(this.revision);
    return text;
  }
}
