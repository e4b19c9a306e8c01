/** The rows of a collection at one revision, some at a time, while others write. */
import type { KubeObject } from "../../meta/kubernetes";
import type { StoreEngine } from "../engine/store-engine";
import type { Filter } from "../hub/filter";
import { type PastStore, Snapshot, type SnapshotRow } from "../state/snapshot";

/** Rows in key order; the three have one entry for each. */
export interface RowPage {
  readonly rows: string[];
  readonly keys: string[];
  /** undefined where it is in the text alone */
  readonly revisions: (number | undefined)[];
}

/** A collection as of a revision, which the history reaches. */
export interface PastCollection extends Pick<Filter, "range" | "matches"> {
  readonly revision: number;
}

type PagedStore = PastStore & Pick<StoreEngine<unknown>, "clock">;

export function noRows(): RowPage {
  return { rows: [], keys: [], revisions: [] };
}

export function addRow(page: RowPage, { key, data, revision }: SnapshotRow): void {
  page.rows.push(data);
  page.keys.push(key);
  page.revisions.push(revision);
}

/** Whether the filter of a collection lets the row through. */
export function isSeen({ matches }: Pick<Filter, "matches">, { data }: SnapshotRow): boolean {
  return !matches || matches(JSON.parse(data) as KubeObject);
}

/**
 * Pages of the collection, each read in one turn: `chars` characters of rows are looked at for it, or one row, and as many are passed over that came later. Between two turns nothing is held but the
 * place. Throws HistoryLost when the history forgets what is still to come: what was given is not the whole.
 */
export async function* rowPages(store: PagedStore, collection: PastCollection, chars: number): AsyncGenerator<RowPage, void> {
  const snapshot = new Snapshot(store, collection.range, collection.revision);
  for (;;) {
    while (!snapshot.catchUp()) await store.clock.nextTurn();
    const { page } = nextPage(snapshot.rows(chars), collection, chars);
    if (page.rows.length > 0) yield page;
    if (snapshot.isThrough) return;
    if (page.rows.length === 0) await store.clock.nextTurn();
  }
}

/** Pages of rows that do not change. */
export async function* fixedPages(
  rows: Iterable<SnapshotRow>,
  filter: Pick<Filter, "matches">,
  chars: number,
): AsyncGenerator<RowPage, void> {
  const rest = rows[Symbol.iterator]();
  const remaining: Iterable<SnapshotRow> = { [Symbol.iterator]: () => ({ next: () => rest.next() }) };
  for (;;) {
    const { page, hasMore } = nextPage(remaining, filter, chars);
    if (page.rows.length > 0) yield await Promise.resolve(page);
    if (!hasMore) return;
  }
}

function nextPage(rows: Iterable<SnapshotRow>, filter: Pick<Filter, "matches">, chars: number): { page: RowPage; hasMore: boolean } {
  const page = noRows();
  let seen = 0;
  for (const row of rows) {
    if (isSeen(filter, row)) addRow(page, row);
    seen += row.data.length;
    if (seen >= chars) return { page, hasMore: true };
  }
  return { page, hasMore: false };
}
