/** Questions of a controller to a store that changes too often to be followed: one value of each changed object, as it is now. */
import type { StoreCursor } from "./object-links";

export interface ValuesQuestion {
  /** "" = all namespaces */
  namespace: string;
  /** the members that lead to the value, as ["spec", "renewTime"] */
  path: string[];
}

export interface ObjectValues {
  /** storage key, value and revision of the objects changed since the cursor; a value that is no text is "" */
  values: (readonly [key: string, value: string, revision: number])[];
  /** where the next question goes on. Changes during the answer may be told twice */
  cursor: StoreCursor;
}

/** Answered from the objects, not from their history: so no cursor is too old. What was deleted is not told. */
export interface ValuedStore {
  valuesSince(question: ValuesQuestion, cursor: StoreCursor | undefined): Promise<ObjectValues>;
}
