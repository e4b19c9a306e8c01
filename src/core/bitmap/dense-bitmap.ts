import { assert } from "../base/assert";
import type { Random } from "../base/ports";
import type { Bitmap } from "./bitmap";
import { TakenCounts } from "./fenwick";
import { Page, PAGE_BITS, PAGE_SHIFT } from "./page";

/** 2^28 offsets: 65,536 page references and counts, 0.75 MiB while empty. Everything stays a small integer. */
export const DENSE_BITS_MAX = 28;

/**
 * Bitmap with a rank/select summary. Finding the k-th free offset costs one descent in the tree of page counts and one pass over 128 words,
 * however full the space is.
 */
export class DenseBitmap implements Bitmap<number> {
  readonly bits: number;
  readonly #size: number;
  readonly #pages: (Page | undefined)[];
  readonly #counts: TakenCounts;
  readonly #dirty = new Set<number>();
  #takenCount = 0;

  constructor(bits: number) {
    assert(bits >= 0 && bits <= DENSE_BITS_MAX, "dense bitmap: too many bits");
    this.bits = bits;
    this.#size = 2 ** bits;
    const pages = 2 ** Math.max(0, bits - PAGE_SHIFT);
    this.#pages = new Array<Page | undefined>(pages).fill(undefined);
    this.#counts = new TakenCounts(pages, PAGE_BITS);
  }

  get takenCount(): number {
    return this.#takenCount;
  }

  isTaken(offset: number): boolean {
    this.#assertInside(offset);
    return this.#pages[offset >>> PAGE_SHIFT]?.has(offset & (PAGE_BITS - 1)) ?? false;
  }

  take(offset: number): boolean {
    this.#assertInside(offset);
    const index = offset >>> PAGE_SHIFT;
    const page = (this.#pages[index] ??= new Page());
    if (!page.add(offset & (PAGE_BITS - 1))) return false;
    this.#changed(index, 1);
    return true;
  }

  release(offset: number): boolean {
    this.#assertInside(offset);
    const index = offset >>> PAGE_SHIFT;
    const page = this.#pages[index];
    if (page === undefined || !page.remove(offset & (PAGE_BITS - 1))) return false;
    if (page.count === 0) this.#pages[index] = undefined;
    this.#changed(index, -1);
    return true;
  }

  takenIn(first: number, last: number): number {
    this.#assertInterval(first, last);
    return this.#takenBefore(last + 1) - this.#takenBefore(first);
  }

  freeIn(first: number, last: number): number {
    return last - first + 1 - this.takenIn(first, last);
  }

  kthFree(first: number, last: number, k: number): number {
    this.#assertInterval(first, last);
    const { page, rest } = this.#counts.pageOfFree(first - this.#takenBefore(first) + k);
    const offset = page * PAGE_BITS + (this.#pages[page]?.selectFree(rest) ?? rest);
    assert(offset >= first, "dense bitmap: the selected offset lies before the interval");
    assert(offset <= last, "dense bitmap: not that many free offsets in the interval");
    return offset;
  }

  pickFree(first: number, last: number, free: number, random: Random): number {
    return this.kthFree(first, last, random.below(free));
  }

  *taken(): Generator<number> {
    for (const [index, page] of this.#pages.entries()) {
      if (page === undefined) continue;
      for (const inPage of page.taken()) yield index * PAGE_BITS + inPage;
    }
  }

  loadPage(index: number, page: Page): void {
    assert(index >= 0 && index < this.#pages.length, "dense bitmap: no such page");
    assert(this.#pages[index] === undefined, "dense bitmap: the page is loaded already");
    assert(page.countBelow(Math.min(this.#size, PAGE_BITS)) === page.count, "dense bitmap: the page has bits outside the space");
    if (page.count === 0) return;
    this.#pages[index] = page;
    this.#counts.add(index, page.count);
    this.#takenCount += page.count;
  }

  takeDirtyPages(): { index: number; page: Page | undefined }[] {
    const indices = [...this.#dirty].sort((a, b) => a - b);
    this.#dirty.clear();
    return indices.map((index) => ({ index, page: this.#pages[index] }));
  }

  verify(): void {
    let total = 0;
    for (const [index, page] of this.#pages.entries()) {
      assert(this.#counts.before(index) === total, "dense bitmap: the tree differs from the pages");
      if (page === undefined) continue;
      assert(page.count > 0, "dense bitmap: an empty page is kept");
      assert([...page.taken()].length === page.count, "dense bitmap: the count of a page differs from its bits");
      total += page.count;
    }
    assert(total === this.#takenCount, "dense bitmap: the total differs from the pages");
  }

  #changed(index: number, delta: 1 | -1): void {
    this.#counts.add(index, delta);
    this.#takenCount += delta;
    this.#dirty.add(index);
  }

  /** Taken offsets in [0, offset); offset may be the size of the space. */
  #takenBefore(offset: number): number {
    const index = offset >>> PAGE_SHIFT;
    return this.#counts.before(index) + (this.#pages[index]?.countBelow(offset & (PAGE_BITS - 1)) ?? 0);
  }

  #assertInside(offset: number): void {
    assert(offset >= 0 && offset < this.#size, "dense bitmap: the offset lies outside the space");
  }

  #assertInterval(first: number, last: number): void {
    assert(first >= 0 && last < this.#size, "dense bitmap: the interval lies outside the space");
    assert(first <= last, "dense bitmap: the interval is empty");
  }
}
