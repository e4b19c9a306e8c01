/**
 * Free addresses as runs: no two of them touch. A block is found without a look at the places between: runs are kept by the size of the largest block that
 * each has room for.
 */
import { type Block, maskOf } from "./block";
import type { Interval } from "./interval";
import { SortedMap } from "./sorted-map";

export class FreeRuns {
  /** first address of a run -> its last one */
  readonly #lasts = new SortedMap<bigint>();
  /** bits of the largest block in a run -> first addresses of such runs */
  readonly #byRoom = new Map<number, SortedMap<true>>();
  #size = 0n;

  /** Number of free addresses. */
  get size(): bigint {
    return this.#size;
  }

  /** These become free; they were not. */
  add({ first, last }: Interval): void {
    let from = first;
    let to = last;
    const below = this.#lasts.keyAtMost(first);
    const belowLast = below === undefined ? undefined : this.#lasts.get(below);
    if (below !== undefined && belowLast === first - 1n) {
      this.#drop(below, belowLast);
      from = below;
    }
    const aboveLast = this.#lasts.get(last + 1n);
    if (aboveLast !== undefined) {
      this.#drop(last + 1n, aboveLast);
      to = aboveLast;
    }
    this.#keep(from, to);
  }

  addAll(intervals: readonly Interval[]): void {
    for (const interval of intervals) this.add(interval);
  }

  /** Of these none is free any more. */
  remove({ first, last }: Interval): void {
    const below = this.#lasts.keyAtMost(first);
    for (const [from, to] of [...this.#lasts.between(below ?? first, last)]) {
      if (to < first) continue;
      this.#drop(from, to);
      if (from < first) this.#keep(from, first - 1n);
      if (to > last) this.#keep(last + 1n, to);
    }
  }

  /**
   * Where a block of 2^bits addresses is to be: at the lowest place of the lowest run, among those whose room is the smallest that is enough. So what has room
   * for larger blocks is kept whole. undefined = no run has room.
   */
  bestFor(bits: number): Block | undefined {
    let room = Infinity;
    for (const one of this.#byRoom.keys()) if (one >= bits && one < room) room = one;
    const first = this.#byRoom.get(room)?.leastKey;
    return first === undefined ? undefined : { first: alignedFrom(first, bits), bits };
  }

  #keep(first: bigint, last: bigint): void {
    const room = roomOf(first, last);
    this.#lasts.set(first, last);
    const runs = this.#byRoom.get(room) ?? new SortedMap<true>();
    runs.set(first, true);
    this.#byRoom.set(room, runs);
    this.#size += last - first + 1n;
  }

  #drop(first: bigint, last: bigint): void {
    const room = roomOf(first, last);
    this.#lasts.delete(first);
    const runs = this.#byRoom.get(room);
    runs?.delete(first);
    if (runs?.size === 0) this.#byRoom.delete(room);
    this.#size -= last - first + 1n;
  }
}

function alignedFrom(value: bigint, bits: number): bigint {
  const mask = maskOf(bits);
  return (value + mask) & ~mask;
}

/** Bits of the largest block in a run: as many as its length has, or one less where no place is aligned. */
function roomOf(first: bigint, last: bigint): number {
  const bits = (last - first + 1n).toString(2).length - 1;
  return alignedFrom(first, bits) + maskOf(bits) <= last ? bits : bits - 1;
}
