/** Names of events. Equal reports have equal names: a write can be repeated, and a repeated problem finds its event. */

const FNV64_OFFSET = 0xcbf29ce484222325n;
const FNV64_PRIME = 0x100000001b3n;
/** A DNS subdomain. */
const NAME_LENGTH_MAX = 253;
const SUFFIX_LENGTH = 17;

/** `web.3f2a…`: the name of the event's object in the form of a name, and 16 hexadecimal digits that stand for `identity`. */
export function eventName(regardingName: string, identity: readonly string[]): string {
  const base = regardingName
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, "-")
    .slice(0, NAME_LENGTH_MAX - SUFFIX_LENGTH)
    .split(".")
    .map((label) => label.replace(/^-+|-+$/g, ""))
    .filter(Boolean)
    .join(".");
  return `${base || "event"}.${fnv64(JSON.stringify(identity))}`;
}

/** FNV-1a over the UTF-8 bytes. A forged collision would gain nothing. */
function fnv64(text: string): string {
  let hash = FNV64_OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV64_PRIME);
  return hash.toString(16).padStart(16, "0");
}
