/**
 * The objects of a store at an earlier revision, computed from the current rows and the history since (rule 22): the pages of a list must not
 * mix revisions.
 */
import { historyAfter } from "./history";
import type { KeyRange } from "./keys";
import { inRange } from "./keys";
import type { StoredObject, StoreStorage } from "./store-storage";

/** Key and stored text, in key order. */
export interface SnapshotRow {
  key: string;
  data: string;
}

/** Rows of now. */
export function* rowsNow(storage: StoreStorage, range: KeyRange): Iterable<SnapshotRow> {
  yield* storage.objectScan(range.from, range.to);
}

/** Rows as of `revision`, which must lie between the floor and the head. */
export function* rowsAt(storage: StoreStorage, range: KeyRange, revision: number): Iterable<SnapshotRow> {
  const former = formerObjects(storage, range, revision);
  if (former.size === 0) {
    yield* rowsNow(storage, range);
    return;
  }
  const vanished = [...former].filter(([, data]) => data !== "").sort(([a], [b]) => (a < b ? -1 : 1));
  let next = 0;
  for (const row of storage.objectScan(range.from, range.to)) {
    for (let other = vanished[next]; other && other[0] < row.key; other = vanished[++next]) yield { key: other[0], data: other[1] };
    if (vanished[next]?.[0] === row.key) next++;
    const data = stateOf(row, former);
    if (data !== "") yield { key: row.key, data };
  }
  for (let other = vanished[next]; other; other = vanished[++next]) yield { key: other[0], data: other[1] };
}

/** How many more rows there are now than `rowsAt` gives; negative = fewer. */
export function grownSince(storage: StoreStorage, range: KeyRange, revision: number): number {
  let grown = 0;
  for (const [key, data] of formerObjects(storage, range, revision)) {
    grown += Number(storage.objectGet(key) !== undefined) - Number(data !== "");
  }
  return grown;
}

function stateOf(row: StoredObject, former: ReadonlyMap<string, string>): string {
  return former.get(row.key) ?? row.data;
}

/** What each object that changed after `revision` was at that revision; "" = it did not exist. */
function formerObjects(storage: StoreStorage, range: KeyRange, revision: number): Map<string, string> {
  const former = new Map<string, string>();
  for (const entry of historyAfter(storage, revision)) {
    if (!former.has(entry.key) && inRange(entry.key, range)) former.set(entry.key, entry.before);
  }
  return former;
}
