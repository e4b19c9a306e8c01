/**
 * What controllers ask of every store: whole objects, by change, by page and by name. Objects are JSON texts as stored. An answer by change or by page
 * is bounded in its bytes too, so it may have fewer entries than asked for.
 */
import type { StoreCursor } from "./object-links";
import type { ObjectKey } from "./store";

export interface FedChange {
  deleted: boolean;
  /** the object after the change; of a deletion its last state */
  object: string;
  /** storage key and revision of the change; an object of the release before does not tell them */
  key?: string;
  revision?: number;
}

/** `expired`: the history no longer reaches back to the cursor (rule 23): read page by page, and go on from a page's cursor. */
export type FedChanges = FedState & ({ kind: "expired" } | FedHistory);

interface FedHistory {
  kind: "changes";
  changes: FedChange[];
  cursor: StoreCursor;
  more: boolean;
  /** the page that was asked for along with them; an object of the release before does not tell it */
  page?: FedPage;
}

/** Of a store that tells of its changes before it commits them (rpc/policy.ts). */
interface FedState {
  /** no change that it tells of was under way when it answered; absent = it tells of none */
  settled?: boolean;
}

export interface FedPage extends FedState {
  objects: string[];
  /** their storage keys, which say whose text it is that cannot be read; an object of the release before does not tell them */
  keys?: string[];
  /** where the store stood when this page was read */
  cursor: StoreCursor;
  /** the storage key behind which the next page begins; "" = this was the last one */
  next: string;
}

/** See objectsAfter. */
export interface AskedPage {
  after: string;
  limit: number;
}

export interface ObjectFeed {
  /** The changes after the cursor, at most `limit` entries of the history, in order. `page`: unless they are expired, the answer has that page, too. */
  objectsSince(cursor: StoreCursor | undefined, limit: number, page?: AskedPage): Promise<FedChanges>;
  /** At most `limit` objects behind the storage key `after` ("" = from the first). */
  objectsAfter(after: string, limit: number): Promise<FedPage>;
  /** The objects as they are now, in the order of the keys; null = there is none. */
  objectsNamed(keys: ObjectKey[]): Promise<(string | null)[]>;
}

/** All objects of a store, page by page; `read` asks for what comes behind a storage key. Rejects as `read` does. */
export async function* pagesOf<Page extends Pick<FedPage, "next">>(read: (after: string) => Promise<Page>): AsyncGenerator<Page> {
  let after = "";
  do {
    const page = await read(after);
    yield page;
    after = page.next;
  } while (after !== "");
}
