/** The history of a store, read page by page: whole, with what each change replaced, it would not leave room for anything else. */
import { HISTORY_PAGE_ENTRIES } from "../../core/base/limits";
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
