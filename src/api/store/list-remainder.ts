/** How many objects a page of a list leaves: its `remainingItemCount`. */
import { type KeyRange, rangeBehind } from "./keys";
import { countAt } from "./snapshot";
import type { StoreEngine } from "./store-engine";

type CountedStore = Pick<StoreEngine<unknown>, "storage">;

/** Lists under way whose remainder is remembered per store; beyond it the oldest is counted anew. */
const REMAINDERS_MAX = 64;
const remainders = new WeakMap<CountedStore, Map<string, number>>();

/** How many objects come after `last`. A revision never changes: the number of one page gives that of the next without a scan. */
export function remainingBehind(
  store: CountedStore,
  at: { range: KeyRange; revision: number; after: string; page: { rows: readonly string[] }; last: string },
): number {
  const { range, revision, after, page, last } = at;
  const keyOf = (behindKey: string): string => `${revision}\n${range.from}\n${range.to}\n${behindKey}`;
  const known = remainders.get(store) ?? new Map<string, number>();
  remainders.set(store, known);
  const before = known.get(keyOf(after));
  const remaining = before === undefined ? countAt(store.storage, rangeBehind(range, last), revision) : before - page.rows.length;
  known.set(keyOf(last), remaining);
  const [oldest] = known.keys();
  if (known.size > REMAINDERS_MAX && oldest !== undefined) known.delete(oldest);
  return remaining;
}
