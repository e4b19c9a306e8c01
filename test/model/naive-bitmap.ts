/** A naive model of the bitmaps: a set of taken offsets, where every query walks the interval or the set. */
export class NaiveBitmap {
  readonly #taken = new Set<bigint>();
  #ascending: bigint[] | undefined;

  get takenCount(): number {
    return this.#taken.size;
  }

  isTaken(offset: bigint): boolean {
    return this.#taken.has(offset);
  }

  take(offset: bigint): boolean {
    if (this.#taken.has(offset)) return false;
    this.#taken.add(offset);
    this.#ascending = undefined;
    return true;
  }

  release(offset: bigint): boolean {
    this.#ascending = undefined;
    return this.#taken.delete(offset);
  }

  takenIn(first: bigint, last: bigint): number {
    return this.#sorted().filter((offset) => offset >= first && offset <= last).length;
  }

  freeIn(first: bigint, last: bigint): bigint {
    return last - first + 1n - BigInt(this.takenIn(first, last));
  }

  /** The k-th free offset: k steps up, and one more for each taken offset on the way. */
  kthFree(first: bigint, last: bigint, k: bigint): bigint | undefined {
    let offset = first + k;
    for (const taken of this.#sorted()) {
      if (taken >= first && taken <= offset) offset++;
    }
    return offset <= last ? offset : undefined;
  }

  taken(): bigint[] {
    return this.#sorted();
  }

  #sorted(): bigint[] {
    this.#ascending ??= [...this.#taken].sort((a, b) => (a < b ? -1 : 1));
    return this.#ascending;
  }
}
