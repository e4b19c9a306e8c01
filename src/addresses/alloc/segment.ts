import type { Random } from "../../core/base/ports";
import type { Bitmap } from "../../core/bitmap/bitmap";
import type { Page } from "../../core/bitmap/page";
import type { Bands, Band } from "../../core/net/band";
import type { ZonePart } from "../../core/net/zones";
import { formatPrefix, lastOf, type Prefix } from "../../core/net/prefix";

/**
 * One owned prefix: its bitmap, and the count of taken addresses of each interval that may be given out. `take` and `release` keep the counts up
 * to date, so free counts and picks never count. An address that is owned but not allocatable may be taken, too (an IPAddress that was there
 * first); it counts in no interval.
 *
 * There are two kinds of one shape, as for the bitmaps: `DenseSegment` computes with numbers, `SparseSegment` with bigint.
 */
export interface Segment {
  readonly prefix: Prefix;
  /** canonical CIDR text of the prefix */
  readonly key: string;
  readonly first: bigint;
  readonly last: bigint;
  readonly takenCount: number;
  /** the parts of the segment that may be given out, in addresses: those of no zone, and by band those of zones */
  configure(bands: Bands, zoned?: ZonedBands): void;
  isTaken(address: bigint): boolean;
  /** the band of an allocatable address; undefined = not allocatable */
  bandAt(address: bigint): Band | undefined;
  take(address: bigint): boolean;
  release(address: bigint): boolean;
  /** free allocatable addresses of a band in a zone (OPEN_ZONE unless said), exact; a dense segment answers with a number */
  freeCount(band: Band, zone?: string): number | bigint;
  /** draws a free address of the band in the zone uniformly and marks it taken; freeCount of the two must be positive */
  allocate(band: Band, random: Random, zone?: string): bigint;
  /** number of taken addresses in [first, last], which must intersect the segment */
  takenIn(first: bigint, last: bigint): number;
  taken(): Iterable<bigint>;
  loadPage(index: string, page: Page): void;
  takeDirtyPages(): { index: string; page: Page | undefined }[];
  verify(): void;
}

/** What is given out inside zones alone, by band. */
export type ZonedBands = Readonly<Record<Band, readonly ZonePart[]>>;

/** The prefix and the bitmap, which both kinds have. */
export class SegmentCore<B extends Bitmap<number> | Bitmap<bigint>> {
  readonly prefix: Prefix;
  readonly key: string;
  readonly first: bigint;
  readonly last: bigint;

  constructor(
    prefix: Prefix,
    protected readonly bitmap: B,
  ) {
    this.prefix = prefix;
    this.key = formatPrefix(prefix);
    this.first = prefix.base;
    this.last = lastOf(prefix);
  }

  get takenCount(): number {
    return this.bitmap.takenCount;
  }

  takeDirtyPages(): { index: string; page: Page | undefined }[] {
    return this.bitmap.takeDirtyPages().map(({ index, page }) => ({ index: String(index), page }));
  }
}
