/** What is free in one pool, as the controller knows it: places are blocks, which in a pool of addresses are of one address. */
import type { PoolCounts } from "../api/registry/ipam/ipam";
import { integerOf } from "../core/encoding/exact-json";
import type { Block } from "../core/net/block";
import type { Interval } from "../core/net/interval";
import { FreeAddresses } from "./free-addresses";

const INT64_MAX = 2n ** 63n - 1n;

/** How many of the claims that wait have room, without a pick for each. */
export interface PlannedRoom {
  /** A claim for so much is planned; false: there is no room for it. */
  take(bits: number): boolean;
}

export interface PoolSpace {
  /** What the pool gives out from now on, on the line of both families. `unitBits`: of its smallest blocks. */
  give(intervals: readonly Interval[], unitBits: number): void;
  gives(block: Block): boolean;
  isHeldBy(block: Block, holder: string): boolean;
  /** Somebody has something of the pool, be it outside of it. */
  readonly isUsed: boolean;
  /** as its status says; a count beyond 2^63-1 is that */
  readonly counts: PoolCounts;
  readonly room: PlannedRoom;
  take(block: Block, holder: string): void;
  /** The block stays where somebody else has it. */
  release(block: Block, holder: string): void;
  /** What is free of the block is not proposed any more, until `unbar` or another `give`. */
  bar(block: Block): void;
  unbar(): void;
  readonly hasBarred: boolean;
  /** What is to be given next; undefined = nothing of this size is free, or too much is barred. */
  next(bits: number): Block | undefined;
}

/** @param free may be below 0: what is outside of a pool of addresses counts as used */
export function countsOf(total: bigint, free: bigint, used: bigint, outOfRange: bigint): PoolCounts {
  const capped = (value: bigint) => integerOf(value > INT64_MAX ? INT64_MAX : value);
  return { total: capped(total), free: capped(free), used: capped(used), outOfRange: capped(outOfRange) };
}

/** The space of a pool of addresses. */
export class AddressSpace implements PoolSpace {
  readonly #free = new FreeAddresses();

  give(intervals: readonly Interval[]): void {
    this.#free.give(intervals);
  }

  gives({ first }: Block): boolean {
    return this.#free.gives(first);
  }

  isHeldBy({ first }: Block, holder: string): boolean {
    return this.#free.holder(first) === holder;
  }

  get isUsed(): boolean {
    return this.#free.used > 0;
  }

  get counts(): PoolCounts {
    const { total, used, outside } = this.#free;
    // What is free is counted from the total that is shown.
    const shown = total > INT64_MAX ? INT64_MAX : total;
    return countsOf(shown, shown - BigInt(used), BigInt(used), BigInt(outside));
  }

  get room(): PlannedRoom {
    let { free } = this.#free;
    return { take: () => free > 0n && free-- > 0n };
  }

  take({ first }: Block, holder: string): void {
    this.#free.take(first, holder);
  }

  release({ first }: Block, holder: string): void {
    this.#free.release(first, holder);
  }

  bar({ first }: Block): void {
    this.#free.bar(first);
  }

  unbar(): void {
    this.#free.unbar();
  }

  get hasBarred(): boolean {
    return this.#free.hasBarred;
  }

  next(): Block | undefined {
    const first = this.#free.lowest();
    return first === undefined ? undefined : { first, bits: 0 };
  }
}
