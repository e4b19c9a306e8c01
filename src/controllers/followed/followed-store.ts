/** One store that a controller follows: by its changes, and by a whole list where its history does not reach back to the cursor. */
import type { Recorder } from "../../core/base/ports";
import type { KubeObject } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readObject } from "../../api/meta/read-object";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { KeptRows } from "./kept-rows";

/** Entries of history, or objects of a list, for one call: some milliseconds of the store's thread. */
export const PAGE_ENTRIES = 500;
/** Pages of one pull. The next one goes on behind them. */
const PAGES_MAX = 200;

/** What a controller does with the objects of one store. It may hear of an object again, unchanged. */
export interface FeedReader {
  /** `isListed`: it comes from a whole list, so it may be there for long. */
  put(object: KubeObject, isListed: boolean): void;
  gone(key: string): void;
  /** Whether a change, or the end, of this object is nothing to the reader, as its text shows: then it is not parsed. */
  passesOver?(object: FedText): boolean;
  /** the keys of what is kept: those that a whole list lacks are gone */
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

/** How far stores have been read: in rows, or in memory alone, where each start reads the whole list. */
export type Cursors = Pick<KeptRows, "cursor" | "moveCursor">;

/** A list that is not read to its end. */
interface UnfinishedList {
  readonly listed: Set<string>;
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

  /** @param name of the store's cursor */
  constructor(
    private readonly name: string,
    private readonly feed: ObjectFeed,
    private readonly reader: FeedReader,
    private readonly cursors: Cursors,
    private readonly recorder: Recorder,
  ) {}

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

  /** Whether the reader has everything that the store had when this pull began. Never rejects; after `mayGoOn` says no, nothing more is read. */
  async pull(mayGoOn: () => boolean): Promise<boolean> {
    this.#failure = undefined;
    try {
      for (let page = 0; page < PAGES_MAX && (page === 0 || mayGoOn()); page++) {
        const cursor = this.cursors.cursor(this.name);
        const answer = cursor && !this.#listing ? await this.feed.objectsSince(cursor, PAGE_ENTRIES) : undefined;
        if (answer?.kind !== "changes") {
          await this.#listPage();
          continue;
        }
        for (const { deleted, object, key, revision } of answer.changes) this.#absorb(object, deleted, key, revision);
        this.cursors.moveCursor(this.name, answer.cursor);
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
    const listing = (this.#listing ??= { listed: new Set(), cursor: undefined, after: "" });
    const page = await this.feed.objectsAfter(listing.after, PAGE_ENTRIES);
    listing.cursor ??= page.cursor;
    for (const key of page.keys ?? []) listing.listed.add(key);
    for (const [i, text] of page.objects.entries()) {
      const key = this.#absorb(text, false, page.keys?.[i], undefined, true);
      if (key !== undefined) listing.listed.add(key);
    }
    listing.after = page.next;
    if (page.next !== "") return;
    this.#listing = undefined;
    for (const key of [...this.reader.keys()]) if (!listing.listed.has(key)) this.reader.gone(key);
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
