/**
 * The history of a store, read page by page: the whole history would fill the object's memory. Entries that are in memory alone
 * (unwritten-history.ts) stand among the others, in the order of their revisions.
 */
import { HISTORY_PAGE_ENTRIES } from "./limits";
import type { HistoryEntry, HistoryReader } from "./store-storage";
import type { UnwrittenHistory } from "./unwritten-history";

/** Every retained change after a revision, in order. To be read within one turn. `pageEntries`: read at once */
export function* historyAfter(history: HistoryReader, revision: number, pageEntries = HISTORY_PAGE_ENTRIES): Iterable<HistoryEntry> {
  for (let after = revision; ;) {
    const page = history.historySince(after, pageEntries);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageEntries) return;
    after = last.revision;
  }
}

/** What is on the disk and what is in memory alone, as one history. `unwritten`: asked at each read */
export function wholeHistory(written: HistoryReader, unwritten: () => UnwrittenHistory): HistoryReader {
  return {
    historySince(after, limit) {
      const others = unwritten().since(after, limit);
      const entries = written.historySince(after, limit);
      return others.length === 0 ? entries : [...merged(entries, others)].slice(0, limit);
    },
    changesSince: (after, limit) => first(limit, merged(written.changesSince(after, limit), unwritten().since(after, limit))),
    headsSince: (after, limit) => first(limit, merged(written.headsSince(after, limit), unwritten().since(after, limit))),
  };
}

function* first<Change>(limit: number, changes: Iterable<Change>): Generator<Change, void> {
  let left = limit;
  for (const change of changes) {
    if (left-- === 0) return;
    yield change;
  }
}

/** Both are in the order of their revisions, and have none in common. */
function* merged<Change extends { revision: number }>(written: Iterable<Change>, unwritten: readonly Change[]): Generator<Change, void> {
  let next = 0;
  for (const change of written) {
    for (let other = unwritten[next]; other && other.revision < change.revision; other = unwritten[++next]) yield other;
    yield change;
  }
  yield* unwritten.slice(next);
}
