/** Names of events: the same report has the same name, so that repeating a write is harmless and a repeated problem is found again. */

const FNV64_OFFSET = 0xcbf29ce484222325n;
const FNV64_PRIME = 0x100000001b3n;
/** A DNS subdomain. */
const NAME_LENGTH_MAX = 253;
const SUFFIX_LENGTH = 17;

/** `web.3f2a…`: what the event is about, as far as a name can say it, and 16 hexadecimal digits that stand for `identity`. */
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

/** FNV-1a over the UTF-8 bytes: nobody gains by forging it. */
function fnv64(text: string): string {
  let hash = FNV64_OFFSET;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV64_PRIME);
  return hash.toString(16).padStart(16, "0");
}
