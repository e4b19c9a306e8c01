/**
 * The addresses that one ServiceCIDR object owns: disjoint segments with their bitmaps, and which of their addresses may be given out. Pure
 * memory; the owner (owner.ts) stores changed pages together with the rows of the addresses.
 *
 * The Ready ranges need not equal the segments. For ranges 10.0.0.0/24 and 10.0.0.0/26 over one segment 10.0.0.0/24:
 *
 *     allocatable   .1 ............................................ .254     union of the usable addresses (the inner .63 is usable: outer)
 *     static        .1 ... .16                                               union of the static bands (any range that contains it)
 *     dynamic              .17 .................................... .254     the rest of what is allocatable
 */
import { assert, InvariantError } from "../../core/base/assert";
import type { Random } from "../../core/base/ports";
import { DENSE_BITS_MAX } from "../../core/bitmap/dense-bitmap";
import { decodePage, encodePage } from "../../core/bitmap/codec";
import { bandsOf, type Band } from "../../core/net/band";
import { FAMILIES, type Family } from "../../core/net/family";
import { intersectEach, memberAt, normalize, subtract } from "../../core/net/interval";
import { formatPrefix, hostBitsOf, type Prefix } from "../../core/net/prefix";
import { partsInEach, partsWithin, zoneAt, type ZonePart, zoneParts } from "../../core/net/zones";
import { DenseSegment } from "./dense-segment";
import { allocateFrom } from "./pick";
import type { Segment } from "./segment";
import { SparseSegment } from "./sparse-segment";

/** Free allocatable addresses of one family: exact up to 2^53, the nearest number above. */
export interface PoolFree {
  dynamic: number;
  static: number;
}

/** A changed page of taken bits; `segment` is the canonical CIDR text of the owned prefix, `page` the decimal page index. */
export interface DirtyPage {
  segment: string;
  page: string;
  /** null: delete the row, because the page became all free, or its segment was cut or given away */
  bytes: Uint8Array | null;
}

