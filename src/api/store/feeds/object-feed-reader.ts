/** A store's side of what controllers pull: changes since a cursor, pages, objects by name. Reads only; nothing is parsed. */
import type { AskedPage, FedChange, FedChanges, FedPage } from "../../rpc/object-feed";
import type { StoreCursor } from "../../rpc/object-links";
import type { ObjectKey } from "../../rpc/store";
import { storageKey } from "../state/keys";
import { FEED_PAGE_MAX_CHARS } from "../state/limits";
import type { StoreEngine } from "../engine/store-engine";

export type FeedStore = Pick<
  StoreEngine<unknown>,
  "storage" | "history" | "revision" | "floor" | "writtenFloor" | "isOfAnotherLife" | "incarnation"
>;

export class ObjectFeedReader {
  constructor(private readonly store: FeedStore) {}

  /** See ObjectFeed. A cursor of another incarnation or of the future is as good as none. */
  objectsSince(cursor: StoreCursor | undefined, limit: number, page?: AskedPage): FedChanges {
    const fed = this.#changesSince(cursor, limit);
    return page && fed.kind === "changes" ? { ...fed, page: this.objectsAfter(page.after, page.limit) } : fed;
  }

  #changesSince(cursor: StoreCursor | undefined, limit: number): FedChanges {
    const { incarnation, revision: head, floor, history } = this.store;
    if (cursor?.incarnation !== incarnation || cursor.revision > head || cursor.revision < floor) return { kind: "expired" };
    if (this.store.isOfAnotherLife(cursor.revision)) return { kind: "expired" };
    if (cursor.revision === head) return { kind: "changes", changes: [], cursor, more: false };
    const changes: FedChange[] = [];
    const page = new PageSize();
    // Behind the last change there may be a gap.
    let isRest = true;
    let last = cursor.revision;
    for (const { revision, type, key, data } of history.changesSince(cursor.revision, limit)) {
      isRest = page.takes(data);
      if (!isRest) break;
      changes.push({ deleted: type === "DELETED", object: data, key, revision });
      last = revision;
    }
    if (isRest && changes.length < limit) last = head;
    return { kind: "changes", changes, cursor: { incarnation, revision: last }, more: last < head };
  }

  /** See ObjectFeed. */
  objectsAfter(after: string, limit: number): FedPage {
    const objects: string[] = [];
    const keys: string[] = [];
    const { incarnation, revision, storage } = this.store;
    const cursor = { incarnation, revision };
    const page = new PageSize();
    let last = after;
    for (const { key, data } of storage.objectScan(after === "" ? "" : `${after}\0`, "")) {
      if (objects.length === limit || !page.takes(data)) return { objects, keys, cursor, next: last };
      objects.push(data);
      keys.push(key);
      last = key;
    }
    return { objects, keys, cursor, next: "" };
  }

  /** See ObjectFeed. */
  objectsNamed(keys: readonly ObjectKey[]): (string | null)[] {
    return keys.map((key) => this.store.storage.objectGet(storageKey(key))?.data ?? null);
  }
}

/** Bounds a page by its texts; one object always fits. */
class PageSize {
  #chars = 0;

  /** Whether the page has room for the text; if so, it is counted. */
  takes(text: string): boolean {
    const isFull = this.#chars > 0 && this.#chars + text.length > FEED_PAGE_MAX_CHARS;
    if (!isFull) this.#chars += text.length;
    return !isFull;
  }
}
