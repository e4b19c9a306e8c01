/**
 * What an owner asks of its storage. Operations are synchronous. Outside `transaction` each is atomic by itself; inside, all are kept or none.
 * Implemented over SQLite in durable-objects/sql/owner-sql.ts, and in memory, with crashes, for tests.
 */
import type { Band } from "../../core/net/band";
import type { Gen, Holder } from "../rpc/service-cidr";
import type { AddressKey } from "./owner-key";
import type { DirtyPage } from "./pool";

/** The last accepted configuration. */
export interface StoredConfig {
  epoch: number;
  /** canonical JSON of everything but the epoch (active-config.ts) */
  content: string;
}

/** One allocated address: the authority on who holds it. */
export interface StoredRow {
  key: AddressKey;
  /** number of the row among all rows ever written here; a row that was given out here has the same number in its gen */
  position: number;
  token: string;
  gen: Gen;
  band: Band;
  holder: Holder;
}

/** A page of taken bits as `Pool.loadPage` takes it. */
export interface StoredPage {
  segment: string;
  page: string;
  bytes: Uint8Array;
}

/** How far a hand-off has been received. */
export interface StoredReceiving {
  /** the key of the last received row; "" = none yet */
  through: AddressKey;
  /** all rows have come, and were checked */
  sealed: boolean;
}

/** Tokens that were released recently. */
export interface ReleasedList {
  /** greater than those of older lists */
  id: number;
  /** until when they are remembered (ms since the epoch) */
  expiresMs: number;
  tokens: string[];
}

export interface OwnerStorage {
  /** Runs `body` once, synchronously. Its writes are kept if it returns, and undone if it throws. */
  transaction<T>(body: () => T): T;

  /** undefined: never configured */
  configLoad(): StoredConfig | undefined;
  configSave(config: StoredConfig): void;

  /** The position up to which all are reserved: no row has had a greater one. 0 at first. */
  reservedLoad(): number;
  reservedSave(position: number): void;

  /** A plain insert: throws when the address or the token already has a row. The key guards that an address has one holder (I1). */
  rowInsert(row: StoredRow): void;
  /** Deletes the row of this address if it carries this token; false when there is no such row. */
  rowDelete(key: AddressKey, token: string): boolean;
  /** Deletes the rows with `after` < key < `before`. */
  rowsDeleteBetween(after: AddressKey, before: AddressKey): void;
  rowByToken(token: string): StoredRow | undefined;
  /** Rows whose position is greater than `afterPosition`, in that order. */
  rowsSince(afterPosition: number, limit: number): StoredRow[];
  /** Rows with `after` < key in [first, last], in address order. */
  rowsIn(interval: { first: AddressKey; last: AddressKey; after: AddressKey }, limit: number): StoredRow[];
  /** Keys of all rows in [first, last], in address order; to be consumed without writing rows meanwhile. */
  rowKeys(first: AddressKey, last: AddressKey): Iterable<AddressKey>;
  /** Number of rows in [first, last]. */
  rowCount(first: AddressKey, last: AddressKey): number;
  /** The same, of rows that are held for Services. */
  serviceRowCount(first: AddressKey, last: AddressKey): number;

  /** undefined: no chunk of this hand-off has come, or it is over */
  receivingLoad(handoff: number): StoredReceiving | undefined;
  receivingSave(handoff: number, state: StoredReceiving): void;
  /** Forgets all hand-offs but these. */
  receivingRetain(handoffs: readonly number[]): void;

  /** By id. */
  releasedLists(): Iterable<ReleasedList>;
  /** Adds the list, or replaces the one of its id. */
  releasedSave(list: ReleasedList): void;
  releasedDelete(id: number): void;
  releasedClear(): void;

  pagesLoad(): Iterable<StoredPage>;
  /** null bytes delete the page */
  pageSave(page: DirtyPage): void;
  pagesDelete(segment: string): void;
  pagesClear(): void;
}
