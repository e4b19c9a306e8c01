/** The body of a patch: its parsing, and the errors in the words of Go. */
import { parseJson } from "../../core/base/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import { syntaxError } from "../schema/json-syntax";
import { goKind, type JsonValue } from "../schema/json-value";

/** Nesting beyond this is refused before anything recurses over it; no API object comes near. */
const DEPTH_MAX = 1000;

/** Whether containers nest deeper than DEPTH_MAX; strings are skipped, as they may hold brackets. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++;
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > DEPTH_MAX) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/** The parsed body of a patch; the error is in Go's words. */
export function parsePatch(text: string): Result<JsonValue, string> {
  if (isTooDeep(text)) return err("exceeded max depth");
  try {
    return ok(parseJson(text) as JsonValue);
  } catch {
    return err(syntaxError(text));
  }
}

/** Go's error for a body that does not fit the patch; `type` is the Go type that it should have. */
export function wrongForm(value: JsonValue, type: string): string {
  return `json: cannot unmarshal ${goKind(value)} into Go value of type ${type}`;
}
