/** The history of a store, read page by page: the whole history would fill the object's memory. */
import { HISTORY_PAGE_ENTRIES } from "./limits";
import type { HistoryEntry, StoreStorage } from "./store-storage";

/** Every retained change after a revision, in order. To be read within one turn. */
export function* historyAfter(storage: StoreStorage, revision: number): Iterable<HistoryEntry> {
  for (let after = revision; ;) {
    const page = storage.historySince(after, HISTORY_PAGE_ENTRIES);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < HISTORY_PAGE_ENTRIES) return;
    after = last.revision;
  }
}
