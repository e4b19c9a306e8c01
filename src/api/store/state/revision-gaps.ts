/**
 * The revisions that a store never gave out, as far as it knows. A client that names one of them has seen another life of the store (rule 32). Its
 * data were lost when the store was restored, or when the server was started on an older data folder.
 *
 * - A life begins above every revision of the lives before it. A restore begins one, and says above which revision.
 * - Each start of a local server leaves a gap. The first revision behind it grows with the time, faster than any store writes. So a start on an older copy
 *   of the data begins above what was written since the copy was made.
 * - Revisions up to a gap stay good: a client resumes from them after a crash.
 */

/** A gap: the revisions behind `from`, without `to`. The store had `from` before and began with `to`. */
export type RevisionGap = readonly [from: number, to: number];

/** In one row of the store. */
export interface SavedGaps {
  /** the start of the server that was noticed last, in milliseconds since the epoch; 0 = none */
  startedAt: number;
  /** where the life begins, and when it did, in milliseconds since the epoch */
  began: readonly [revision: number, atMs: number];
  /** in order */
  gaps: readonly RevisionGap[];
}

/** No store writes faster for long. */
const REVISIONS_PER_SECOND = 10_000;
/** What a restore leaves at least, for clocks that are wrong. */
const RESTORE_GAP_MIN = 1_000_000_000;
/** What a start leaves at least. */
const START_GAP_MIN = 10_000;
/** Further gaps make the store forget its history before the oldest one. */
const GAPS_MAX = 16;
/** No restore goes beyond: up to 2^53, where numbers are no longer exact, there is room for the writes of a century. */
const REVISION_MAX = 2 ** 53 - 2 ** 45;

/** Before any release of this server; a store whose life began unnoticed began above 0 then. */
const FIRST_LIFE: SavedGaps["began"] = [0, Date.UTC(2026, 0, 1)];

/**
 * Where a restored store begins: above each revision that a client can have seen until now. `head`: the newest revision in the data, which are of the time
 * `asOf`. Times in milliseconds since the epoch. undefined = there are no such revisions left
 */
export function beginningAbove(head: number, asOf: number, now: number): number | undefined {
  const beginning = head + Math.max(RESTORE_GAP_MIN, grown(now - asOf));
  return beginning <= REVISION_MAX ? beginning : undefined;
}

function grown(ms: number): number {
  return Math.ceil((ms / 1_000) * REVISIONS_PER_SECOND);
}

export class RevisionGaps {
  #saved: SavedGaps;

  constructor(saved: SavedGaps | undefined) {
    this.#saved = saved ?? { startedAt: 0, began: FIRST_LIFE, gaps: [] };
  }

  get saved(): SavedGaps {
    return this.#saved;
  }

  /** Where the life of the store begins; 0 = no restore began it. */
  get beginning(): number {
    return this.#saved.began[0];
  }

  /** The revision behind the newest gap; 0 = there is no gap. */
  get newest(): number {
    return this.#saved.gaps.at(-1)?.[1] ?? 0;
  }

  /** Whether a client has the revision from another life. */
  has(revision: number): boolean {
    return (revision > 0 && revision < this.beginning) || this.#saved.gaps.some(([from, to]) => revision > from && revision < to);
  }

  /** Where the history has to begin, so that no more gaps are kept than may be; undefined = where it begins. */
  get floor(): number | undefined {
    return this.#saved.gaps.at(-1 - GAPS_MAX)?.[1];
  }

  /**
   * The server has started at `at`: the store leaves a gap behind its newest revision, once for each start. Answers whether it did.
   * `given`: the newest revision that may have been given out, where that is not known to be good
   */
  open(at: number, newest: number, given = newest): boolean {
    const { startedAt, began, gaps } = this.#saved;
    if (startedAt === at) return false;
    const [beginning, beganAtMs] = began;
    const least = Math.max(newest, given);
    const to = Math.min(Math.max(least + START_GAP_MIN, beginning + grown(at - beganAtMs)), Math.max(least, REVISION_MAX));
    // Servers that start often and write nothing do not fill the list.
    const widened = gaps.length >= GAPS_MAX && this.newest === newest ? gaps.at(-1) : undefined;
    const kept = widened ? gaps.slice(0, -1) : gaps.slice(-GAPS_MAX);
    this.#saved = { startedAt: at, began, gaps: [...kept, [widened?.[0] ?? newest, to]] };
    return true;
  }

  /** A new store, made by the server that started at `at`. */
  made(at: number): void {
    this.#saved = { ...this.#saved, startedAt: at };
  }

  /** A life begins at the revision. */
  begin(revision: number, nowMs: number): void {
    this.#saved = { ...this.#saved, began: [revision, nowMs], gaps: [] };
  }
}
