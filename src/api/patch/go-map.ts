/** How Go prints maps in messages of patches. */
import { isJsonObject, type JsonValue } from "../schema/json/json-value";

/** Go's %v of a map: `map[a:1 b:x]`, keys sorted. */
export function goMap(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(goMap).join(" ")}]`;
  if (!isJsonObject(value)) return value === null ? "<nil>" : String(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goMap(value[key] ?? null)}`);
  return `map[${members.join(" ")}]`;
}
