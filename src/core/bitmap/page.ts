/**
 * One page: which of 4096 neighbouring offsets are taken. Three forms, by what costs least memory:
 *
 *     list   up to 32 indices, ascending     a few taken (every page of a sparse /64 looks like this)
 *     bits   128 words of 32 bits            the usual form
 *     full   nothing but the count           all taken
 *
 * Why 4096 bits: a pick passes over one page, and a change of one bit writes the whole page. Measured on a /12 (scripts/dev/bench/suites/addresses/core.ts, 2-core
 * machine): 1.2 to 2.0 million picks a second from empty to full. With 8192 bits it is 0.8 to 2.3 million, and a commit of 100 random picks
 * writes 70 KiB instead of 42 KiB. With 2048 bits it is no faster, and there are twice the rows.
 *
 * Rank and select, for example with 1, 2 and 6 taken: countBelow(2) = 1, countBelow(3) = 2; free are 0 3 4 5 7 ..., so selectFree(1) = 3.
 */
import { assert, InvariantError } from "../base/assert";

export const PAGE_BITS = 4096;
/** offset = page * PAGE_BITS + index = (page << PAGE_SHIFT) | index */
export const PAGE_SHIFT = 12;
export const PAGE_WORDS = PAGE_BITS / 32;
/** A longer list becomes bits; up to here 2-byte indices are far smaller than 512 bytes of bits. */
export const LIST_LENGTH_MAX = 32;

export type PageContent =
  | { readonly kind: "list"; readonly indices: number[] }
  | { readonly kind: "bits"; readonly words: Uint32Array }
  | { readonly kind: "full" };

export class Page {
  #count = 0;
  #list: number[] | undefined = [];
  #words: Uint32Array | undefined;

  /** Keeps the arrays; the caller has checked them (see codec.ts). */
  static of(content: PageContent): Page {
    const page = new Page();
    if (content.kind === "list") {
      page.#list = content.indices;
      page.#count = content.indices.length;
      return page;
    }
    page.#list = undefined;
    if (content.kind === "full") {
      page.#count = PAGE_BITS;
      return page;
    }
    page.#words = content.words;
    for (const word of content.words) page.#count += popcount(word);
    if (page.#count === PAGE_BITS) page.#words = undefined;
    return page;
  }

  /** number of taken indices */
  get count(): number {
    return this.#count;
  }

  get content(): PageContent {
    if (this.#words !== undefined) return { kind: "bits", words: this.#words };
    if (this.#list !== undefined) return { kind: "list", indices: this.#list };
    return { kind: "full" };
  }

  has(index: number): boolean {
    if (this.#words !== undefined) return (word(this.#words, index >>> 5) & (1 << (index & 31))) !== 0;
    return this.#list === undefined ? true : this.#list.includes(index);
  }

  /** Marks the index taken; false when it is taken already. */
  add(index: number): boolean {
    if (this.has(index)) return false;
    this.#count++;
    if (this.#list !== undefined) {
      insertAscending(this.#list, index);
      if (this.#list.length > LIST_LENGTH_MAX) this.#listToWords();
      return true;
    }
    assert(this.#words !== undefined, "page: a full page has no free index");
    setBit(this.#words, index);
    if (this.#count === PAGE_BITS) this.#words = undefined;
    return true;
  }

  /** Marks the index free; false when it is free already. */
  remove(index: number): boolean {
    if (!this.has(index)) return false;
    if (this.#list !== undefined) {
      this.#list.splice(this.#list.indexOf(index), 1);
    } else {
      this.#words ??= new Uint32Array(PAGE_WORDS).fill(0xffffffff);
      this.#words[index >>> 5] = word(this.#words, index >>> 5) & ~(1 << (index & 31));
    }
    this.#count--;
    return true;
  }

  /** How many of the indices [0, index) are taken; index may be PAGE_BITS. */
  countBelow(index: number): number {
    const words = this.#words;
    if (words === undefined) {
      if (this.#list === undefined) return index;
      let count = 0;
      for (const taken of this.#list) {
        if (taken >= index) break;
        count++;
      }
      return count;
    }
    const last = index >>> 5;
    let count = 0;
    for (let i = 0; i < last; i++) count += popcount(word(words, i));
    const rest = index & 31;
    return rest === 0 ? count : count + popcount(word(words, last) & ((1 << rest) - 1));
  }

  /** The k-th free index, counted from 0; k < PAGE_BITS - count. */
  selectFree(k: number): number {
    assert(k >= 0 && k < PAGE_BITS - this.#count, "page: not that many free indices");
    const words = this.#words;
    if (words === undefined) {
      let index = k;
      for (const taken of this.#list ?? []) {
        if (taken > index) break;
        index++;
      }
      return index;
    }
    const after = PAGE_BITS - this.#count - 1 - k;
    return k <= after ? selectFromStart(words, k) : selectFromEnd(words, after);
  }

  /** The taken indices, ascending. */
  *taken(): Generator<number> {
    if (this.#list !== undefined) {
      yield* this.#list;
      return;
    }
    for (let index = 0; index < PAGE_BITS; index++) {
      if (this.has(index)) yield index;
    }
  }

  #listToWords(): void {
    const words = new Uint32Array(PAGE_WORDS);
    for (const index of this.#list ?? []) setBit(words, index);
    this.#words = words;
    this.#list = undefined;
  }
}

function insertAscending(list: number[], index: number): void {
  let position = list.length;
  while (position > 0 && (list[position - 1] ?? 0) > index) position--;
  list.splice(position, 0, index);
}

function word(words: Uint32Array, i: number): number {
  return words[i] ?? 0;
}

/** The free index with k free ones before it. */
function selectFromStart(words: Uint32Array, k: number): number {
  let left = k;
  for (let i = 0; i < PAGE_WORDS; i++) {
    const bits = ~word(words, i);
    const free = popcount(bits);
    if (left < free) return i * 32 + selectSetBit(bits, left);
    left -= free;
  }
  throw new InvariantError("page: the count differs from the bits");
}

/** The free index with k free ones after it. Starting at the nearer end halves the words to pass over, on average. */
function selectFromEnd(words: Uint32Array, k: number): number {
  let left = k;
  for (let i = PAGE_WORDS - 1; i >= 0; i--) {
    const bits = ~word(words, i);
    const free = popcount(bits);
    if (left < free) return i * 32 + selectSetBit(bits, free - 1 - left);
    left -= free;
  }
  throw new InvariantError("page: the count differs from the bits");
}

function setBit(words: Uint32Array, index: number): void {
  words[index >>> 5] = word(words, index >>> 5) | (1 << (index & 31));
}

/** Number of set bits of a 32-bit word. */
export function popcount(bits: number): number {
  let x = bits - ((bits >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Position of the k-th set bit of a 32-bit word, counted from 0: of 0b1010 the bit 1 is at position 3. */
function selectSetBit(bits: number, k: number): number {
  let x = bits;
  for (let i = 0; i < k; i++) x &= x - 1;
  return 31 - Math.clz32(x & -x);
}
