/** The history of a store, read page by page: the whole history would fill the object's memory. */
import { HISTORY_PAGE_ENTRIES } from "./limits";
import type { HistoryEntry, StoreStorage } from "./store-storage";

/** Every retained change after a revision, in order. To be read within one turn. `pageEntries`: read at once */
export function* historyAfter(storage: StoreStorage, revision: number, pageEntries = HISTORY_PAGE_ENTRIES): Iterable<HistoryEntry> {
  for (let after = revision; ;) {
    const page = storage.historySince(after, pageEntries);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageEntries) return;
    after = last.revision;
  }
}
