/** The static and the dynamic part of a range (KEP-3070, with the limits of released Kubernetes: a range of 16 has no static band). */
import { type Interval, normalize, subtract } from "./interval";
import { hostBitsOf, IPV4_MAPPED, lastOf, type Prefix } from "./prefix";
import { usableOf } from "./usable";

const STATIC_SIZE_MIN = 16;
const STATIC_SIZE_MAX = 256;

/** The band of a range that an address is in, or was given out from. */
export type Band = "static" | "dynamic";

/** The addresses that may be given out, by band; the two are disjoint and in normal form. */
export interface Bands {
  readonly dynamic: readonly Interval[];
  readonly static: readonly Interval[];
}

/** Addresses that are never given out, because no client could name them. */
const WITHOUT_TEXT: readonly Interval[] = [{ first: IPV4_MAPPED.base, last: lastOf(IPV4_MAPPED) }];

/**
 * Number of addresses of the static band, counted from the first usable one: min(max(16, size / 16), 256), where size = 2^hostBits. It is 0 for
 * a size of 16 and less, and for IPv4 /0 and /1, where upstream's size overflows to 0. IPv6 /0 and /1 overflow upstream, too, but not here:
 * upstream builds no allocator below /64, so nobody can depend on it.
 */
export function bandOffset(prefix: Prefix): number {
  const hostBits = hostBitsOf(prefix);
  const overflows = prefix.family === "IPv4" && hostBits >= 31;
  if (overflows || hostBits <= 4) return 0;
  return Math.min(Math.max(STATIC_SIZE_MIN, 2 ** (hostBits - 4)), STATIC_SIZE_MAX);
}

/** The lower band, which serves dynamic requests last; undefined when there is none. */
export function staticBandOf(prefix: Prefix): Interval | undefined {
  const usable = usableOf(prefix);
  const offset = bandOffset(prefix);
  if (usable === undefined || offset === 0) return undefined;
  return { first: usable.first, last: usable.first + BigInt(offset) - 1n };
}

/** The upper band; undefined when the range gives no addresses. */
export function dynamicBandOf(prefix: Prefix): Interval | undefined {
  const usable = usableOf(prefix);
  if (usable === undefined) return undefined;
  return { first: usable.first + BigInt(bandOffset(prefix)), last: usable.last };
}

/**
 * The bands of several ranges of one family together. An address is in the static band if any range that contains it as usable has it there,
 * else in the dynamic band. Without static bands (ServiceIPStaticSubrange=false) all are in the dynamic band.
 */
export function bandsOf(ranges: readonly Prefix[], withStatic = true): Bands {
  const isInterval = (interval: Interval | undefined): interval is Interval => interval !== undefined;
  const withoutText = ranges[0]?.family === "IPv6" ? WITHOUT_TEXT : [];
  const usable = subtract(normalize(ranges.map(usableOf).filter(isInterval)), withoutText);
  if (!withStatic) return { dynamic: usable, static: [] };
  const inStaticBand = subtract(normalize(ranges.map(staticBandOf).filter(isInterval)), withoutText);
  return { dynamic: subtract(usable, inStaticBand), static: inStaticBand };
}
