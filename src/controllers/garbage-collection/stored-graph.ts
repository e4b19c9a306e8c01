/**
 * The collector's graph as its rows have it, and what stores tell of it. A saved cursor never stands behind the nodes that were read up to it, and may
 * stand before them (followed/lagging-cursors.ts). The nodes of many changes are saved in lots: the list of a large cluster is too much for one
 * transaction.
 */
import type { LinkChange, LinkedStore, StoreCursor } from "../../api/rpc/object-links";
import type { StoreNews } from "../../api/rpc/store";
import { linksOf } from "../../api/store/feeds/object-links-reader";
import { TextTable } from "../../core/tables/text-table";
import { PAGE_ENTRIES } from "../followed/followed-store";
import { LaggingCursors } from "../followed/lagging-cursors";
import { StoreReading } from "../followed/store-reading";
import type { Saved } from "../frame/frame";
import { OwnerGraph, placeId } from "./graph";
import type { CollectedStore, GarbageCollectionPorts } from "./ports";
import type { OwnerResolver } from "./resolve-owner";

/** Changed nodes that wait for the end of the round to be saved. */
const SAVED_TOGETHER = 500;
/** Pages that one pull reads from one store. The next one continues behind them. */
const PAGES_MAX = 100;

type PulledStore = Pick<LinkedStore, "changesSince" | "listMetadata"> & Pick<CollectedStore, "name" | "isUnused">;

/** A list of a store that is not read to its end. */
interface GraphListing {
  listed: TextTable;
  /** where the first page was read */
  cursor: StoreCursor | undefined;
  /** the list goes on behind this key */
  after: string;
}

export class StoredGraph implements Saved {
  #cursors = new LaggingCursors();
  #graph = this.#newGraph();
  readonly #listings = new Map<string, GraphListing>();
  /** by name of the store */
  readonly #readings = new Map<string, StoreReading>();
  #isAhead = false;
  #read = 0;

  /** @param deleted is told of each deletion */
  constructor(
    private readonly ports: Pick<GarbageCollectionPorts, "storage" | "recorder" | "savedTogether"> & { readonly ownerOf: OwnerResolver },
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

  #newGraph(): OwnerGraph {
    return new OwnerGraph(
      (reference, dependent) => this.ports.ownerOf(reference, dependent),
      (id) => this.ports.storage.nodeGet(id),
    );
  }

  /** Begins with the rows as they are stored. */
  load(): void {
    const { storage } = this.ports;
    this.#listings.clear();
    this.mustRead();
    this.#graph = this.#newGraph();
    this.#cursors = new LaggingCursors(storage.cursors());
    for (const node of storage.nodes()) this.#graph.restore(node);
    this.#isAhead = false;
  }

  /** A poke told of a store. */
  hears({ store, ...place }: StoreNews): void {
    this.#reading(store).hears(place);
  }

  /** Whether the store may have something that was not read. */
  isBehind(store: string): boolean {
    return this.#reading(store).isBehind(this.#cursors.get(store));
  }

  /** Whether a poke told of something that was not read. */
  get wants(): boolean {
    return [...this.#readings].some(([store, reading]) => reading.wants(this.#cursors.get(store)));
  }

  /** Every store, or the one of this name, is read next, whatever pokes say. */
  mustRead(store?: string): void {
    if (store !== undefined) return this.#reading(store).mustRead();
    for (const reading of this.#readings.values()) reading.mustRead();
  }

  #reading(store: string): StoreReading {
    const reading = this.#readings.get(store) ?? new StoreReading();
    this.#readings.set(store, reading);
    return reading;
  }

  /** Whether the graph has everything that the store had when this pull began. Rejects when the store does; after `mayGoOn` says no, it reads no other page. */
  async pull(store: PulledStore, mayGoOn: () => boolean): Promise<boolean> {
    const reading = this.#reading(store.name);
    let isRead = false;
    reading.begins();
    try {
      return (isRead = await this.#pull(store, mayGoOn));
    } finally {
      if (!isRead) reading.mustRead();
    }
  }

  async #pull(store: PulledStore, mayGoOn: () => boolean): Promise<boolean> {
    const mayRead = (): boolean => !this.#isAhead && mayGoOn();
    const isUnread = !this.#cursors.get(store.name) && !this.#listings.has(store.name) && !this.#reading(store.name).isUsed;
    if (isUnread && (await store.isUnused?.())) return !this.#isAhead;
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
    const listing: GraphListing = this.#listings.get(store.name) ?? { listed: new TextTable(), cursor: undefined, after: "" };
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
    this.#take(this.#graph.retain(store.name, listing.listed));
    this.#absorb(store.name, [], listing.cursor);
  }

  #absorb(store: string, changes: readonly LinkChange[], cursor?: StoreCursor): void {
    if (this.#isAhead) return;
    this.#read += changes.length;
    for (const change of changes) {
      this.#take(this.#graph.apply(store, change));
      if (this.#isAhead) return;
      if (change.type === "deleted") this.deleted(change.uid, change.key.namespace);
    }
    if (cursor) this.#cursors.move(store, cursor);
    this.#saveMany();
  }

  /** Changes the graph step by step, and saves what was touched in lots: before the cursor moves. */
  #take(steps: Iterable<void>): void {
    const step = steps[Symbol.iterator]();
    while (!this.#isAhead && !step.next().done) this.#saveMany();
  }

  #saveMany(): void {
    if (this.#graph.touched >= (this.ports.savedTogether ?? SAVED_TOGETHER)) this.#save(true);
  }

  /** Takes a write of the collector as read, if it follows the cursor without a gap. Otherwise the store is read next. */
  wrote(store: string, { at, object, gone }: { at?: StoreCursor; object: string; gone: boolean }): void {
    const cursor = this.#cursors.get(store);
    if (!at || cursor?.incarnation !== at.incarnation || cursor.revision + 1 !== at.revision) return this.mustRead(store);
    const links = linksOf(object);
    this.#absorb(store, [gone ? { type: "deleted", key: links.key, uid: links.uid } : { type: "put", links }], at);
  }

  /**
   * Stores the nodes that changed, and how far stores were read; `mayWait`: cursors that are little ahead of the saved ones stay in memory. Throws when
   * storage does, now or since the last load: that drops what is in memory.
   */
  save(mayWait = false): void {
    this.#save(mayWait);
    if (this.#isAhead) throw new Error("what was learned is not stored");
  }

  #save(mayWait: boolean): void {
    // Nodes that are lost already must not be left behind by their cursors.
    if (this.#isAhead) return;
    const { storage, recorder } = this.ports;
    const touched = this.#graph.takeTouched();
    const cursors = this.#cursors.due(mayWait);
    if (touched.size + cursors.length === 0) return;
    try {
      storage.transaction(() => {
        for (const id of touched) {
          const node = this.#graph.get(id);
          if (node) storage.nodePut(id, node);
          else storage.nodeDelete(id);
        }
        for (const [store, cursor] of cursors) storage.cursorPut(store, cursor);
      });
      this.#cursors.saved(cursors);
      this.#graph.saved(touched);
    } catch (error) {
      this.#isAhead = true;
      recorder.log("warn", "garbage collection could not store what it learned", { error: String(error) });
    }
  }
}
