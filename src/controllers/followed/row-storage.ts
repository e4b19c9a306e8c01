/** Rows that a controller keeps in its own object: facts by kind and key, and a cursor for each store that it follows. */
import type { StoreCursor } from "../../api/rpc/object-links";

/** Every method is synchronous. */
export interface RowStorage {
  transaction(work: () => void): void;
  cursors(): Iterable<[store: string, cursor: StoreCursor]>;
  cursorPut(store: string, cursor: StoreCursor): void;
  /** the rows of a kind, in any order */
  rows(kind: string): Iterable<[key: string, text: string]>;
  rowGet(kind: string, key: string): string | undefined;
  rowPut(kind: string, key: string, text: string): void;
  rowDelete(kind: string, key: string): void;
  /** drops every row and every cursor */
  clear(): void;
}
