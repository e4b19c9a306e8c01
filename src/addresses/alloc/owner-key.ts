import type { Family } from "../../core/net/family";
import { lastOf, type Prefix } from "../../core/net/prefix";

/**
 * The storage key of an address: "4" and 8 hex digits, or "6" and 32. The width is fixed per family, so text order is address order, and every
 * interval of one family is one range of keys. SQLite can compare it, unlike a 128-bit integer.
 */
export type AddressKey = string;

/** Below every key. */
export const KEY_BEFORE_ALL: AddressKey = "";
/** Above every key. */
export const KEY_AFTER_ALL: AddressKey = "7";

/** `address` is within its family. */
export function addressKey(family: Family, address: bigint): AddressKey {
  return family === "IPv4" ? "4" + address.toString(16).padStart(8, "0") : "6" + address.toString(16).padStart(32, "0");
}

/** The inverse of `addressKey`. */
export function parseAddressKey(key: AddressKey): { family: Family; address: bigint } {
  return { family: key.startsWith("4") ? "IPv4" : "IPv6", address: BigInt("0x" + key.slice(1)) };
}

/** The keys of a segment's first and last address. */
export function keysOf(segment: Prefix): [first: AddressKey, last: AddressKey] {
  return [addressKey(segment.family, segment.base), addressKey(segment.family, lastOf(segment))];
}
