import type { Random } from "../../core/base/ports";
import type { Bitmap } from "../../core/bitmap/bitmap";
import type { Page } from "../../core/bitmap/page";
import type { Bands, Scope } from "../../core/net/band";
import { formatPrefix, lastOf, type Prefix } from "../../core/net/prefix";

/**
 * One owned prefix: its bitmap, and for each interval that may be given out the count of its taken addresses, kept up to date by `take`
 * and `release`, so that free counts and picks never count. An address that is owned but not allocatable may be taken too (an IPAddress
 * that was there first); it counts in no interval.
 *
 * Two kinds behind one shape, as for the bitmaps: `DenseSegment` computes with numbers, `SparseSegment` with bigint.
 */
export interface Segment {
  readonly prefix: Prefix;
  /** canonical CIDR text of the prefix */
  readonly key: string;
  readonly first: bigint;
  readonly last: bigint;
  readonly takenCount: number;
  /** the parts of the segment that may be given out, in addresses */
  configure(bands: Bands): void;
  isTaken(address: bigint): boolean;
  /** the band of an allocatable address; undefined = not allocatable */
  scopeAt(address: bigint): Scope | undefined;
  take(address: bigint): boolean;
  release(address: bigint): boolean;
  /** free allocatable addresses of a band, exact; a dense segment answers with a number */
  freeCount(scope: Scope): number | bigint;
  /** the address of a free offset of the band, drawn uniformly, marked taken; freeCount(scope) > 0 */
  allocate(scope: Scope, random: Random): bigint;
  /** taken addresses in [first, last], which meets the segment */
  takenIn(first: bigint, last: bigint): number;
  taken(): Iterable<bigint>;
  loadPage(index: string, page: Page): void;
  takeDirtyPages(): { index: string; page: Page | undefined }[];
  verify(): void;
}

/** The prefix and the bitmap, which both kinds hold alike. */
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
