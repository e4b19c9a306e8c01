import type { Random } from "../base/ports";
import type { Page } from "./page";

/**
 * Which offsets of a space of 2^bits are taken. Two kinds share one contract. `DenseBitmap` has number arithmetic and a rank/select summary, for up
 * to 2^28 offsets. `SparseBitmap` has bigint offsets, for larger spaces (an IPv6 /64, up to 2^128). A space smaller than a page is one page whose
 * upper part is never used. Offsets outside the space fail an assertion.
 */
export interface Bitmap<Offset extends number | bigint> {
  /** log2 of the number of offsets */
  readonly bits: number;
  /** how many offsets are taken */
  readonly takenCount: number;
  isTaken(offset: Offset): boolean;
  /** false when it is taken already */
  take(offset: Offset): boolean;
  /** false when it is free already */
  release(offset: Offset): boolean;
  /** number of taken offsets in [first, last] */
  takenIn(first: Offset, last: Offset): number;
  /** number of free offsets in [first, last] */
  freeIn(first: Offset, last: Offset): Offset;
  /** the k-th free offset of [first, last], counted from 0; 0 <= k < freeIn(first, last) */
  kthFree(first: Offset, last: Offset, k: Offset): Offset;
  /** a uniformly random free offset of [first, last], which must have `free` > 0 of them */
  pickFree(first: Offset, last: Offset, free: Offset, random: Random): Offset;
  /** all taken offsets, ascending */
  taken(): Iterable<Offset>;
  /** replaces a page without taken offsets by its stored content; the page does not count as changed */
  loadPage(index: Offset, page: Page): void;
  /** the pages changed since the last call, ascending; undefined = the page has become all free */
  takeDirtyPages(): { index: Offset; page: Page | undefined }[];
  /** compares every summary with the bits; linear, for tests and the rare self-check */
  verify(): void;
}
