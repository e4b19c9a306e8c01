/**
 * Which prefixes of one pool are free. They are of several lengths: what somebody has is a block of whole units, the smallest blocks that the pool gives. A
 * held block that is smaller than a unit takes all of it.
 */
import type { PoolCounts } from "../api/registry/ipam/ipam";
import { type Block, blockOfSize, intervalOfBlock, sizeOfBlock } from "../core/net/block";
import { BlockMap } from "../core/net/block-map";
import { FreeRuns } from "../core/net/free-runs";
import { containsInterval, type Interval, normalize, overlapsOf, sizeOf, subtract } from "../core/net/interval";
import { countsOf, type PlannedRoom, type PoolSpace } from "./pool-space";

/** So many refusals are no accident: nothing is proposed until they are let go. */
const BARRED_MAX = 1_024;

export class FreePrefixes implements PoolSpace {
  #gives: readonly Interval[] = [];
  #unitBits = 0;
  #total = 0n;
  /** who has what */
  readonly #held = new BlockMap<Set<string>>();
  /** what is not proposed */
  #barred = new BlockMap<true>();
  #barredCount = 0;
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
    for (const [block] of this.#held) this.#enter(block);
  }

  gives(block: Block): boolean {
    return block.bits >= this.#unitBits && containsInterval(this.#gives, intervalOfBlock(block));
  }

  isHeldBy(block: Block, holder: string): boolean {
    return this.#held.get(block)?.has(holder) ?? false;
  }

  get isUsed(): boolean {
    return !this.#held.isEmpty;
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
    const found = this.#held.get(block);
    if (found) return void found.add(holder);
    this.#held.set(block, new Set([holder]));
    this.#enter(block);
  }

  release(block: Block, holder: string): void {
    const found = this.#held.get(block);
    if (!found?.delete(holder) || found.size > 0) return;
    this.#held.delete(block);
    const area = this.#areaOf(block);
    this.#used -= sizeOfBlock(area);
    this.#outside -= this.#outsideOf(area);
    this.#free.addAll(this.#freeIn(area));
  }

  bar(block: Block): void {
    if (this.#barred.get(block)) return;
    this.#barred.set(block, true);
    this.#barredCount++;
    this.#free.remove(intervalOfBlock(this.#areaOf(block)));
  }

  unbar(): void {
    const barred = [...this.#barred];
    this.#barred = new BlockMap();
    this.#barredCount = 0;
    for (const [block] of barred) this.#free.addAll(this.#freeIn(this.#areaOf(block)));
  }

  get hasBarred(): boolean {
    return this.#barredCount > 0;
  }

  next(bits: number): Block | undefined {
    return this.#barredCount < BARRED_MAX ? this.#free.bestFor(Math.max(bits, this.#unitBits)) : undefined;
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
    const others = [...this.#held.overlapping(area), ...this.#barred.overlapping(area)];
    const taken = others.map(([block]) => intervalOfBlock(this.#areaOf(block)));
    return subtract(overlapsOf(this.#gives, intervalOfBlock(area)), normalize(taken));
  }
}
