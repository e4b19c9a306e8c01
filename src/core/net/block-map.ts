/** Values by block, found by what the blocks share addresses with. Blocks are nested or disjoint, so a look costs one step for each size that there is. */
import { type Block, intervalOfBlock, maskOf } from "./block";
import { SortedMap } from "./sorted-map";

export class BlockMap<V> {
  readonly #bySize = new Map<number, SortedMap<V>>();

  get isEmpty(): boolean {
    return this.#bySize.size === 0;
  }

  get({ first, bits }: Block): V | undefined {
    return this.#bySize.get(bits)?.get(first);
  }

  set({ first, bits }: Block, value: V): void {
    const found = this.#bySize.get(bits) ?? new SortedMap<V>();
    found.set(first, value);
    this.#bySize.set(bits, found);
  }

  delete({ first, bits }: Block): void {
    const found = this.#bySize.get(bits);
    found?.delete(first);
    if (found?.size === 0) this.#bySize.delete(bits);
  }

  /** Those that share an address with this one. The map may not change meanwhile. */
  *overlapping(block: Block): Iterable<[Block, V]> {
    const { first: from, last } = intervalOfBlock(block);
    for (const [bits, values] of this.#bySize) {
      const of = bits < block.bits ? values.between(from, last) : values.between(from & ~maskOf(bits), from & ~maskOf(bits));
      for (const [first, value] of of) yield [{ first, bits }, value];
    }
  }

  /** All of them, by their size. The map may not change meanwhile. */
  *[Symbol.iterator](): Iterator<[Block, V]> {
    for (const [bits, values] of this.#bySize) for (const [first, value] of values.between(0n, MAX)) yield [{ first, bits }, value];
  }
}

/** above all places of both families */
const MAX = 1n << 130n;
