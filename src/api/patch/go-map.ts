/** How Go prints maps in messages of patches. */
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json/json-value";

/** A Status shows no more of a message: it has 64 KiB at most. */
const MESSAGE_MAX_CHARACTERS = 64 * 1024;

/** Go's %v of a map: `map[a:1 b:x]`, keys sorted. Of a longer text than `max` characters at least the first so many. */
export function goMap(value: JsonValue, max = MESSAGE_MAX_CHARACTERS): string {
  if (Array.isArray(value)) {
    let text = "[";
    for (const item of value) {
      if (text.length > max) return text;
      text += (text.length > 1 ? " " : "") + goMap(item, max - text.length);
    }
    return `${text}]`;
  }
  if (!isJsonObject(value)) return value === null ? "<nil>" : String(value);
  let text = "map[";
  // A key and its colon or blank.
  for (const key of firstKeys(value, Math.max(0, max) / 2 + 1)) {
    if (text.length > max) return text;
    text += `${text.length > 4 ? " " : ""}${key}:`;
    text += goMap(value[key] ?? null, max - text.length);
  }
  return `${text}]`;
}

/** The first keys in their order, `most` or some more. To sort a hundred thousand takes longer than to parse them. */
function firstKeys(object: JsonObject, most: number): string[] {
  let first: string[] = [];
  let last: string | undefined;
  for (const key of Object.keys(object)) {
    if (last !== undefined && key > last) continue;
    first.push(key);
    if (first.length < 2 * most) continue;
    first = first.sort().slice(0, most);
    last = first[first.length - 1];
  }
  return first.sort();
}