export class Pool {
  readonly #random: Random;
  /** per family, ascending and disjoint */
  #segments: Record<Family, Segment[]> = { IPv4: [], IPv6: [] };
  /** the same segments by their canonical CIDR texts */
  #byKey = new Map<string, Segment>();
  /** per family, the parts of zones: an address in one is given out only to who asks for the zone */
  #zones: Record<Family, readonly ZonePart[]> = { IPv4: [], IPv6: [] };
  /** changed pages of segments that no longer exist */
  #dropped: DirtyPage[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /**
   * Sets the owned segments (disjoint) and the Ready ranges; only ranges that intersect the segments count. An address that is owned before and
   * after stays taken, even when the segments are cut differently. `takeDirtyPages` answers null for the pages of segments that are gone.
   *
   * @param zones prefixes that are kept apart (core/net/zones.ts), each once
   */
  configure(owned: readonly Prefix[], ranges: readonly Prefix[], withStatic = true, zones: readonly Prefix[] = []): void {
    for (const family of FAMILIES) {
      const segments = this.#recut(
        family,
        owned.filter((prefix) => prefix.family === family),
      );
      const bands = bandsOf(
        ranges.filter((prefix) => prefix.family === family),
        withStatic,
      );
      const parts = zoneParts(zones.filter((prefix) => prefix.family === family));
      this.#zones[family] = parts;
      const kept = normalize(parts);
      const dynamic = intersectEach(parts.length > 0 ? subtract(bands.dynamic, kept) : bands.dynamic, segments);
      const inStaticBand = intersectEach(parts.length > 0 ? subtract(bands.static, kept) : bands.static, segments);
      const dynamicZoned = parts.length > 0 ? partsInEach(partsWithin(parts, bands.dynamic), segments) : [];
      const staticZoned = parts.length > 0 ? partsInEach(partsWithin(parts, bands.static), segments) : [];
      segments.forEach((segment, i) => {
        const zoned = { dynamic: dynamicZoned[i] ?? [], static: staticZoned[i] ?? [] };
        const isZoned = zoned.dynamic.length + zoned.static.length > 0;
        segment.configure({ dynamic: dynamic[i] ?? [], static: inStaticBand[i] ?? [] }, isZoned ? zoned : undefined);
      });
      this.#segments[family] = segments;
    }
    this.#byKey = new Map(this.#all().map((segment) => [segment.key, segment]));
  }

  isOwned(family: Family, address: bigint): boolean {
    return this.#segmentAt(family, address) !== undefined;
  }

  /** Whether the address, taken or not, is owned and usable in some Ready range. */
  isAllocatable(family: Family, address: bigint): boolean {
    return this.#segmentAt(family, address)?.bandAt(address) !== undefined;
  }

  /** "static" if any Ready range that contains the address as usable has it in its static band. */
  bandOf(family: Family, address: bigint): Band {
    return this.#segmentAt(family, address)?.bandAt(address) ?? "dynamic";
  }

  /** The zone of an address; OPEN_ZONE = of none. */
  zoneOf(family: Family, address: bigint): string {
    return zoneAt(this.#zones[family], address);
  }

  isTaken(family: Family, address: bigint): boolean {
    return this.#segmentAt(family, address)?.isTaken(address) ?? false;
  }

  /**
   * Takes an address for a dynamic request: uniform over the free dynamic-band addresses of all segments, then, unless `dynamicOnly`, over those
   * of the static band; undefined = full. Without a zone only from what no zone has.
   */
  allocateDynamic(family: Family, dynamicOnly = false, zone?: string): { address: bigint; band: Band } | undefined {
    return allocateFrom(this.#segments[family], this.#random, dynamicOnly, zone);
  }

  /** Marks an owned address, allocatable or not, as taken; false when it is taken already. */
  take(family: Family, address: bigint): boolean {
    return this.#ownedSegmentAt(family, address).take(address);
  }

  /** Marks an owned address free; false when it is free already. */
  release(family: Family, address: bigint): boolean {
    return this.#ownedSegmentAt(family, address).release(address);
  }

  /** Of what no zone has. */
  free(family: Family): PoolFree {
    return { dynamic: this.#freeCount(family, "dynamic"), static: this.#freeCount(family, "static") };
  }

  /** Number of taken addresses in [first, last]; parts of the interval that are not owned have none. */
  takenIn(family: Family, first: bigint, last: bigint): number {
    assert(first <= last, "pool: the interval is empty");
    let count = 0;
    for (const segment of this.#segments[family]) {
      if (first <= segment.last && last >= segment.first) count += segment.takenIn(first, last);
    }
    return count;
  }

  /** All taken addresses of one family or of both, ascending in each. */
  *taken(family?: Family): Generator<{ family: Family; address: bigint }> {
    for (const each of family === undefined ? FAMILIES : [family]) {
      for (const segment of this.#segments[each]) {
        for (const address of segment.taken()) yield { family: each, address };
      }
    }
  }

  takenCount(): number {
    let count = 0;
    for (const segment of this.#all()) count += segment.takenCount;
    return count;
  }

  /** The pages changed since the last call, in their stored form; pages of dropped segments come first. */
  takeDirtyPages(): DirtyPage[] {
    const pages = this.#dropped;
    this.#dropped = [];
    for (const segment of this.#all()) {
      for (const { index, page } of segment.takeDirtyPages()) {
        pages.push({ segment: segment.key, page: index, bytes: page === undefined ? null : encodePage(page) });
      }
    }
    return pages;
  }

  /** Restores a stored page after `configure` and before any change. Throws InvariantError for a damaged page, and for one of no owned segment. */
  loadPage(segment: string, page: string, bytes: Uint8Array): void {
    const decoded = decodePage(bytes);
    // The message is made only when needed: a start loads thousands of pages.
    if (!decoded.ok) throw new InvariantError(`pool: page ${page} of ${segment} is damaged: ${decoded.error}`);
    const target = this.#byKey.get(segment);
    if (target === undefined) throw new InvariantError(`pool: ${segment} is not owned`);
    target.loadPage(page, decoded.value);
  }

  /** Compares every count with the bits; linear. */
  verify(): void {
    for (const segment of this.#all()) segment.verify();
  }

  /** Keeps the segments that stay, makes the new ones, and moves the taken addresses of a cut segment into its parts. */
  #recut(family: Family, owned: readonly Prefix[]): Segment[] {
    const before = new Map(this.#segments[family].map((segment) => [segment.key, segment]));
    const segments = owned.map((prefix) => before.get(formatPrefix(prefix)) ?? newSegment(prefix));
    segments.sort((a, b) => (a.first < b.first ? -1 : 1));
    segments.forEach((segment, i) => {
      const next = segments[i + 1];
      assert(next === undefined || segment.last < next.first, "pool: the owned segments overlap");
    });
    for (const gone of before.values()) {
      if (!segments.includes(gone)) this.#move(gone, segments);
    }
    return segments;
  }

  #move(gone: Segment, segments: readonly Segment[]): void {
    const pages = new Set(gone.takeDirtyPages().map(({ index }) => index));
    for (const address of [...gone.taken()]) {
      memberAt(segments, address)?.take(address);
      gone.release(address);
    }
    for (const { index } of gone.takeDirtyPages()) pages.add(index);
    for (const page of pages) this.#dropped.push({ segment: gone.key, page, bytes: null });
  }

  #freeCount(family: Family, band: Band): number {
    let count = 0;
    for (const segment of this.#segments[family]) count += Number(segment.freeCount(band));
    return count;
  }

  #segmentAt(family: Family, address: bigint): Segment | undefined {
    return memberAt(this.#segments[family], address);
  }

  #ownedSegmentAt(family: Family, address: bigint): Segment {
    const segment = this.#segmentAt(family, address);
    assert(segment !== undefined, "pool: the address is not owned");
    return segment;
  }

  #all(): Segment[] {
    return [...this.#segments.IPv4, ...this.#segments.IPv6];
  }
}

function newSegment(prefix: Prefix): Segment {
  return hostBitsOf(prefix) <= DENSE_BITS_MAX ? new DenseSegment(prefix) : new SparseSegment(prefix);
}
