/** The static and the dynamic part of a range (KEP-3070, with the limits of released Kubernetes: a range of 16 has no static band). */
import type { Interval } from "./interval";
import { hostBitsOf, type Prefix } from "./prefix";
import { allocatableOf } from "./usable";

const STATIC_SIZE_MIN = 16;
const STATIC_SIZE_MAX = 256;

/**
 * Number of addresses of the static band, counted from the first usable one: min(max(16, size / 16), 256), where size = 2^hostBits;
 * 0 for a size of 16 and less, and where upstream's size overflows to 0 (IPv4 /0 and /1, IPv6 /0 and /1).
 */
export function bandOffset(prefix: Prefix): number {
  const hostBits = hostBitsOf(prefix);
  const overflows = hostBits >= (prefix.family === "IPv4" ? 31 : 127);
  if (overflows || hostBits <= 4) return 0;
  return Math.min(Math.max(STATIC_SIZE_MIN, 2 ** (hostBits - 4)), STATIC_SIZE_MAX);
}

/** The lower band, from which dynamic requests are served last; undefined when there is none. */
export function staticBandOf(prefix: Prefix): Interval | undefined {
  const allocatable = allocatableOf(prefix);
  const offset = bandOffset(prefix);
  if (allocatable === undefined || offset === 0) return undefined;
  return { first: allocatable.first, last: allocatable.first + BigInt(offset) - 1n };
}

/** The upper band; undefined when the range gives no addresses. */
export function dynamicBandOf(prefix: Prefix): Interval | undefined {
  const allocatable = allocatableOf(prefix);
  if (allocatable === undefined) return undefined;
  return { first: allocatable.first + BigInt(bandOffset(prefix)), last: allocatable.last };
}
