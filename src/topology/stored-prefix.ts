import { assert } from "../base/assert";
import { parsePrefix } from "../net/prefix";
import type { Prefix } from "../net/prefix";

/** Reads a CIDR text that was validated before it was stored; any other text is a bug, so it throws InvariantError. */
export function storedPrefix(text: string): Prefix {
  const parsed = parsePrefix(text);
  assert(parsed.ok, `a stored prefix is canonical: ${text}`);
  return parsed.value;
}
