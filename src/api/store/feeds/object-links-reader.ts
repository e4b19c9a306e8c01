/**
 * A store's side of garbage collection: which changes matter, and the metadata of their objects.
 *
 * A deletion matters, because the object may have been an owner. Any other change matters when it changes ownerReferences, or a deletion that the
 * collector has to finish. `#relevantRevision` is the newest such change. For a cursor at or after it nothing is read: a store of plain objects
 * answers without touching its rows, however many writes there were. Such a change is always on the disk: what a store keeps in memory alone,
 * and loses with it, is passed over here.
 */
import type { KubeObject, ObjectMeta } from "../../meta/kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "../../meta/object-meta";
import type { LinkChange, LinkChanges, LinkPage, ObjectLinks, SoughtObject, StoreCursor, Whereabouts } from "../../rpc/object-links";
import type { ObjectKey } from "../../rpc/store";
import { historyAfter } from "../state/history";
import { namespaceRange, objectKey, storageKey } from "../state/keys";
import { FEED_PAGE_MAX_CHARS, LARGE_ENTRIES_TOGETHER } from "../state/limits";
import type { HistoryEntry } from "../state/store-storage";
import type { FeedStore } from "./object-feed-reader";

/** Rows that one search for objects reads, some milliseconds of the store's thread. The next call goes on behind them. */
export const SEARCHED_ROWS_MAX = 1_000;

export class ObjectLinksReader {
  /** changes after this revision do not matter to garbage collection; a new object does not know and starts at its head */
  #relevantRevision: number;

  constructor(private readonly store: FeedStore) {
    this.#relevantRevision = store.revision;
  }

  /** To be told of each change that matters (see `changesLinks` in state/link-changes.ts). */
  noteRelevant(revision: number): void {
    this.#relevantRevision = Math.max(this.#relevantRevision, revision);
  }

  /** See LinkedStore. Large objects make fewer than `limit` entries in one answer. */
  changesSince(cursor: StoreCursor | undefined, limit: number): LinkChanges {
    const { incarnation, revision: head, storage, writtenFloor } = this.store;
    if (cursor?.incarnation !== incarnation || cursor.revision > head || this.store.isOfAnotherLife(cursor.revision))
      return { kind: "expired" };
    if (cursor.revision >= this.#relevantRevision) return { kind: "changes", changes: [], cursor: this.#head(), more: false };
    if (cursor.revision < writtenFloor) return { kind: "expired" };
    const changes: LinkChange[] = [];
    // Behind the last change there may be a gap.
    let last = head;
    let entries = 0;
    let chars = 0;
    for (const entry of historyAfter(storage, cursor.revision, LARGE_ENTRIES_TOGETHER)) {
      for (const change of changeOf(entry)) changes.push(change);
      entries++;
      chars += entry.data.length + entry.before.length;
      if (entries < limit && chars < FEED_PAGE_MAX_CHARS) continue;
      last = entry.revision;
      break;
    }
    return { kind: "changes", changes, cursor: { incarnation, revision: last }, more: last < head };
  }

  /** See LinkedStore. */
  listMetadata(after: string, limit: number): LinkPage {
    const page: LinkPage = { items: [], cursor: this.#head(), next: "" };
    let seen = 0;
    let last = "";
    for (const { key, data } of this.store.storage.objectScan(after === "" ? "" : `${after}\0`, "")) {
      if (seen === limit) return { ...page, next: last };
      seen++;
      last = key;
      if (mayMatter(data)) page.items.push(linksOf(data));
    }
    return page;
  }

  /** See LinkedStore. */
  metadataOf(keys: readonly ObjectKey[]): (ObjectLinks | null)[] {
    return keys.map((key) => {
      const stored = this.store.storage.objectGet(storageKey(key));
      return stored ? linksOf(stored.data) : null;
    });
  }

  /** See LinkedStore. It jumps from namespace to namespace, however many objects they have. */
  whereabouts(sought: readonly SoughtObject[], after: string): Whereabouts {
    const { storage } = this.store;
    const found = sought.map((): string | null => null);
    let last = after;
    for (let rows = 0; rows < SEARCHED_ROWS_MAX; rows++) {
      const [key] = storage.objectKeysAfter(namespaceRange(last).to, 1);
      if (key === undefined || !found.includes(null)) return { found, next: "" };
      const { namespace } = objectKey(key);
      // The objects of a cluster-scoped resource are in no namespace.
      if (namespace === "") return { found, next: "" };
      sought.forEach(({ name, uid }, i) => {
        if (found[i] !== null) return;
        rows++;
        if (storage.objectGet(storageKey({ namespace, name }))?.uid === uid) found[i] = namespace;
      });
      last = namespace;
    }
    return { found, next: last };
  }

  #head(): StoreCursor {
    return { incarnation: this.store.incarnation, revision: this.store.revision };
  }
}

const TRACES = [`"ownerReferences":[`, `"${FINALIZER_FOREGROUND}"`, `"${FINALIZER_ORPHAN}"`];

/** False only for objects that do not matter. Looking for a word costs far less than parsing. */
function mayMatter(data: string): boolean {
  return TRACES.some((trace) => data.includes(trace));
}

function changeOf({ type, data, before }: HistoryEntry): LinkChange[] {
  if (type === "DELETED") {
    const { key, uid } = linksOf(data);
    return [{ type: "deleted", key, uid }];
  }
  return mayMatter(data) || mayMatter(before) ? [{ type: "put", links: linksOf(data) }] : [];
}

/** What an object says of its owners, and of its own deletion. */
export function linksOf(data: string): ObjectLinks {
  const metadata: ObjectMeta = (JSON.parse(data) as KubeObject).metadata ?? {};
  return {
    key: { namespace: metadata.namespace ?? "", name: metadata.name ?? "" },
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    ownerReferences: metadata.ownerReferences ?? [],
    finalizers: metadata.finalizers ?? [],
    deleting: Boolean(metadata.deletionTimestamp),
  };
}
