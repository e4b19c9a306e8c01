/**
 * The revisions of a store. Each change of an object is written as the next revision, with its entry in the history, in the transaction of the change,
 * which the caller has open (rule 22). The state of the store is saved now and then (StoreState). A start finds the newest revision, the number of
 * objects and the size of the history in it and in the entries behind it.
 *
 * A renewal that nobody reads has its entry in memory alone (rule 33). Before the first one is committed, the state says that entries up to its reserved
 * revision may be missing. What a crash loses is below the floor of the next start, which begins at that revision: whoever comes from before it
 * is told so, and nobody meets a gap.
 */
import { assert } from "../../../core/base/assert";
import { parseJson } from "../../../core/encoding/exact-json";
import type { Clock, Random } from "../../../core/base/ports";
import type { KubeObject } from "../../meta/kubernetes";
import { rfc3339Seconds } from "../../meta/time";
import type { ResourceDefinition } from "../../registry/resource";
import type { CommittedChange, Operation, StoreExtension } from "./extension";
import { ownWriter, trackFields } from "./field-tracking";
import { wholeHistory } from "./history";
import { sizeOf } from "./history-rows";
import { inRange, type KeyRange, namespaceRange, storageKey } from "./keys";
import {
  HISTORY_ENTRIES_MAX,
  HISTORY_FREED_TOGETHER_CHARS,
  HISTORY_FRESH_MS,
  HISTORY_FRESH_SIZE_MAX,
  HISTORY_SIZE_MAX,
  HISTORY_TRIM_ENTRIES,
  HISTORY_UNSAVED_MAX_CHARS,
  OBJECTS_COUNTED_TOGETHER,
  REVISIONS_RESERVED,
} from "./limits";
import { ObjectCounts } from "./object-counts";
import { isTooLarge } from "./object-size";
import { changesLinks } from "./link-changes";
import { RevisionGaps } from "./revision-gaps";
import { RevisionMarks } from "./revision-marks";
import type { HistoryEntry, HistoryReader, StoredObject, StoreState, StoreStorage } from "./store-storage";
import { type UnwrittenBounds, UnwrittenHistory } from "./unwritten-history";

/** Bounds of the history; the default is what limits.ts says. */
export interface HistoryBounds {
  entriesMax: number;
  sizeMax: number;
  /** of a history that is not old yet; absent = as of any other */
  freshSizeMax?: number;
  trimEntries: number;
  /** of what is in memory alone; absent = what limits.ts says */
  unwritten?: UnwrittenBounds;
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
export const FIRST_REVISION = 1;

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
  /** whether somebody watches the store, or may be about to (rule 33); absent = always */
  isRead?(): boolean;
}

/** How far the store is, in the middle of a turn, too. */
interface StorePlace {
  /** the newest revision */
  newest: number;
  /** the newest one whose change is in the history on the disk */
  written: number;
  /** the newest one whose change is in memory alone; at a start, what may have been */
  unwritten: number;
  /** entries of the history on the disk, and their characters */
  entries: number;
  size: number;
  /** characters written since the state was saved */
  unsaved: number;
}

/** What was written so far in a turn. */
interface Savepoint {
  state: StoreState;
  progress: StorePlace;
  changes: number;
}

/** The changes of one turn, in order: as the history has them, and as extension and observers hear of them. */
export interface TurnChanges {
  entries: HistoryEntry[];
  committed: CommittedChange[];
}

export class Revisions<Supply> {
  /** as it was saved */
  #state: StoreState;
  #now: StorePlace;
  #counts: ObjectCounts;
  #unwritten: UnwrittenHistory;
  #gaps: RevisionGaps;
  #marks = new RevisionMarks(HISTORY_FRESH_MS);
  /** characters that left the history since the marks began */
  #freed = 0;
  /** those of the turn that is being decided */
  #changes: TurnChanges = { entries: [], committed: [] };
  /** revisions of those that stay in memory */
  readonly #inMemory = new Set<number>();
  /** the state has changed in this turn */
  #mustSave = false;

  /** There was nothing before: nobody can have read it. */
  readonly isNew: boolean;

