/**
 * Zones: prefixes that are kept apart inside one another. An address is in the zone of the longest prefix that contains it, so zones divide what they
 * cover:
 *
 *     prefixes   [--------------- 10.0.0.0/24 ----------------]
 *                            [- 10.0.0.64/26 -]
 *     parts      [-- /24 ---][----- /26 ------][---- /24 -----]
 */
import { type Interval, memberAt, overlap } from "./interval";
import { formatPrefix, lastOf, type Prefix } from "./prefix";

/** A piece of a zone. */
export interface ZonePart extends Interval {
  /** canonical text of the zone's prefix */
  readonly zone: string;
}

/** The zone of every address that no prefix contains. */
export const OPEN_ZONE = "";

/** The parts of the zones, ascending and disjoint. The prefixes are of one family, each once, and nested or disjoint. */
export function zoneParts(prefixes: readonly Prefix[]): ZonePart[] {
  const sorted = [...prefixes].sort((a, b) => (a.base < b.base ? -1 : a.base > b.base ? 1 : a.length - b.length));
  const parts: ZonePart[] = [];
  const open: { zone: string; last: bigint; at: bigint }[] = [];
  const close = (): void => {
    const inner = open.pop();
    if (inner && inner.at <= inner.last) parts.push({ zone: inner.zone, first: inner.at, last: inner.last });
  };
  for (const prefix of sorted) {
    const last = lastOf(prefix);
    while (open.length > 0 && (open.at(-1)?.last ?? 0n) < prefix.base) close();
    const outer = open.at(-1);
    if (outer) {
      if (outer.at < prefix.base) parts.push({ zone: outer.zone, first: outer.at, last: prefix.base - 1n });
      outer.at = last + 1n;
    }
    open.push({ zone: formatPrefix(prefix), last, at: prefix.base });
  }
  while (open.length > 0) close();
  return parts;
}

/** The zone of an address. */
export function zoneAt(parts: readonly ZonePart[], address: bigint): string {
  return memberAt(parts, address)?.zone ?? OPEN_ZONE;
}

/** The parts inside each of many intervals, which are ascending and disjoint as the parts are; in their order. */
export function partsInEach(parts: readonly ZonePart[], intervals: readonly Interval[]): ZonePart[][] {
  let start = 0;
  return intervals.map((interval) => {
    while ((parts[start]?.last ?? interval.first) < interval.first) start++;
    const inside: ZonePart[] = [];
    for (let i = start; i < parts.length; i++) {
      const part = parts[i] as ZonePart;
      const common = overlap(part, interval);
      if (!common) break;
      inside.push({ zone: part.zone, ...common });
    }
    return inside;
  });
}

/** The parts of zones inside a set in normal form: pieces of its intervals, ascending and disjoint. */
export function partsWithin(parts: readonly ZonePart[], set: readonly Interval[]): ZonePart[] {
  return partsInEach(parts, set).flat();
}
