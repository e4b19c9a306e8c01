/** Blocks, found by what they share addresses with. Blocks are nested or disjoint, so a look costs one step for each size that there is. */
import { type Block, intervalOfBlock, maskOf } from "./block";
import { SortedValues } from "./sorted-values";

export class BlockSet {
  readonly #bySize = new Map<number, SortedValues>();

  add({ first, bits }: Block): void {
    const found = this.#bySize.get(bits);
    if (found) return found.add(first);
    const made = new SortedValues();
    made.add(first);
    this.#bySize.set(bits, made);
  }

  delete({ first, bits }: Block): void {
    const found = this.#bySize.get(bits);
    found?.delete(first);
    if (found?.size === 0) this.#bySize.delete(bits);
  }

  /** Those that share an address with this one. The set may not change meanwhile. */
  *overlapping(block: Block): Iterable<Block> {
    const { first: from, last } = intervalOfBlock(block);
    for (const [bits, values] of this.#bySize) {
      if (bits < block.bits) {
        for (const first of values.between(from, last)) yield { first, bits };
        continue;
      }
      const first = from & ~maskOf(bits);
      if (values.has(first)) yield { first, bits };
    }
  }
}
