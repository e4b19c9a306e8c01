import { assert } from "../base/assert";

/**
 * Taken counts per page in a binary indexed tree (Fenwick 1994). A change and a prefix sum cost log2(pages) steps, the page of the k-th free
 * offset one descent. It counts taken offsets, not free ones, so an empty bitmap is all zeros and costs nothing to set up.
 */
export class TakenCounts {
  readonly #tree: Int32Array;
  readonly #pages: number;
  readonly #pageSize: number;

  /** `pages` is a power of two; every page has `pageSize` offsets. */
  constructor(pages: number, pageSize: number) {
    assert(pages > 0 && (pages & (pages - 1)) === 0, "fenwick: the number of pages is no power of two");
    this.#pages = pages;
    this.#pageSize = pageSize;
    this.#tree = new Int32Array(pages + 1);
  }

  add(page: number, delta: number): void {
    const tree = this.#tree;
    for (let i = page + 1; i <= this.#pages; i += i & -i) tree[i] = (tree[i] ?? 0) + delta;
  }

  /** Taken offsets in the pages [0, page). */
  before(page: number): number {
    const tree = this.#tree;
    let sum = 0;
    for (let i = page; i > 0; i &= i - 1) sum += tree[i] ?? 0;
    return sum;
  }

  /** The page of the k-th free offset of the whole space, and the number of free offsets of that page before it. */
  pageOfFree(k: number): { page: number; rest: number } {
    const tree = this.#tree;
    let page = 0;
    let rest = k;
    for (let step = this.#pages; step > 0; step >>>= 1) {
      if (page + step > this.#pages) continue;
      const free = step * this.#pageSize - (tree[page + step] ?? 0);
      if (rest >= free) {
        rest -= free;
        page += step;
      }
    }
    assert(page < this.#pages, "fenwick: not that many free offsets");
    return { page, rest };
  }
}
