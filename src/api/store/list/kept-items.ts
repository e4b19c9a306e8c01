/**
 * The bytes of objects as protobuf lists have them. They are made when an object is listed first, and kept while it does not change, within a bound: an
 * object that finds no room is encoded for each list. In memory alone.
 *
 * A key and a revision name one content while a store lives in memory. Only a lost transaction gives a revision that is given again, and no list reads
 * inside a transaction.
 */
import type { EncodedItems } from "../../schema/protobuf/encode-protobuf";
import type { CommittedChange } from "../state/extension";
import { LIST_ITEMS_KEPT_BYTES } from "../state/limits";
import type { StoreObserver } from "../state/observer";

/** What the platform takes for an item besides its bytes: about as much as those of a small object. */
const ITEM_BYTES = 256;

/** The rows of a page; a row without a revision is neither known nor kept. */
interface PageRows {
  keys: readonly string[];
  revisions: readonly (number | undefined)[];
}

interface KeptItem {
  revision: number;
  bytes: Uint8Array;
}

export class KeptItems implements StoreObserver {
  /** by the id of a view and the key of an object */
  readonly #views = new Map<string, Map<string, KeptItem>>();
  #bytes = 0;
  /** turns that deleted objects */
  #deletions = 0;

  constructor(private readonly bytesMax = LIST_ITEMS_KEPT_BYTES) {}

  /** What it takes of the memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The items of a page in the view of this id (View). */
  of(view: string, { keys, revisions }: PageRows): EncodedItems {
    const items = this.#itemsIn(view);
    const before = this.#deletions;
    return {
      get: (index) => {
        const item = items.get(keys[index] ?? "");
        return item?.revision === revisions[index] ? item?.bytes : undefined;
      },
      keep: (index, bytes) => {
        // A long list goes on behind later turns: an object that is gone would stay here for ever.
        if (this.#deletions !== before) return;
        const [key, revision] = [keys[index], revisions[index]];
        if (key !== undefined && revision !== undefined) this.#keep(items, key, { revision, bytes });
      },
    };
  }

  turnCommitted(changes: readonly CommittedChange[]): void {
    if (changes.some(({ type }) => type === "DELETED")) this.#deletions++;
    if (this.#bytes === 0) return;
    for (const items of this.#views.values()) for (const { key } of changes) this.#forget(items, key);
  }

  #itemsIn(view: string): Map<string, KeptItem> {
    const known = this.#views.get(view);
    if (known) return known;
    const items = new Map<string, KeptItem>();
    this.#views.set(view, items);
    return items;
  }

  #keep(items: Map<string, KeptItem>, key: string, { revision, bytes }: { revision: number; bytes: () => Uint8Array }): void {
    const known = items.get(key);
    // A list that goes on while the object changes has the older one.
    if (known && known.revision > revision) return;
    this.#forget(items, key);
    if (this.#bytes >= this.bytesMax) return;
    const item = { revision, bytes: bytes() };
    items.set(key, item);
    this.#bytes += sizeOf(item);
  }

  #forget(items: Map<string, KeptItem>, key: string): void {
    const item = items.get(key);
    if (!item) return;
    items.delete(key);
    this.#bytes -= sizeOf(item);
  }
}

function sizeOf({ bytes }: KeptItem): number {
  return bytes.length + ITEM_BYTES;
}
