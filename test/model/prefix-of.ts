import { parsePrefix, type Prefix } from "../../src/core/net/prefix";

/** The prefix of a literal in a test. */
export function prefixOf(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.error.reason}`);
  return parsed.value;
}