  /** Loads the store's state. A new store gets its initial objects. */
  constructor(private readonly ports: RevisionsPorts<Supply>) {
    const { storage, serverStartedAt = 0 } = ports;
    this.#gaps = new RevisionGaps(storage.gapsLoad());
    const state = storage.stateLoad();
    this.isNew = state === undefined;
    this.#state = state ?? this.#newState();
    this.#counts = new ObjectCounts(storage, this.#state.counted);
    this.#unwritten = this.#lostThrough(this.#state.unwrittenThrough);
    this.#now = this.#begun();
    if (!state) this.#create(serverStartedAt);
    this.#beginMarks();
    if (state && serverStartedAt > 0 && this.#gaps.open(serverStartedAt, this.#newestWritten, this.newest))
      storage.transaction(() => storage.gapsSave(this.#gaps.saved));
    this.#beginBehindGaps();
    this.history = wholeHistory(storage, () => this.#unwritten);
  }

  /** Every retained change. */
  readonly history: HistoryReader;

  /** Characters of history that were found when the marks began, or written since. */
  get #written(): number {
    return this.#now.size + this.#freed;
  }

  get incarnation(): string {
    return this.#state.incarnation;
  }

  /** The newest revision, durable or about to be. */
  get newest(): number {
    return this.#now.newest;
  }

  /** Nothing was ever written. */
  get isUntouched(): boolean {
    return this.floor === FIRST_REVISION && this.#now.entries === 0 && this.#now.unwritten === 0;
  }

  /** Nothing was ever written but what a new store gets. */
  get hasInitialAlone(): boolean {
    return this.floor === FIRST_REVISION && this.newest === FIRST_REVISION + this.ports.definition.initialObjects.length;
  }

  /** Whether a client has the revision from another life of the store (rule 32). */
  isOfAnotherLife(revision: number): boolean {
    return this.#gaps.has(revision);
  }

  /** Changes up to this revision are no longer in the history. */
  get floor(): number {
    return Math.max(this.#state.floor, this.#unwritten.floor);
  }

  /** The same of the changes that are always on the disk: those that matter to garbage collection are. */
  get writtenFloor(): number {
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
    return this.#now.size > (this.ports.historyBounds ?? HISTORY_BOUNDS).sizeMax;
  }

  /** How many objects a namespace has ("" = all have), in the middle of a turn, too; undefined = an old store whose objects are not all counted. */
  countIn(namespace: string): number | undefined {
    const counted = this.#counts.in(namespace);
    return counted === undefined ? undefined : counted + addedIn(namespaceRange(namespace), this.#changes.entries);
  }

  /** Counts some more objects of an old store, between turns. Answers whether all are counted. */
  countMore(): boolean {
    if (this.#counts.isWhole) return true;
    const { storage, countedTogether = OBJECTS_COUNTED_TOGETHER } = this.ports;
    storage.transaction(() => {
      this.#counts.countMore(countedTogether);
      this.#save();
    });
    return this.#counts.isWhole;
  }

  /** Whether the turn has written anything. */
  get changed(): boolean {
    return this.#changes.entries.length > 0;
  }

  /** Ends the turn, whose transaction was kept: answers its changes. */
  takeChanges(): TurnChanges {
    const changes = this.#changes;
    for (const entry of changes.entries) if (this.#inMemory.has(entry.revision)) this.#unwritten.add(entry);
    this.#beginTurn();
    return changes;
  }

  /** Before the end of the transaction of a turn that has written anything. */
  seal(): void {
    this.#writeHistory();
    if (this.#changes.entries.length > this.#inMemory.size) {
      this.#mark();
      this.#saveMarks();
    }
    this.#counts.add(this.#changes.entries);
    if (this.#trim() || this.#isSaveDue) this.#save();
  }

  savepoint(): Savepoint {
    return { state: { ...this.#state }, progress: { ...this.#now }, changes: this.#changes.entries.length };
  }

  /** What was written since the savepoint was undone in the storage. */
  undo({ changes, progress, state }: Savepoint): void {
    this.#state = state;
    this.#now = progress;
    this.#changes.entries.length = this.#changes.committed.length = changes;
    for (const revision of this.#inMemory) if (revision > progress.newest) this.#inMemory.delete(revision);
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
    storage.historyTrim(this.#state.floor, this.newest);
    this.#unwritten = this.#lostThrough(0);
    this.#state = { ...this.#state, incarnation: random.uuid(), floor: beginning, unwrittenThrough: 0 };
    this.#now = { newest: beginning, written: beginning, unwritten: 0, entries: 0, size: 0, unsaved: 0 };
    // They counted what is gone.
    this.#marks = new RevisionMarks(HISTORY_FRESH_MS);
    this.#freed = 0;
    this.#save();
    // The counts of this turn's changes are saved at its end.
    this.#mustSave = true;
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
    const { storage } = this.ports;
    const state = storage.stateLoad();
    assert(state, "a store that lives has its state stored");
    this.#state = state;
    this.#gaps = new RevisionGaps(storage.gapsLoad());
    this.#counts = new ObjectCounts(storage, state.counted);
    // A renewal of the lost turn may be stored: it would be missing among those in memory.
    this.#unwritten = this.#lostThrough(state.unwrittenThrough);
    this.#beginTurn();
    this.#now = this.#begun();
    // A mark of the lost turn names revisions that others will have.
    this.#beginMarks();
    this.#beginBehindGaps();
  }

  /** Drops history beyond the bounds, as much as one turn may. Answers whether anything was dropped: then there may be more. */
  compact(): boolean {
    const { storage } = this.ports;
    return storage.transaction(() => {
      const { floor } = this.#state;
      // Without what was in memory, nobody can use it.
      this.#forgetThrough(this.#unwritten.floor);
      const dropped = this.#trim() || this.#state.floor > floor;
      if (dropped) this.#save();
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
    const revision = this.newest + 1;
    const metadata = (after.metadata ??= {});
    metadata.resourceVersion = String(revision);
    const data = JSON.stringify(after);
    // A row holds more than a client may send: what the server adds for a deletion, and conditions, always fit.
    const limited = operation !== undefined && operation.request.verb !== "delete";
    if (limited && isTooLarge(data)) return undefined;
    this.#now.newest = revision;
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
    const revision = ++this.#now.newest;
    this.ports.storage.objectDelete(current.key);
    const data = JSON.stringify({ ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } });
    this.#record({ revision, type: "DELETED", key: current.key, data, before: current.data }, current.uid, operation, undefined, before);
    return data;
  }

  #newState(): StoreState {
    return {
      incarnation: this.ports.random.uuid(),
      reserved: FIRST_REVISION,
      floor: FIRST_REVISION,
      through: FIRST_REVISION,
      historyEntries: 0,
      historySize: 0,
      counted: { objects: 0, through: undefined },
      unwrittenThrough: 0,
    };
  }

  #create(serverStartedAt: number): void {
    const { definition, storage, random, clock } = this.ports;
    storage.transaction(() => {
      if (serverStartedAt > 0) {
        this.#gaps.made(serverStartedAt);
        storage.gapsSave(this.#gaps.saved);
      }
      const now = clock.now();
      for (const initial of definition.initialObjects) {
        const metadata = { ...initial.metadata, uid: random.uuid(), creationTimestamp: rfc3339Seconds(now) };
        const object = { ...initial, metadata };
        trackFields(ownWriter(definition), { after: object }, now);
        this.put(storageKey({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" }), object, undefined, undefined);
      }
      this.#writeHistory();
      this.#counts.add(this.#changes.entries);
      this.#save();
      this.#beginTurn();
    });
  }

  /** What was in memory up to the revision is lost. */
  #lostThrough(revision: number): UnwrittenHistory {
    return new UnwrittenHistory(revision, this.ports.historyBounds?.unwritten);
  }

  /** Where a start finds the store: by its saved state, and by what was written to the history since. */
  #begun(): StorePlace {
    const { through, historyEntries, historySize, unwrittenThrough } = this.#state;
    const now = { newest: through, written: through, unwritten: unwrittenThrough, entries: historyEntries, size: historySize, unsaved: 0 };
    for (const head of this.ports.storage.historyHeads(through)) {
      now.written = head.revision;
      now.entries++;
      now.size += head.size;
      now.unsaved += head.size;
      this.#counts.add([head]);
    }
    now.newest = Math.max(now.written, unwrittenThrough);
    return now;
  }

  #record(entry: HistoryEntry, uid: string, operation: Operation<Supply> | undefined, after?: KubeObject, before?: KubeObject): void {
    const change: CommittedChange = { type: entry.type, key: entry.key, uid, revision: entry.revision };
    if (after) change.after = after;
    if (before) change.before = before;
    if (this.#staysInMemory(change)) {
      this.#inMemory.add(entry.revision);
      this.#now.unwritten = entry.revision;
    } else this.#count(entry);
    this.#changes.entries.push(entry);
    this.#changes.committed.push(change);
    this.ports.extension?.committed?.(change, operation);
  }

  /** Writes the entries of the turn together, once all its changes are known. Those before a beginning are of no use to anybody. */
  #writeHistory(): void {
    const written = this.#changes.entries.filter(({ revision }) => revision > this.#state.floor && !this.#inMemory.has(revision));
    if (written.length > 0) this.ports.storage.historyAppend(written);
  }

  #count(entry: HistoryEntry): void {
    const size = sizeOf(entry);
    this.#now.written = entry.revision;
    this.#now.entries++;
    this.#now.size += size;
    this.#now.unsaved += size;
  }

  /** What garbage collection acts upon is always written, and so is all with which a life begins. */
  #staysInMemory(change: CommittedChange): boolean {
    const { definition, isRead } = this.ports;
    if (this.#mustSave) return false;
    return definition.renewed === true && change.type === "MODIFIED" && isRead?.() === false && !changesLinks(change);
  }

  #beginTurn(): void {
    this.#changes = { entries: [], committed: [] };
    this.#inMemory.clear();
    this.#mustSave = false;
  }

  get #isSaveDue(): boolean {
    const { newest, unsaved, unwritten } = this.#now;
    const { reserved, unwrittenThrough } = this.#state;
    return this.#mustSave || newest > reserved || unsaved > HISTORY_UNSAVED_MAX_CHARS || unwritten > unwrittenThrough || this.#isReadAgain;
  }

  /** Somebody reads, so what comes is written: from now on a crash loses nothing of it. */
  get #isReadAgain(): boolean {
    return this.#state.unwrittenThrough > this.#now.unwritten && this.ports.isRead?.() === true;
  }

  /** In a transaction. */
  #save(): void {
    const { newest, written, entries, size, unwritten } = this.#now;
    const { incarnation, floor, unwrittenThrough } = this.#state;
    const reserved = newest + REVISIONS_RESERVED;
    const isClosed = unwritten === unwrittenThrough || this.#isReadAgain;
    this.#state = {
      ...{ incarnation, reserved, floor, through: written, historyEntries: entries, historySize: size, counted: this.#counts.save() },
      unwrittenThrough: isClosed ? unwritten : reserved,
    };
    this.#now.unsaved = 0;
    this.#mustSave = false;
    this.ports.storage.stateSave(this.#state);
  }

  /** The newest revision that was given out and that the disk knows. A release that knows no gaps has written in the newest one. */
  get #newestWritten(): number {
    return Math.max(this.#now.written, this.#gaps.newest);
  }

  /** The gap of a start is saved alone. */
  #beginBehindGaps(): void {
    this.#now.newest = Math.max(this.#now.newest, this.#gaps.newest);
  }

  /** Goes on with the saved marks, unless a release without marks has written since. */
  #beginMarks(): void {
    const { written: newest, size } = this.#now;
    const saved = this.#isLarge ? this.ports.storage.marksLoad() : [];
    const [, markedRevision, written = 0] = saved.at(-1) ?? [];
    const areOfNow = markedRevision === newest;
    this.#marks = new RevisionMarks(HISTORY_FRESH_MS, areOfNow ? saved : []);
    this.#freed = areOfNow ? written - size : 0;
    this.#mark();
  }

  /** A store that sleeps between its writes, or for ever, still knows how old its history is. A history that is not large needs no marks. */
  #saveMarks(): void {
    if (this.#isLarge) this.ports.storage.marksSave(this.#marks.saved);
  }

  #mark(): void {
    this.#marks.note(this.ports.clock.now(), this.#now.written, this.#written);
  }

  /** Answers whether anything was dropped. */
  #trim(): boolean {
    const { clock, historyBounds = HISTORY_BOUNDS } = this.ports;
    const { entriesMax, sizeMax, freshSizeMax = sizeMax, trimEntries } = historyBounds;
    const { floor } = this.#state;
    const { entries, size } = this.#now;
    if (this.#gaps.floor !== undefined) this.#forgetThrough(this.#gaps.floor);
    if (entries > entriesMax) this.#forgetOldest(entries - entriesMax + trimEntries);
    if (size > freshSizeMax) this.#shrinkTo(freshSizeMax * HISTORY_SHARE_KEPT, trimEntries);
    else if (size > sizeMax) {
      const kept = Math.max(sizeMax * HISTORY_SHARE_KEPT, size - HISTORY_FREED_TOGETHER_CHARS);
      this.#shrinkTo(kept, trimEntries, this.#marks.writtenBy(clock.now() - HISTORY_FRESH_MS));
    }
    return this.#state.floor > floor;
  }

  /**
   * Large entries go some at a time: a reader that was away for a moment finds the rest. The newest one stays, whatever its size. `through`: the last
   * revision that may go
   */
  #shrinkTo(kept: number, trimEntries: number, through = this.#now.written - 1): void {
    for (;;) {
      const { entries, size } = this.#now;
      const { floor } = this.#state;
      const excess = size - kept;
      if (excess <= 0 || entries <= 1) return;
      const share = Math.min(1 / HISTORY_TRIM_PARTS, excess / size);
      this.#forgetOldest(Math.min(trimEntries, Math.ceil(entries * share), entries - 1), through);
      if (this.#state.floor === floor) return;
    }
  }

  #forgetOldest(entries: number, through = this.#now.written): void {
    const last = this.ports.storage.historyRevisionAt(this.#state.floor, entries);
    if (last !== undefined) this.#forgetThrough(Math.min(last, through));
  }

  #forgetThrough(floor: number): void {
    const before = this.#state.floor;
    if (floor <= before) return;
    this.#state.floor = floor;
    const { entries, chars } = this.ports.storage.historyTrim(before, floor);
    this.#now.entries -= entries;
    this.#now.size -= chars;
    this.#freed += chars;
    this.#unwritten.forgetThrough(floor);
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
