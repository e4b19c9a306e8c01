import { assert } from "../base/assert";
import type { Random } from "../base/ports";
import type { Bitmap } from "./bitmap";
import { Page, PAGE_BITS, PAGE_SHIFT } from "./page";

const SPARSE_BITS_MAX = 128;
/** With half of an interval taken, 64 draws all fail once in 2^64 picks. Fuller intervals are small, and counting them is cheap. */
const DRAWS_MAX = 64;
const SHIFT = BigInt(PAGE_SHIFT);
const INDEX_MASK = BigInt(PAGE_BITS - 1);

/**
 * Bitmap over a space too large to summarise. Memory bounds the taken offsets to a few million, so nearly all of the space is free: a pick draws
 * until it hits a free offset. A small or well filled interval is counted page by page instead. Every pick is exactly uniform: an accepted draw
 * is uniform over the free offsets, and so is the counted one.
 */
export class SparseBitmap implements Bitmap<bigint> {
  readonly bits: number;
  readonly #size: bigint;
  readonly #pages = new Map<bigint, Page>();
  readonly #dirty = new Set<bigint>();
  #takenCount = 0;

  constructor(bits: number) {
    assert(bits >= 0 && bits <= SPARSE_BITS_MAX, "sparse bitmap: too many bits");
    this.bits = bits;
    this.#size = 1n << BigInt(bits);
  }

  get takenCount(): number {
    return this.#takenCount;
  }

  isTaken(offset: bigint): boolean {
    this.#assertInside(offset);
    return this.#pages.get(offset >> SHIFT)?.has(inPage(offset)) ?? false;
  }

  take(offset: bigint): boolean {
    this.#assertInside(offset);
    const index = offset >> SHIFT;
    let page = this.#pages.get(index);
    if (page === undefined) {
      page = new Page();
      this.#pages.set(index, page);
    }
    if (!page.add(inPage(offset))) return false;
    this.#takenCount++;
    this.#dirty.add(index);
    return true;
  }

  release(offset: bigint): boolean {
    this.#assertInside(offset);
    const index = offset >> SHIFT;
    const page = this.#pages.get(index);
    if (page === undefined || !page.remove(inPage(offset))) return false;
    if (page.count === 0) this.#pages.delete(index);
    this.#takenCount--;
    this.#dirty.add(index);
    return true;
  }

  takenIn(first: bigint, last: bigint): number {
    this.#assertInterval(first, last);
    let count = 0;
    for (const { low, high, page } of this.#pagesIn(first, last)) count += countBetween(page, low, high);
    return count;
  }

  freeIn(first: bigint, last: bigint): bigint {
    return last - first + 1n - BigInt(this.takenIn(first, last));
  }

  /** Exact; the cost is linear in the pages with taken offsets. */
  kthFree(first: bigint, last: bigint, k: bigint): bigint {
    this.#assertInterval(first, last);
    let rest = k;
    let cursor = first;
    for (const { low, high, page } of this.#pagesIn(first, last, "ascending")) {
      const gap = low - cursor;
      if (rest < gap) break;
      rest -= gap;
      const free = high - low + 1n - BigInt(countBetween(page, low, high));
      if (rest < free) {
        const start = inPage(low);
        return low - BigInt(start) + BigInt(page.selectFree(start - page.countBelow(start) + Number(rest)));
      }
      rest -= free;
      cursor = high + 1n;
    }
    const offset = cursor + rest;
    assert(offset <= last, "sparse bitmap: not that many free offsets in the interval");
    return offset;
  }

  pickFree(first: bigint, last: bigint, free: bigint, random: Random): bigint {
    this.#assertInterval(first, last);
    const size = last - first + 1n;
    if (free * 2n >= size) {
      for (let i = 0; i < DRAWS_MAX; i++) {
        const offset = first + random.belowBig(size);
        if (!this.isTaken(offset)) return offset;
      }
    }
    return this.kthFree(first, last, random.belowBig(free));
  }

  *taken(): Generator<bigint> {
    for (const index of this.#ascendingIndices()) {
      for (const inside of this.#pages.get(index)?.taken() ?? []) yield (index << SHIFT) + BigInt(inside);
    }
  }

  /** The pages with taken offsets, each with its first offset, in no order. */
  *pages(): Generator<{ first: bigint; page: Page }> {
    for (const [index, page] of this.#pages) yield { first: index << SHIFT, page };
  }

  loadPage(index: bigint, page: Page): void {
    assert(index >= 0n && index << SHIFT < this.#size, "sparse bitmap: no such page");
    assert(!this.#pages.has(index), "sparse bitmap: the page is loaded already");
    const inside = this.#size < PAGE_BITS ? Number(this.#size) : PAGE_BITS;
    assert(page.countBelow(inside) === page.count, "sparse bitmap: the page has bits outside the space");
    if (page.count === 0) return;
    this.#pages.set(index, page);
    this.#takenCount += page.count;
  }

  takeDirtyPages(): { index: bigint; page: Page | undefined }[] {
    const indices = [...this.#dirty].sort(ascending);
    this.#dirty.clear();
    return indices.map((index) => ({ index, page: this.#pages.get(index) }));
  }

  verify(): void {
    let total = 0;
    for (const page of this.#pages.values()) {
      assert(page.count > 0, "sparse bitmap: an empty page is kept");
      assert([...page.taken()].length === page.count, "sparse bitmap: the count of a page differs from its bits");
      total += page.count;
    }
    assert(total === this.#takenCount, "sparse bitmap: the total differs from the pages");
  }

  /** Pages with taken offsets that meet [first, last], each with the part of the interval that lies in it. */
  *#pagesIn(first: bigint, last: bigint, order?: "ascending"): Generator<{ low: bigint; high: bigint; page: Page }> {
    const firstIndex = first >> SHIFT;
    const lastIndex = last >> SHIFT;
    for (const index of this.#indicesIn(firstIndex, lastIndex, order)) {
      const page = this.#pages.get(index);
      if (page === undefined) continue;
      const low = index === firstIndex ? first : index << SHIFT;
      const high = index === lastIndex ? last : (index << SHIFT) + INDEX_MASK;
      yield { low, high, page };
    }
  }

  /** Walks the interval's indices or the existing pages, whichever are fewer. */
  *#indicesIn(first: bigint, last: bigint, order?: "ascending"): Generator<bigint> {
    if (last - first < BigInt(this.#pages.size)) {
      for (let index = first; index <= last; index++) yield index;
      return;
    }
    for (const index of order === "ascending" ? this.#ascendingIndices() : this.#pages.keys()) {
      if (index >= first && index <= last) yield index;
    }
  }

  #ascendingIndices(): bigint[] {
    return [...this.#pages.keys()].sort(ascending);
  }

  #assertInside(offset: bigint): void {
    assert(offset >= 0n && offset < this.#size, "sparse bitmap: the offset lies outside the space");
  }

  #assertInterval(first: bigint, last: bigint): void {
    assert(first >= 0n && last < this.#size, "sparse bitmap: the interval lies outside the space");
    assert(first <= last, "sparse bitmap: the interval is empty");
  }
}

function inPage(offset: bigint): number {
  return Number(offset & INDEX_MASK);
}

/** Number of taken offsets in [low, high], which lies in the page. */
function countBetween(page: Page, low: bigint, high: bigint): number {
  return page.countBelow(inPage(high) + 1) - page.countBelow(inPage(low));
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
