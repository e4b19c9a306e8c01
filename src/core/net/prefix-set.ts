/**
 * Sets of addresses as lists of prefixes in *normal form*: IPv4 before IPv6, ascending, disjoint, and the fewest (two halves become their
 * whole). So equal sets have equal lists. Arguments may be any lists of prefixes; results are in normal form.
 */
import { FAMILIES, type Family, widthOf } from "./family";
import { type Interval, intersect, memberAt, normalize, subtract } from "./interval";
import { lastOf, type Prefix } from "./prefix";

export function normalizePrefixes(prefixes: readonly Prefix[]): Prefix[] {
  return FAMILIES.flatMap((family) => toPrefixes(family, intervalsOf(family, prefixes)));
}

export function unionPrefixes(a: readonly Prefix[], b: readonly Prefix[]): Prefix[] {
  return normalizePrefixes([...a, ...b]);
}

/** The addresses in `a` and not in `b`: 10.0.0.0/24 without 10.0.0.0/26 is 10.0.0.64/26 and 10.0.0.128/25. */
export function subtractPrefixes(a: readonly Prefix[], b: readonly Prefix[]): Prefix[] {
  return FAMILIES.flatMap((family) => toPrefixes(family, subtract(intervalsOf(family, a), intervalsOf(family, b))));
}

/** The addresses in both sets. */
export function intersectPrefixes(a: readonly Prefix[], b: readonly Prefix[]): Prefix[] {
  return FAMILIES.flatMap((family) => toPrefixes(family, intersect(intervalsOf(family, a), intervalsOf(family, b))));
}

/** Whether the set has every address of `prefix`, be it in several members together. */
export function coversPrefix(set: readonly Prefix[], prefix: Prefix): boolean {
  return coverOf(set)(prefix);
}

/** The same question about one set and many prefixes. */
export function coverOf(set: readonly Prefix[]): (prefix: Prefix) => boolean {
  const intervals = { IPv4: intervalsOf("IPv4", set), IPv6: intervalsOf("IPv6", set) };
  return (prefix) => {
    const around = memberAt(intervals[prefix.family], prefix.base);
    return around !== undefined && around.last >= lastOf(prefix);
  };
}

/** All addresses of the prefixes of one family, first and last included. */
function intervalsOf(family: Family, prefixes: readonly Prefix[]): Interval[] {
  return normalize(prefixes.filter((prefix) => prefix.family === family).map((prefix) => ({ first: prefix.base, last: lastOf(prefix) })));
}

/** Cuts intervals into the fewest aligned prefixes: at each position the largest that is aligned there and fits. */
function toPrefixes(family: Family, intervals: readonly Interval[]): Prefix[] {
  const width = widthOf(family);
  const result: Prefix[] = [];
  for (const { first, last } of intervals) {
    let base = first;
    while (base <= last) {
      let hostBits = 0;
      while (hostBits < width) {
        const mask = (1n << BigInt(hostBits + 1)) - 1n;
        if ((base & mask) !== 0n || base + mask > last) break;
        hostBits++;
      }
      result.push({ family, base, length: width - hostBits });
      base += 1n << BigInt(hostBits);
    }
  }
  return result;
}
