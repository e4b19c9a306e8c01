/**
 * The revisions of a store. Each change of an object is written as the next revision, with its entry in the history. Revision, floor and history
 * are written in the transaction of the change (rule 22), which the caller has open.
 */
import { assert } from "../../../core/base/assert";
import { parseJson } from "../../../core/encoding/exact-json";
import type { Clock, Random } from "../../../core/base/ports";
import type { KubeObject } from "../../meta/kubernetes";
import { rfc3339Seconds } from "../../meta/time";
import type { ResourceDefinition } from "../../registry/resource";
import type { CommittedChange, Operation, StoreExtension } from "./extension";
import { ownWriter, trackFields } from "./field-tracking";
import { inRange, type KeyRange, namespaceRange, storageKey } from "./keys";
import {
  HISTORY_ENTRIES_MAX,
  HISTORY_FREED_TOGETHER_CHARS,
  HISTORY_FRESH_MS,
  HISTORY_FRESH_SIZE_MAX,
  HISTORY_SIZE_MAX,
  HISTORY_TRIM_ENTRIES,
  OBJECTS_COUNTED_TOGETHER,
} from "./limits";
import { countChanges, countNext } from "./object-counts";
import { isTooLarge } from "./object-size";
import { RevisionGaps } from "./revision-gaps";
import { RevisionMarks } from "./revision-marks";
import type { HistoryEntry, StoredObject, StoreState, StoreStorage } from "./store-storage";

/** Bounds of the history; the default is what limits.ts says. */
export interface HistoryBounds {
  entriesMax: number;
  sizeMax: number;
  /** of a history that is not old yet; absent = as of any other */
  freshSizeMax?: number;
  trimEntries: number;
}

const HISTORY_BOUNDS: HistoryBounds = {
  entriesMax: HISTORY_ENTRIES_MAX,
  sizeMax: HISTORY_SIZE_MAX,
  freshSizeMax: HISTORY_FRESH_SIZE_MAX,
  trimEntries: HISTORY_TRIM_ENTRIES,
};

/** What stays of a history that was too large, by its size: the next trim is some time away. */
const HISTORY_SHARE_KEPT = 0.8;
/** A history that is too large loses this part of its entries at a time. */
const HISTORY_TRIM_PARTS = 16;

/** A restore finds a cluster empty but for its initial objects. One turn renews no more. */
const RENEWED_MAX = 1_000;

/** The revision of an empty store: a watch that follows its list reads "0" as "any". */
const FIRST_REVISION = 1;

export interface RevisionsPorts<Supply> {
  definition: ResourceDefinition;
  storage: StoreStorage;
  clock: Clock;
  random: Random;
  extension?: StoreExtension<Supply>;
  historyBounds?: HistoryBounds;
  /** when the local server began, in milliseconds since the epoch; absent or 0 = the server is deployed, and its data never are older ones unnoticed */
  serverStartedAt?: number;
  /** objects of an old store counted together; the default is what limits.ts says */
  countedTogether?: number;
}

/** What was written so far in a turn. */
interface Savepoint extends StoreState {
  changes: number;
}

/** The changes of one turn, in order: as the history has them, and as extension and observers hear of them. */
export interface TurnChanges {
  entries: HistoryEntry[];
  committed: CommittedChange[];
}

export class Revisions<Supply> {
  #state: StoreState;
  #gaps: RevisionGaps;
  #marks = new RevisionMarks(HISTORY_FRESH_MS);
  /** characters that left the history since the marks began */
  #freed = 0;
  /** those of the turn that is being decided */
  #changes: TurnChanges = { entries: [], committed: [] };

