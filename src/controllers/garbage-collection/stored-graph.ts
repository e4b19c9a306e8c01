/**
 * The collector's graph as its rows have it, and what stores tell of it. A cursor moves in the transaction that stores the nodes read up to it. That
 * is one page at a time: the list of a large cluster is too much for one transaction.
 */
import type { Recorder } from "../../core/base/ports";
import type { LinkChange, LinkedStore, StoreCursor } from "../../api/rpc/object-links";
import { PAGE_ENTRIES } from "../followed/followed-store";
import type { Saved } from "../frame/frame";
import { OwnerGraph, placeId } from "./graph";
import type { GraphStorage } from "./ports";
import { resolveOwner } from "./resolve-owner";

/** Pages that one pull reads from one store. The next one continues behind them. */
const PAGES_MAX = 100;

type PulledStore = Pick<LinkedStore, "changesSince" | "listMetadata"> & { readonly name: string };

/** A list of a store that is not read to its end. */
interface GraphListing {
  listed: Set<string>;
  /** where the first page was read */
  cursor: StoreCursor | undefined;
  /** the list goes on behind this key */
  after: string;
}

export class StoredGraph implements Saved {
  #cursors = new Map<string, StoreCursor>();
  #graph = new OwnerGraph(resolveOwner);
  readonly #listings = new Map<string, GraphListing>();
  #isAhead = false;
  #read = 0;

  /** @param deleted is told of each deletion */
  constructor(
    private readonly ports: { storage: GraphStorage; recorder: Recorder },
    private readonly deleted: (uid: string, namespace: string) => void,
  ) {}

  get graph(): OwnerGraph {
    return this.#graph;
  }

  /** changes and objects that were read since this object began */
  get read(): number {
    return this.#read;
  }

  /** A transaction has failed: what is in memory is not what is stored, until the next load. */
  get isAhead(): boolean {
    return this.#isAhead;
  }

  /** Begins with the rows as they are stored. */
  load(): void {
    const { storage } = this.ports;
    this.#listings.clear();
    this.#graph = new OwnerGraph(resolveOwner);
    this.#cursors = new Map(storage.cursors());
    for (const node of storage.nodes()) this.#graph.restore(node);
    this.#isAhead = false;
  }

  /** Whether the graph has everything that the store had when this pull began. Rejects when the store does; after `mayGoOn` says no, it reads no other page. */
  async pull(store: PulledStore, mayGoOn: () => boolean): Promise<boolean> {
    const mayRead = (): boolean => !this.#isAhead && mayGoOn();
    for (let page = 0; page < PAGES_MAX; page++) {
      const answer = await store.changesSince(this.#cursors.get(store.name), PAGE_ENTRIES);
      if (answer.kind === "expired") await this.#listAgain(store, mayRead);
      else {
        this.#listings.delete(store.name);
        this.#absorb(store.name, answer.changes, answer.cursor);
        if (!answer.more) return !this.#isAhead;
      }
      if (!mayRead()) return false;
    }
    return false;
  }

  /**
   * Reads the whole list, or goes on with it. The cursor stands where the first page was read. The history repeats the changes between the pages.
   */
  async #listAgain(store: PulledStore, mayRead: () => boolean): Promise<void> {
    const listing: GraphListing = this.#listings.get(store.name) ?? { listed: new Set(), cursor: undefined, after: "" };
    this.#listings.set(store.name, listing);
    do {
      const page = await store.listMetadata(listing.after, PAGE_ENTRIES);
      listing.cursor ??= page.cursor;
      for (const links of page.items) listing.listed.add(placeId({ store: store.name, key: links.key }));
      this.#absorb(
        store.name,
        page.items.map((links) => ({ type: "put", links })),
      );
      listing.after = page.next;
      if (listing.after !== "" && !mayRead()) return;
    } while (listing.after !== "");
    this.#listings.delete(store.name);
    if (this.#isAhead) return;
    this.#graph.retain(store.name, listing.listed);
    this.#absorb(store.name, [], listing.cursor);
  }

  #absorb(store: string, changes: readonly LinkChange[], cursor?: StoreCursor): void {
    if (this.#isAhead) return;
    this.#read += changes.length;
    for (const change of changes) {
      this.#graph.apply(store, change);
      if (change.type === "deleted") this.deleted(change.uid, change.key.namespace);
    }
    const last = this.#cursors.get(store);
    const moved = cursor && (cursor.revision !== last?.revision || cursor.incarnation !== last.incarnation) ? cursor : undefined;
    if (moved) this.#cursors.set(store, moved);
    this.save(store, moved);
  }

  /** Stores the nodes that changed, and the cursor with them. A failure drops what is in memory with the next load. */
  save(store = "", cursor?: StoreCursor): void {
    const { storage, recorder } = this.ports;
    const touched = this.#graph.takeTouched();
    if (touched.size === 0 && !cursor) return;
    try {
      storage.transaction(() => {
        for (const id of touched) {
          const node = this.#graph.get(id);
          if (node) storage.nodePut(id, node);
          else storage.nodeDelete(id);
        }
        if (cursor) storage.cursorPut(store, cursor);
      });
    } catch (error) {
      this.#isAhead = true;
      recorder.log("warn", "garbage collection could not store what it learned", { error: String(error) });
    }
  }
}
