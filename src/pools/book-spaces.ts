/** The free addresses of pools, for whoever takes rows in the turns of the store of addresses. Memory alone, of pools that were asked for one. */
import type { PoolKey } from "../api/registry/ipam/ipam";
import type { CommittedChange } from "../api/store/state/extension";
import { parseAddress } from "../core/net/address";
import { FreeAddresses } from "./free-addresses";
import { holdingOf } from "./held-addresses";
import type { KnownPoolRow, PoolBook } from "./pool-book";

export class BookSpaces {
  /** each of the row that it was made of */
  readonly #spaces = new Map<PoolKey, { known: KnownPoolRow; space: FreeAddresses }>();

  constructor(private readonly book: Pick<PoolBook, "held" | "holders">) {}

  of(pool: PoolKey, known: KnownPoolRow): FreeAddresses {
    const found = this.#spaces.get(pool);
    if (found?.known === known) return found.space;
    const space = new FreeAddresses();
    space.give(known.gives);
    const { family } = known.row.facts;
    for (const held of this.book.held.of(pool)) if (held.family === family) space.take(held.value, held.key);
    this.#spaces.set(pool, { known, space });
    return space;
  }

  /** Leaves so many addresses, and these, to others. undefined = there is none besides. */
  lowest(pool: PoolKey, known: KnownPoolRow, reserved: number, left: readonly string[]): bigint | undefined {
    const { family } = known.row.facts;
    const space = this.of(pool, known);
    for (const text of left) {
      const parsed = parseAddress(text);
      if (parsed.ok && parsed.value.family === family) space.bar(parsed.value.value);
    }
    try {
      while (space.free > BigInt(reserved)) {
        const value = space.lowest();
        if (value === undefined || this.book.holders(pool, family, value).length === 0) return value;
        space.bar(value);
      }
      return undefined;
    } finally {
      space.unbar();
    }
  }

  /** In the transaction of each change. */
  committed({ before, after }: CommittedChange): void {
    const was = before && holdingOf(before);
    const is = after && holdingOf(after);
    for (const [held, isTaken] of [
      [was, false],
      [is, true],
    ] as const) {
      const space = held && this.#spaces.get(held.pool);
      if (!held || space?.known.row.facts.family !== held.family) continue;
      if (isTaken) space.space.take(held.value, held.key);
      else if (!is) space.space.release(held.value, held.key);
    }
  }

  /** What the database has undone has to be read anew. */
  forget(): void {
    this.#spaces.clear();
  }
}
