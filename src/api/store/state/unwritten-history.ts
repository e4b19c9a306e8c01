/**
 * The newest changes that a store keeps in memory alone: renewals that nobody watches (rule 33). The oldest go when there are too many or they are too
 * long, and all go with the object. The floor says through which revision some have gone: the history has no gap above it.
 */
import { sizeOf } from "./history-rows";
import { HISTORY_UNWRITTEN_ENTRIES_MAX, HISTORY_UNWRITTEN_MAX_CHARS } from "./limits";
import type { HistoryEntry } from "./store-storage";

export interface UnwrittenBounds {
  entriesMax: number;
  charsMax: number;
}

const BOUNDS: UnwrittenBounds = { entriesMax: HISTORY_UNWRITTEN_ENTRIES_MAX, charsMax: HISTORY_UNWRITTEN_MAX_CHARS };

export class UnwrittenHistory {
  /** in the order of their revisions; those before `#first` have gone */
  #entries: (HistoryEntry | undefined)[] = [];
  #first = 0;
  #chars = 0;
  #floor: number;

  /** @param floor what was in memory through this revision is lost */
  constructor(
    floor: number,
    private readonly bounds = BOUNDS,
  ) {
    this.#floor = floor;
  }

  get floor(): number {
    return this.#floor;
  }

  /** Takes a change that is newer than all others. */
  add(entry: HistoryEntry): void {
    this.#entries.push(entry);
    this.#chars += sizeOf(entry);
    while (this.#count > this.bounds.entriesMax || this.#chars > this.bounds.charsMax) this.#floor = this.#drop();
    this.#close();
  }

  /** The changes after a revision, in order, at most `limit`. */
  since(after: number, limit: number): HistoryEntry[] {
    const from = this.#placeBehind(after);
    return this.#entries.slice(from, from + limit).filter((entry) => entry !== undefined);
  }

  /** Changes through the revision are no part of the history any more. */
  forgetThrough(revision: number): void {
    for (let first = this.#entries[this.#first]; first && first.revision <= revision; first = this.#entries[this.#first]) this.#drop();
    this.#close();
  }

  get #count(): number {
    return this.#entries.length - this.#first;
  }

  /** Answers the revision of what has gone. */
  #drop(): number {
    const dropped = this.#entries[this.#first];
    if (!dropped) return this.#floor;
    this.#entries[this.#first++] = undefined;
    this.#chars -= sizeOf(dropped);
    return dropped.revision;
  }

  /** Closes the room of what has gone, at a constant cost per entry. */
  #close(): void {
    if (this.#first <= this.#count) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }

  /** The place of the first entry after the revision. */
  #placeBehind(revision: number): number {
    let low = this.#first;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.revision ?? Infinity) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
