/** One store that a controller follows: by its changes, and by a whole list where its history does not reach back to the cursor. */
import type { Recorder } from "../../core/base/ports";
import type { KubeObject } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readObject } from "../../api/meta/read-object";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { StoreNews } from "../../api/rpc/store";
import type { KeptRows } from "./kept-rows";
import { TextTable } from "../../core/tables/text-table";
import { StoreReading } from "./store-reading";

/** Entries of history, or objects of a list, for one call: some milliseconds of the store's thread. */
export const PAGE_ENTRIES = 500;
/** Pages of one pull. The next one goes on behind them. */
const PAGES_MAX = 200;
/** Own changes that are held until the end of a round. Of more the store is read. */
const OWN_MAX = 1_000;

/** What a controller does with the objects of one store. It may hear of an object again, unchanged. */
export interface FeedReader {
  /** `isListed`: it comes from a whole list, so it may be there for long. */
  put(object: KubeObject, isListed: boolean): void;
  gone(key: string): void;
  /** Whether a change, or the end, of this object is nothing to the reader, as its text shows: then it is not parsed. */
  passesOver?(object: FedText): boolean;
  /** the keys of what is kept: those that a whole list lacks are gone. They may go while they are read */
  keys(): Iterable<string>;
  /** A whole list was read, and the history behind it to its end. What the list lacks may never have been told of. */
  relisted?(): void;
}

/** An object as a store tells of it. */
export interface FedText {
  readonly key: string;
  readonly text: string;
  /** of its change; undefined = it comes from a list */
  readonly revision: number | undefined;
  /** It is the last state of an object that is gone. */
  readonly isDeleted: boolean;
}

/** A change that the controller itself has made. */
export interface OwnChange {
  readonly at: StoreCursor;
  /** the object after the change; of a deletion its last state */
  readonly object: string;
  readonly isDeletion: boolean;
}

/** The feed of a store that pokes name. */
export interface NamedFeed extends ObjectFeed {
  /** qualified resource; absent = every poke may be of this store */
  readonly resource?: string;
  /** Whether the store was never written to, so that it need not be asked; absent = it may have been. Never rejects. */
  isUnused?(): Promise<boolean>;
  /** Tells of each change that the controller makes from now on, before its writer gets the answer; absent = nobody tells. */
  onWritten?(told: (change: OwnChange) => void): void;
}

/** How far stores have been read: in rows, or in memory alone, where each start reads the whole list. */
export type Cursors = Pick<KeptRows, "cursor" | "moveCursor"> & Partial<Pick<KeptRows, "pageRead">>;

/** A list that is not read to its end. */
interface UnfinishedList {
  readonly listed: TextTable;
  /** where the first page was read: the history behind it repeats what changes between the pages */
  cursor: StoreCursor | undefined;
  after: string;
}

export class FollowedStore {
  #listing: UnfinishedList | undefined;
  /** A list was read to its end, and the history behind it was not. */
  #isBehindList = false;
  #isRead = false;
  #read = 0;
  #failure: string | undefined;
  readonly #reading = new StoreReading();
  /** what the controller itself has written since the last call of `takeOwn`, or the last pull */
  #own: OwnChange[] = [];

