/**
 * How old the newest revisions of a store are, to about a second, and how much was written since. What an object finds without marks counts as written at
 * its beginning.
 */
import type { SavedMark } from "./store-storage";

const MARK_INTERVAL_MS = 1_000;

/** Turns that wrote within one interval. */
interface Mark {
  readonly sinceMs: number;
  /** when the last of them wrote */
  atMs: number;
  /** the newest revision then */
  revision: number;
  /** characters of history that were written until then */
  written: number;
}

export class RevisionMarks {
  #marks: Mark[];

  /**
   * @param keptMs questions are about times at most so long ago
   * @param saved by the object before
   */
  constructor(
    private readonly keptMs: number,
    saved: readonly SavedMark[] = [],
  ) {
    this.#marks = saved.map(([atMs, revision, written]) => ({ sinceMs: atMs, atMs, revision, written }));
  }

  /** What the next object of the store begins with. */
  get saved(): SavedMark[] {
    return this.#marks.map(({ atMs, revision, written }) => [atMs, revision, written]);
  }

  /**
   * To be called at the beginning and with each turn that writes.
   *
   * @param nowMs in milliseconds since the epoch
   * @param written characters of history since the first mark
   */
  note(nowMs: number, revision: number, written: number): void {
    const last = this.#marks.at(-1);
    if (last && nowMs >= last.atMs && nowMs - last.sinceMs < MARK_INTERVAL_MS) {
      Object.assign(last, { atMs: nowMs, revision, written });
      return;
    }
    // A clock that was set back begins anew: revisions count as younger than they are.
    if (last && nowMs < last.atMs) this.#marks = [];
    this.#marks.push({ sinceMs: nowMs, atMs: nowMs, revision, written });
    const kept = this.#marks.findIndex(({ atMs }) => atMs > nowMs - this.keptMs);
    if (kept > 1) this.#marks.splice(0, kept - 1);
  }

  /** The newest revision that is known to be written at that time or before; 0 = none is. */
  writtenBy(timeMs: number): number {
    return this.#marks.findLast(({ atMs }) => atMs <= timeMs)?.revision ?? 0;
  }

  /** The oldest known revision since which no more than `chars` of history were written; undefined = none is. `written`: until now */
  within(chars: number, written: number): number | undefined {
    return this.#marks.find((mark) => written - mark.written <= chars)?.revision;
  }
}
