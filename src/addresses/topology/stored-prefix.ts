import { assert } from "../../core/base/assert";
import { parsePrefix } from "../../core/net/prefix";
import type { Prefix } from "../../core/net/prefix";

/** A prefix with its canonical text, so that neither has to be worked out again. */
export interface NamedPrefix {
  prefix: string;
  parsed: Prefix;
}

/** Every look at the topology reads the same few texts; parsing IPv6 each time would be its main cost. */
const known = new Map<string, Prefix>();
const KNOWN_MAX = 20_000;

/** Reads a CIDR text that was validated before it was stored; any other text is a bug, so it throws InvariantError. */
export function storedPrefix(text: string): Prefix {
  let prefix = known.get(text);
  if (!prefix) {
    const parsed = parsePrefix(text);
    assert(parsed.ok, `a stored prefix is canonical: ${text}`);
    prefix = parsed.value;
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(text, prefix);
  }
  return prefix;
}
