/**
 * Which prefixes of one pool are free. They are of several lengths: what somebody has is a block of whole units, the smallest blocks that the pool gives. A
 * held block that is smaller than a unit takes all of it.
 */
import type { PoolCounts } from "../api/registry/ipam/ipam";
import { type Block, blockOfSize, intervalOfBlock, sizeOfBlock } from "../core/net/block";
import { BlockSet } from "../core/net/block-set";
import { FreeRuns } from "../core/net/free-runs";
import { containsInterval, type Interval, normalize, overlapsOf, sizeOf, subtract } from "../core/net/interval";
import { countsOf, type PlannedRoom, type PoolSpace } from "./pool-space";

interface HeldBlock {
  readonly block: Block;
  readonly holders: Set<string>;
}

/** So many refusals are no accident: nothing is proposed until they are let go. */
const BARRED_MAX = 1_024;

export class FreePrefixes implements PoolSpace {
  #gives: readonly Interval[] = [];
  #unitBits = 0;
  #total = 0n;
  /** by the text of the block */
  readonly #held = new Map<string, HeldBlock>();
  readonly #heldBlocks = new BlockSet();
  /** blocks that are not proposed, by their text */
  readonly #barred = new Map<string, Block>();
  readonly #barredBlocks = new BlockSet();
  #free = new FreeRuns();
  /** addresses in the units that are held, and those of them that are not given out */
  #used = 0n;
  #outside = 0n;

  give(intervals: readonly Interval[], unitBits: number): void {
    this.unbar();
    this.#gives = intervals;
    this.#unitBits = unitBits;
    this.#total = sizeOf(intervals);
    this.#free = new FreeRuns();
    this.#free.addAll(intervals);
    this.#used = 0n;
    this.#outside = 0n;
    for (const { block } of this.#held.values()) this.#enter(block);
  }

  gives(block: Block): boolean {
    return block.bits >= this.#unitBits && containsInterval(this.#gives, intervalOfBlock(block));
  }

  isHeldBy(block: Block, holder: string): boolean {
    return this.#held.get(textOf(block))?.holders.has(holder) ?? false;
  }

  get isUsed(): boolean {
    return this.#held.size > 0;
  }

  get counts(): PoolCounts {
    const units = (addresses: bigint): bigint => addresses >> BigInt(this.#unitBits);
    const free = this.#total - this.#used + this.#outside;
    return countsOf(units(this.#total), units(free > 0n ? free : 0n), units(this.#used), units(this.#outside));
  }

  get room(): PlannedRoom {
    let { size } = this.#free;
    return {
      take: (bits) => {
        const wanted = this.next(bits);
        const taken = wanted ? sizeOfBlock(wanted) : 0n;
        if (!wanted || taken > size) return false;
        size -= taken;
        return true;
      },
    };
  }

  take(block: Block, holder: string): void {
    const text = textOf(block);
    const found = this.#held.get(text);
    if (found) return void found.holders.add(holder);
    this.#held.set(text, { block, holders: new Set([holder]) });
    this.#heldBlocks.add(block);
    this.#enter(block);
  }

  release(block: Block, holder: string): void {
    const text = textOf(block);
    const found = this.#held.get(text);
    if (!found?.holders.delete(holder) || found.holders.size > 0) return;
    this.#held.delete(text);
    this.#heldBlocks.delete(block);
    const area = this.#areaOf(block);
    this.#used -= sizeOfBlock(area);
    this.#outside -= this.#outsideOf(area);
    this.#free.addAll(this.#freeIn(area));
  }

  bar(block: Block): void {
    this.#barred.set(textOf(block), block);
    this.#barredBlocks.add(block);
    this.#free.remove(intervalOfBlock(this.#areaOf(block)));
  }

  unbar(): void {
    const barred = [...this.#barred.values()];
    this.#barred.clear();
    for (const block of barred) this.#barredBlocks.delete(block);
    for (const block of barred) this.#free.addAll(this.#freeIn(this.#areaOf(block)));
  }

  get hasBarred(): boolean {
    return this.#barred.size > 0;
  }

  next(bits: number): Block | undefined {
    return this.#barred.size < BARRED_MAX ? this.#free.bestFor(Math.max(bits, this.#unitBits)) : undefined;
  }

  #enter(block: Block): void {
    const area = this.#areaOf(block);
    this.#used += sizeOfBlock(area);
    this.#outside += this.#outsideOf(area);
    this.#free.remove(intervalOfBlock(area));
  }

  /** The units that the block has addresses of. */
  #areaOf(block: Block): Block {
    return blockOfSize(block, this.#unitBits);
  }

  #outsideOf(area: Block): bigint {
    return sizeOfBlock(area) - sizeOf(overlapsOf(this.#gives, intervalOfBlock(area)));
  }

  /** What nobody has of an area that was held, or barred. */
  #freeIn(area: Block): Interval[] {
    const others = [...this.#heldBlocks.overlapping(area), ...this.#barredBlocks.overlapping(area)];
    const taken = others.map((block) => intervalOfBlock(this.#areaOf(block)));
    return subtract(overlapsOf(this.#gives, intervalOfBlock(area)), normalize(taken));
  }
}

function textOf({ first, bits }: Block): string {
  return `${first}/${bits}`;
}
