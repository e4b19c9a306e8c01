/** A store's side of what controllers pull: changes since a cursor, pages, objects by name. Reads only; nothing is parsed. */
import type { FedChanges, FedPage } from "../rpc/object-feed";
import type { StoreCursor } from "../rpc/object-links";
import type { ObjectKey } from "../rpc/store";
import { storageKey } from "./keys";
import type { StoreEngine } from "./store-engine";

type AnyStore = Pick<StoreEngine<unknown>, "storage" | "revision" | "floor" | "incarnation">;

export class ObjectFeedReader {
  constructor(private readonly store: AnyStore) {}

  /** See ObjectFeed. A cursor of another incarnation or of the future is as good as none. */
  objectsSince(cursor: StoreCursor | undefined, limit: number): FedChanges {
    const { incarnation, revision: head, floor, storage } = this.store;
    if (cursor?.incarnation !== incarnation || cursor.revision > head || cursor.revision < floor) return { kind: "expired" };
    if (cursor.revision === head) return { kind: "changes", changes: [], cursor, more: false };
    const entries = storage.changesSince(cursor.revision, limit);
    const revision = entries.at(-1)?.revision ?? head;
    const changes = entries.map(({ type, data }) => ({ deleted: type === "DELETED", object: data }));
    return { kind: "changes", changes, cursor: { incarnation, revision }, more: revision < head };
  }

  /** See ObjectFeed. */
  objectsAfter(after: string, limit: number): FedPage {
    const objects: string[] = [];
    const keys: string[] = [];
    const { incarnation, revision, storage } = this.store;
    const cursor = { incarnation, revision };
    for (const { key, data } of storage.objectScan(after === "" ? "" : `${after}\0`, "")) {
      if (objects.length === limit) return { objects, keys, cursor, next: keys.at(-1) ?? "" };
      objects.push(data);
      keys.push(key);
    }
    return { objects, keys, cursor, next: "" };
  }

  /** See ObjectFeed. */
  objectsNamed(keys: readonly ObjectKey[]): (string | null)[] {
    return keys.map((key) => this.store.storage.objectGet(storageKey(key))?.data ?? null);
  }
}
