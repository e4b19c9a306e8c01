import type { Random } from "../base/ports";
import type { Page } from "../bitmap/page";
import type { Interval } from "../net/interval";
import type { Prefix } from "../net/prefix";

/** Which band of a range an address is in, or was given out from. */
export type Scope = "static" | "dynamic";

/** The parts of a segment that may be given out; disjoint, each in normal form, addresses. */
export interface Allocatable {
  readonly dynamic: readonly Interval[];
  readonly static: readonly Interval[];
}

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
  configure(allocatable: Allocatable): void;
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
