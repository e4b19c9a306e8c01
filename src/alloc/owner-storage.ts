/**
 * What the owner of addresses asks of its storage. Operations are synchronous. Outside `transaction` each is atomic by itself; inside, all
 * are kept or none. Implemented over SQLite in durable-objects/sql/owner-sql.ts and in memory, with crashes, for tests.
 */
import type { Scope } from "../net/band";
import type { Gen, Holder } from "../rpc/service-cidr";
import type { AddressKey } from "./owner-key";
import type { DirtyPage } from "./pool";

/** The last accepted configuration. */
export interface StoredConfig {
  epoch: number;
  /** canonical JSON of everything but the epoch (owner-config.ts) */
  content: string;
}

/** One allocated address: the authority on who holds it. */
export interface StoredRow {
  key: AddressKey;
  token: string;
  gen: Gen;
  scope: Scope;
  holder: Holder;
}

/** A page of taken bits as `Pool.loadPage` takes it. */
export interface StoredPage {
  segment: string;
  page: string;
  bytes: Uint8Array;
}

export interface OwnerStorage {
  /** Runs `body` once, synchronously; everything it wrote is kept if it returns and undone if it throws. */
  transaction<T>(body: () => T): T;

  /** undefined: never configured */
  configLoad(): StoredConfig | undefined;
  configSave(config: StoredConfig): void;

  /** The counter of the newest row ever written, rows since deleted included; 0 when there was none. */
  counterLoad(): number;
  counterSave(counter: number): void;

  /** A plain insert: throws when the address or the token already has a row. This key is the guard of "one holder per address". */
  rowInsert(row: StoredRow): void;
  /** Deletes the row of this address if it carries this token; false when there is no such row. */
  rowDelete(key: AddressKey, token: string): boolean;
  /** Deletes the rows with `after` < key < `before`. */
  rowsDeleteBetween(after: AddressKey, before: AddressKey): void;
  rowByToken(token: string): StoredRow | undefined;
  /** Rows whose counter is greater than `afterCounter`, in counter order. */
  rowsSince(afterCounter: number, limit: number): StoredRow[];
  /** Keys of all rows in [first, last], in address order; to be consumed without writing rows meanwhile. */
  rowKeys(first: AddressKey, last: AddressKey): Iterable<AddressKey>;
  /** Number of rows in [first, last] and the lowest key among them ("" = none). */
  rowCount(first: AddressKey, last: AddressKey): { count: number; example: AddressKey };

  /** Remembers the token until `expiresMs`; a repeat prolongs it. */
  releasedSave(token: string, expiresMs: number): void;
  releasedHas(token: string, nowMs: number): boolean;
  /** Forgets expired tokens, oldest first, looking at no more than `lookAt` of them, and whatever exceeds `keepMax`. */
  releasedTrim(options: { nowMs: number; lookAt: number; keepMax: number }): void;
  releasedClear(): void;

  pagesLoad(): Iterable<StoredPage>;
  /** null bytes delete the page */
  pageSave(page: DirtyPage): void;
  pagesDelete(segment: string): void;
  pagesClear(): void;
}