  /** @param name of the store's cursor */
  constructor(
    private readonly name: string,
    private readonly feed: NamedFeed,
    private readonly reader: FeedReader,
    private readonly cursors: Cursors,
    private readonly recorder: Recorder,
  ) {
    feed.onWritten?.((change) => {
      if (this.#own.length < OWN_MAX) this.#own.push(change);
      else this.#reading.mustRead();
    });
  }

  /** Whether the feed has been read to its end since this object began. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** changes and objects that were read since this object began */
  get read(): number {
    return this.#read;
  }

  /** why the last pull could not read; undefined = it could */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** See Followed in frame/frame.ts, as for the members below. */
  get isBehind(): boolean {
    return this.feed.resource === undefined || this.#reading.isBehind(this.cursors.cursor(this.name));
  }

  get wants(): boolean {
    return this.feed.resource === undefined || this.#reading.wants(this.cursors.cursor(this.name));
  }

  hears(news: StoreNews): void {
    if (news.store === this.feed.resource) this.#reading.hears(news);
  }

  mustRead(): void {
    this.#reading.mustRead();
  }

  /** Whether the reader has everything that the store had when this pull began. Never rejects; after `mayGoOn` says no, nothing more is read. */
  async pull(mayGoOn: () => boolean): Promise<boolean> {
    this.#failure = undefined;
    this.#reading.begins();
    // What was written before is read with the rest.
    this.#own = [];
    const isRead = await this.#pull(mayGoOn);
    if (!isRead) this.#reading.mustRead();
    return isRead;
  }

  /**
   * Takes what the controller itself has written as read, if it follows the cursor without a gap: its answers are what the history tells. Then no pass
   * has to read it, and its own pokes ask for none. Where somebody else has written between, the next round reads the store.
   */
  takeOwn(): void {
    const own = this.#own.sort((a, b) => a.at.revision - b.at.revision);
    this.#own = [];
    for (const { at, object, isDeletion } of own) {
      const cursor = this.cursors.cursor(this.name);
      if (cursor?.incarnation === at.incarnation && cursor.revision >= at.revision) continue;
      const isNext = cursor?.incarnation === at.incarnation && cursor.revision + 1 === at.revision;
      if (!isNext || this.#listing || this.#isBehindList) return this.#reading.mustRead();
      this.#absorb(object, isDeletion, undefined, at.revision);
      this.cursors.moveCursor(this.name, at);
    }
  }

  async #pull(mayGoOn: () => boolean): Promise<boolean> {
    try {
      for (let page = 0; page < PAGES_MAX && (page === 0 || mayGoOn()); page++) {
        const cursor = this.cursors.cursor(this.name);
        if (!cursor && !this.#listing && !this.#reading.isUsed && (await this.feed.isUnused?.())) {
          this.#isRead = true;
          return true;
        }
        const answer = cursor && !this.#listing ? await this.feed.objectsSince(cursor, PAGE_ENTRIES) : undefined;
        if (answer?.kind !== "changes") {
          await this.#listPage();
          continue;
        }
        for (const { deleted, object, key, revision } of answer.changes) this.#absorb(object, deleted, key, revision);
        this.cursors.moveCursor(this.name, answer.cursor);
        this.cursors.pageRead?.();
        if (answer.more) continue;
        if (this.#isBehindList) this.reader.relisted?.();
        this.#isBehindList = false;
        this.#isRead = true;
        return true;
      }
    } catch (error) {
      this.#failure = `${this.name}: ${String(error)}`;
      this.recorder.log("warn", "a controller could not read", { store: this.name, error: String(error) });
    }
    return false;
  }

  /** The cursor moves when the list is read to its end. */
  async #listPage(): Promise<void> {
    const listing = (this.#listing ??= { listed: new TextTable(), cursor: undefined, after: "" });
    const page = await this.feed.objectsAfter(listing.after, PAGE_ENTRIES);
    listing.cursor ??= page.cursor;
    for (const key of page.keys ?? []) listing.listed.add(key);
    for (const [i, text] of page.objects.entries()) {
      const key = this.#absorb(text, false, page.keys?.[i], undefined, true);
      if (key !== undefined) listing.listed.add(key);
    }
    listing.after = page.next;
    this.cursors.pageRead?.();
    if (page.next !== "") return;
    this.#listing = undefined;
    for (const key of this.reader.keys()) if (!listing.listed.has(key)) this.reader.gone(key);
    this.#isBehindList = true;
    this.cursors.moveCursor(this.name, listing.cursor);
  }

  /** Answers the object's key; undefined = the text is damaged, and what is known of the object stays. */
  #absorb(text: string, deleted: boolean, storageKey?: string, revision?: number, isListed = false): string | undefined {
    this.#read++;
    if (storageKey !== undefined && this.reader.passesOver?.({ key: storageKey, text, revision, isDeleted: deleted })) return storageKey;
    const object = readObject<KubeObject>(text);
    if (!object) {
      this.recorder.log("warn", "a controller met an object that cannot be read", { store: this.name });
      return undefined;
    }
    const key = keyOf(object);
    if (deleted) this.reader.gone(key);
    else this.reader.put(object, isListed);
    return key;
  }
}
