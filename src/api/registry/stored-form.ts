/** What an earlier release stored, in the form that this one stores. */
import { parseJson } from "../../core/encoding/exact-json";
import type { KubeObject } from "../meta/kubernetes";
import { validateValue } from "../schema/json/decode-json";
import type { MessageSchema } from "../schema/types";

/**
 * A copy of a stored object with today's canonical quantities and today's static defaults, as upstream decodes what it has stored.
 * An object that cannot be decoded is answered as it is.
 */
export function inTodaysForm<T extends KubeObject>(stored: T, schema: MessageSchema, defaults: (object: T) => void): T {
  const decoded = validateValue(parseJson(JSON.stringify(stored)), schema);
  if (!decoded.ok) return stored;
  const object = decoded.value.value as T;
  defaults(object);
  return object;
}
