/** A store's side of TouchedStore. Reads only; nothing is parsed. */
import type { StoreCursor } from "../../rpc/object-links";
import type { TouchedObjects } from "../../rpc/touched-objects";
import { historyAfter } from "../state/history";
import { objectKey, storageKey } from "../state/keys";
import { FEED_PAGE_MAX_CHARS, LARGE_ENTRIES_TOGETHER } from "../state/limits";
import type { HistoryEntry } from "../state/store-storage";
import type { FeedStore } from "./object-feed-reader";

/** Heads of changes for one call: some milliseconds of the store's thread. */
const PAGE_HEADS = 5_000;

/** See TouchedStore. A cursor of another incarnation or of the future is as good as none. */
export function touchedSince(store: Omit<FeedStore, "storage">, since: StoreCursor, label?: string): TouchedObjects {
  const { incarnation, revision: head, floor } = store;
  const { revision } = since;
  if (since.incarnation !== incarnation || revision > head || revision < floor || store.isOfAnotherLife(revision))
    return { kind: "expired" };
  const { keys, last } = label === undefined ? keysSince(store, revision) : ownersSince(store, revision, `"${label}":"`);
  // Behind the last change there may be a gap.
  const through = last ?? head;
  return { kind: "touched", keys: [...keys], cursor: { incarnation, revision: through }, more: through < head };
}

/** `last`: of the last change that was read; undefined = there are no more */
interface Read {
  keys: Set<string>;
  last: number | undefined;
}

function keysSince({ history }: Pick<FeedStore, "history">, after: number): Read {
  const keys = new Set<string>();
  let heads = 0;
  for (const { key, revision } of history.headsSince(after, PAGE_HEADS)) {
    keys.add(key);
    if (++heads === PAGE_HEADS) return { keys, last: revision };
  }
  return { keys, last: undefined };
}

function ownersSince({ history }: Pick<FeedStore, "history">, after: number, sign: string): Read {
  const keys = new Set<string>();
  let chars = 0;
  for (const entry of historyAfter(history, after, LARGE_ENTRIES_TOGETHER)) {
    addOwners(keys, entry, sign);
    chars += entry.data.length + entry.before.length;
    if (chars >= FEED_PAGE_MAX_CHARS) return { keys, last: entry.revision };
  }
  return { keys, last: undefined };
}

/** Neither a label nor its value needs an escape in JSON. The same member elsewhere in the object counts as well: it names one object too many. */
function addOwners(keys: Set<string>, { key, data, before }: HistoryEntry, sign: string): void {
  const { namespace } = objectKey(key);
  for (const text of [before, data]) {
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) {
      const from = at + sign.length;
      keys.add(storageKey({ namespace, name: text.slice(from, text.indexOf('"', from)) }));
    }
  }
}
