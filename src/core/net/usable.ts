/**
 * Which addresses of a range may be given out (upstream: pkg/registry/core/service/ipallocator). The network address is reserved in both
 * families. The all-ones address is reserved in IPv4 only, where it is the broadcast address.
 */
import type { Family } from "./family";
import type { Interval } from "./interval";
import { lastOf, type Prefix } from "./prefix";

/** First and last usable address; undefined for /31, /32 and /128, which have none. A ServiceCIDR contains exactly its usable addresses. */
export function usableOf(prefix: Prefix): Interval | undefined {
  const first = prefix.base + 1n;
  const last = prefix.family === "IPv4" ? lastOf(prefix) - 1n : lastOf(prefix);
  return first <= last ? { first, last } : undefined;
}

/** Number of usable addresses: 2^h - 2 in IPv4, 2^h - 1 in IPv6, at least 0. */
export function usableSizeOf(prefix: Prefix): bigint {
  const usable = usableOf(prefix);
  return usable === undefined ? 0n : usable.last - usable.first + 1n;
}

/** Whether the range contains the address as a usable one, which is what counts for allocation and for deletion. */
export function isUsableIn(prefix: Prefix, family: Family, address: bigint): boolean {
  if (prefix.family !== family) return false;
  const usable = usableOf(prefix);
  return usable !== undefined && address >= usable.first && address <= usable.last;
}