  /** Loads the store's state. A new store gets its initial objects. */
  constructor(private readonly ports: RevisionsPorts<Supply>) {
    const { storage, serverStartedAt = 0 } = ports;
    this.#gaps = new RevisionGaps(storage.gapsLoad());
    const state = storage.stateLoad();
    this.#state = state ?? this.#create(serverStartedAt);
    this.#beginMarks();
    if (state && serverStartedAt > 0 && this.#gaps.open(serverStartedAt, this.#newestKept))
      storage.transaction(() => storage.gapsSave(this.#gaps.saved));
    this.#beginBehindGaps();
  }

  /** Characters of history that were found when the marks began, or written since. */
  get #written(): number {
    return this.#state.historySize + this.#freed;
  }

  get incarnation(): string {
    return this.#state.incarnation;
  }

  /** The newest revision, durable or about to be. */
  get newest(): number {
    return this.#state.revision;
  }

  /** Nothing was ever written. */
  get isUntouched(): boolean {
    return this.#state.floor === FIRST_REVISION && this.#gaps.changes(FIRST_REVISION, this.newest) === 0;
  }

  /** Whether a client has the revision from another life of the store (rule 32). */
  isOfAnotherLife(revision: number): boolean {
    return this.#gaps.has(revision);
  }

  /** Changes up to this revision are no longer in the history. */
  get floor(): number {
    return this.#state.floor;
  }

  /** A list at an earlier revision reads the history since then in one turn. Below this one that would be too much. */
  get listFloor(): number {
    if (!this.#isLarge) return this.floor;
    const { sizeMax } = this.ports.historyBounds ?? HISTORY_BOUNDS;
    return Math.max(this.floor, this.#marks.within(sizeMax, this.#written) ?? this.newest);
  }

  /** Only the age of changes says how many of them stay. */
  get #isLarge(): boolean {
    return this.#state.historySize > (this.ports.historyBounds ?? HISTORY_BOUNDS).sizeMax;
  }

  /** How many objects a namespace has ("" = all have), in the middle of a turn, too; undefined = an old store whose objects are not all counted. */
  countIn(namespace: string): number | undefined {
    const { objects, through } = this.#state.counted;
    if (through !== undefined) return undefined;
    const sealed = namespace === "" ? objects : this.ports.storage.namespaceCount(namespace);
    return sealed + addedIn(namespaceRange(namespace), this.#changes.entries);
  }

  /** Counts some more objects of an old store, between turns. Answers whether all are counted. */
  countMore(): boolean {
    if (this.#state.counted.through === undefined) return true;
    const { storage, countedTogether = OBJECTS_COUNTED_TOGETHER } = this.ports;
    storage.transaction(() => {
      this.#state.counted = countNext(storage, this.#state.counted, countedTogether);
      storage.stateSave(this.#state);
    });
    return this.#state.counted.through === undefined;
  }

  /** Whether the turn has written anything. */
  get changed(): boolean {
    return this.#changes.entries.length > 0;
  }

  /** Ends the turn: answers its changes. */
  takeChanges(): TurnChanges {
    const changes = this.#changes;
    this.#changes = { entries: [], committed: [] };
    return changes;
  }

  /** Before the end of the transaction of a turn that has written anything. */
  seal(): void {
    this.#mark();
    this.#saveMarks();
    this.#trim();
    this.#save();
  }

  savepoint(): Savepoint {
    return { ...this.#state, changes: this.#changes.entries.length };
  }

  /** What was written since the savepoint was undone in the storage. */
  undo({ changes, ...state }: Savepoint): void {
    this.#state = state;
    this.#changes.entries.length = this.#changes.committed.length = changes;
  }

  /**
   * A life of the store begins at the revision, which is above all that clients can have seen. What they have seen is 410 from now on. In the
   * transaction of a turn. `renewed`: what the store holds is of no life that clients know, so each object gets a revision of the new one
   */
  beginLife(revision: number, renewed: boolean): void {
    const { clock, random, storage } = this.ports;
    const beginning = Math.max(revision, this.newest + 1);
    const before = this.#gaps.beginning;
    this.#gaps.begin(beginning, clock.now());
    storage.gapsSave(this.#gaps.saved);
    this.#state.historySize -= storage.historyTrim(this.newest);
    this.#state.incarnation = random.uuid();
    this.#state.revision = beginning;
    this.#state.floor = beginning;
    // They counted what is gone.
    this.#marks = new RevisionMarks(HISTORY_FRESH_MS);
    this.#freed = 0;
    storage.stateSave(this.#state);
    if (!renewed || storage.objectKeysAfter("", RENEWED_MAX + 1).length > RENEWED_MAX) return;
    // What an interrupted restore has written is of no life that clients know already.
    const held = [...storage.objectScan("", "")].filter((object) => before === 0 || object.revision < before);
    for (const object of held) this.put(object.key, parseJson(object.data) as KubeObject, object, undefined);
  }

  /** Where the life of the store begins; 0 = no restore began it. */
  get beginning(): number {
    return this.#gaps.beginning;
  }

  /** The turn was lost: nothing in memory is to be trusted. */
  reload(): void {
    const state = this.ports.storage.stateLoad();
    assert(state, "a store that lives has its state stored");
    this.#state = state;
    this.#gaps = new RevisionGaps(this.ports.storage.gapsLoad());
    this.takeChanges();
    // A mark of the lost turn names revisions that others will have.
    this.#beginMarks();
    this.#beginBehindGaps();
  }

  /** Drops history beyond the bounds, as much as one turn may. Answers whether anything was dropped: then there may be more. */
  compact(): boolean {
    const { storage } = this.ports;
    return storage.transaction(() => {
      const dropped = this.#trim();
      if (dropped) storage.stateSave(this.#state);
      this.#saveMarks();
      return dropped;
    });
  }

  /**
   * Writes the object as the next revision, and answers its text; undefined = too large, nothing written.
   * @param operation the client's write; absent for the server's own
   * @param before what is stored, parsed, where the caller has it
   */
  put(
    key: string,
    after: KubeObject,
    current: StoredObject | undefined,
    operation: Operation<Supply> | undefined,
    before?: KubeObject,
  ): string | undefined {
    const revision = this.#state.revision + 1;
    const metadata = (after.metadata ??= {});
    metadata.resourceVersion = String(revision);
    const data = JSON.stringify(after);
    // A row holds more than a client may send: what the server adds for a deletion, and conditions, always fit.
    const limited = operation !== undefined && operation.request.verb !== "delete";
    if (limited && isTooLarge(data)) return undefined;
    this.#state.revision = revision;
    const uid = metadata.uid ?? "";
    this.ports.storage.objectPut({ key, uid, revision, data });
    this.#record(
      { revision, type: current ? "MODIFIED" : "ADDED", key, data, before: current?.data ?? "" },
      uid,
      operation,
      after,
      before ?? parsed(current),
    );
    return data;
  }

  /** `last`: what watchers see. `before`: what was stored. They differ when an update removes the last finalizer and changes the object. */
  remove(current: StoredObject, before: KubeObject, operation: Operation<Supply> | undefined, last = before): string {
    const revision = ++this.#state.revision;
    this.ports.storage.objectDelete(current.key);
    const data = JSON.stringify({ ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } });
    this.#record({ revision, type: "DELETED", key: current.key, data, before: current.data }, current.uid, operation, undefined, before);
    return data;
  }

  #create(serverStartedAt: number): StoreState {
    const { definition, storage, random, clock } = this.ports;
    return storage.transaction(() => {
      if (serverStartedAt > 0) {
        this.#gaps.made(serverStartedAt);
        storage.gapsSave(this.#gaps.saved);
      }
      this.#state = {
        incarnation: random.uuid(),
        revision: FIRST_REVISION,
        floor: FIRST_REVISION,
        historySize: 0,
        counted: { objects: 0, through: undefined },
      };
      const now = clock.now();
      for (const initial of definition.initialObjects) {
        const metadata = { ...initial.metadata, uid: random.uuid(), creationTimestamp: rfc3339Seconds(now) };
        const object = { ...initial, metadata };
        trackFields(ownWriter(definition), { after: object }, now);
        this.put(storageKey({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" }), object, undefined, undefined);
      }
      this.#save();
      this.takeChanges();
      return this.#state;
    });
  }

  #record(entry: HistoryEntry, uid: string, operation: Operation<Supply> | undefined, after?: KubeObject, before?: KubeObject): void {
    const { extension, storage } = this.ports;
    storage.historyAppend(entry);
    this.#state.historySize += entry.data.length + entry.before.length;
    const change: CommittedChange = { type: entry.type, key: entry.key, uid, revision: entry.revision };
    if (after) change.after = after;
    if (before) change.before = before;
    this.#changes.entries.push(entry);
    this.#changes.committed.push(change);
    extension?.committed?.(change, operation);
  }

  #save(): void {
    const { storage } = this.ports;
    this.#state.counted = countChanges(storage, this.#state.counted, this.#changes.entries);
    storage.stateSave(this.#state);
  }

  /** The newest revision that was given out. A release that knows no gaps has written in the newest one. */
  get #newestKept(): number {
    return Math.max(this.#state.revision, this.#gaps.newest);
  }

  /** The gap of a start is saved alone; the state follows with the next write. */
  #beginBehindGaps(): void {
    this.#state.revision = this.#newestKept;
  }

  /** Goes on with the saved marks, unless a release without marks has written since. */
  #beginMarks(): void {
    const { revision, historySize } = this.#state;
    const saved = this.#isLarge ? this.ports.storage.marksLoad() : [];
    const [, markedRevision, written = 0] = saved.at(-1) ?? [];
    const areOfNow = markedRevision === revision;
    this.#marks = new RevisionMarks(HISTORY_FRESH_MS, areOfNow ? saved : []);
    this.#freed = areOfNow ? written - historySize : 0;
    this.#mark();
  }

  /** A store that sleeps between its writes, or for ever, still knows how old its history is. A history that is not large needs no marks. */
  #saveMarks(): void {
    if (this.#isLarge) this.ports.storage.marksSave(this.#marks.saved);
  }

  #mark(): void {
    this.#marks.note(this.ports.clock.now(), this.#state.revision, this.#written);
  }

  /** Answers whether anything was dropped. */
  #trim(): boolean {
    const { clock, historyBounds = HISTORY_BOUNDS } = this.ports;
    const { entriesMax, sizeMax, freshSizeMax = sizeMax, trimEntries } = historyBounds;
    const { floor, historySize } = this.#state;
    const entries = this.#gaps.changes(floor, this.#state.revision);
    if (this.#gaps.floor !== undefined) this.#forgetThrough(this.#gaps.floor);
    if (entries > entriesMax) this.#forgetOldest(entries - entriesMax + trimEntries);
    if (historySize > freshSizeMax) this.#shrinkTo(freshSizeMax * HISTORY_SHARE_KEPT, trimEntries);
    else if (historySize > sizeMax) {
      const size = Math.max(sizeMax * HISTORY_SHARE_KEPT, historySize - HISTORY_FREED_TOGETHER_CHARS);
      this.#shrinkTo(size, trimEntries, this.#marks.writtenBy(clock.now() - HISTORY_FRESH_MS));
    }
    return this.#state.floor > floor;
  }

  /**
   * Large entries go some at a time: a reader that was away for a moment finds the rest. The newest one stays, whatever its size. `through`: the last
   * revision that may go
   */
  #shrinkTo(size: number, trimEntries: number, through = this.#state.revision - 1): void {
    for (;;) {
      const { floor, revision } = this.#state;
      const left = this.#gaps.changes(floor, revision);
      const mayGo = Math.min(left - 1, this.#gaps.changes(floor, Math.max(floor, through)));
      const excess = this.#state.historySize - size;
      if (excess <= 0 || mayGo <= 0) return;
      const share = Math.min(1 / HISTORY_TRIM_PARTS, excess / this.#state.historySize);
      this.#forgetOldest(Math.min(trimEntries, Math.ceil(left * share), mayGo));
    }
  }

  #forgetOldest(entries: number): void {
    this.#forgetThrough(this.#gaps.changeAt(this.#state.floor, entries));
  }

  #forgetThrough(floor: number): void {
    if (floor <= this.#state.floor) return;
    this.#state.floor = floor;
    const freed = this.ports.storage.historyTrim(floor);
    this.#state.historySize -= freed;
    this.#freed += freed;
  }
}

function parsed(stored: StoredObject | undefined): KubeObject | undefined {
  return stored && (parseJson(stored.data) as KubeObject);
}

/** By how many objects the changes make the range grow. */
function addedIn(range: KeyRange, changes: readonly HistoryEntry[]): number {
  let added = 0;
  for (const { type, key } of changes) if (type !== "MODIFIED" && inRange(key, range)) added += type === "ADDED" ? 1 : -1;
  return added;
}
