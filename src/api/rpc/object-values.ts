/** Questions of a controller to a store that changes too often to be followed: one value of each changed object, as it is now. */
import type { StoreCursor } from "./object-links";

export interface ValuesQuestion {
  /** "" = all namespaces */
  namespace: string;
  /** the members that lead to the value, as ["spec", "renewTime"] */
  path: string[];
}

/**
 * A value that is no text is "". `agoMs`: how long ago it was written, at the time of the answer. It comes from metadata.managedFields, may be a second
 * too small and is never too great. undefined = nobody knows, or the store runs the release before.
 */
export type ObjectValue = readonly [key: string, value: string, revision: number, agoMs?: number | undefined];

export interface ObjectValues {
  /** of the objects changed since the cursor, by storage key */
  values: ObjectValue[];
  /** where the next question goes on. Changes during the answer may be told twice */
  cursor: StoreCursor;
  /** For how long the store has taken each write, in milliseconds: since its start, or since a turn was lost. Absent: the store runs the release before */
  servingMs?: number;
}

/** Answered from the objects, not from their history: so no cursor is too old. What was deleted is not told. */
export interface ValuedStore {
  valuesSince(question: ValuesQuestion, cursor: StoreCursor | undefined): Promise<ObjectValues>;
}
