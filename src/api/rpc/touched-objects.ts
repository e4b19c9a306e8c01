/** Whose objects have changed, by their names alone. Names fit where texts do not: a client that was away asks for the objects as they are now. */
import type { StoreCursor } from "./object-links";

/** `expired`: the history does not reach back to the cursor (rule 23). */
export type TouchedObjects = { kind: "expired" } | TouchedPage;

interface TouchedPage {
  kind: "touched";
  /** each once */
  keys: string[];
  cursor: StoreCursor;
  more: boolean;
}

export interface TouchedStore {
  /**
   * A page of the changes after the cursor: the storage keys of the objects. With a label: `namespace/value` for each value that it had before a change or
   * has after it, and perhaps some more.
   */
  touchedSince(cursor: StoreCursor, label?: string): Promise<TouchedObjects>;
}
