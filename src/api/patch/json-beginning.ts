/** The beginning of a value in JSON, for messages: a whole text would cost as much as the write. */
import { isJsonObject, type JsonValue } from "../schema/json/json-value";

/** The JSON of a value; of a longer text than `max` characters at least the first so many. */
export function jsonBeginning(value: JsonValue, max: number): string {
  if (typeof value === "string") return JSON.stringify(value.length > max ? value.slice(0, max) : value);
  if (Array.isArray(value)) {
    let text = "[";
    for (const item of value) {
      if (text.length > max) return text;
      if (text.length > 1) text += ",";
      text += jsonBeginning(item, max - text.length);
    }
    return `${text}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value);
  let text = "{";
  for (const name in value) {
    if (text.length > max) return text;
    const member = value[name];
    if (member === undefined) continue;
    text += `${text.length > 1 ? "," : ""}${jsonBeginning(name, max)}:`;
    text += jsonBeginning(member, max - text.length);
  }
  return `${text}}`;
}
