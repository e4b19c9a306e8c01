/**
 * A set of values that answers in their order. The order is kept from the first question about it on, in parts of some hundred values, so that neither an
 * entry nor a removal moves all of them.
 */
const PART_MAX = 512;

export class SortedValues {
  readonly #members = new Set<bigint>();
  /** ascending, none of them empty; undefined = nobody has asked for the order */
  #parts: bigint[][] | undefined;

  get size(): number {
    return this.#members.size;
  }

  has(value: bigint): boolean {
    return this.#members.has(value);
  }

  add(value: bigint): void {
    if (this.#members.has(value)) return;
    this.#members.add(value);
    const parts = this.#parts;
    if (!parts) return;
    const at = Math.min(partOf(parts, value), parts.length - 1);
    const part = parts[at];
    if (!part) return void parts.push([value]);
    part.splice(placeIn(part, value), 0, value);
    if (part.length > PART_MAX) parts.splice(at + 1, 0, part.splice(PART_MAX / 2));
  }

  delete(value: bigint): void {
    if (!this.#members.delete(value) || !this.#parts) return;
    const at = partOf(this.#parts, value);
    const part = this.#parts[at];
    part?.splice(placeIn(part, value), 1);
    if (part?.length === 0) this.#parts.splice(at, 1);
  }

  /** undefined = the set is empty. */
  get least(): bigint | undefined {
    return this.#sorted[0]?.[0];
  }

  /** The greatest value that is not above this one; undefined = there is none. */
  atMost(value: bigint): bigint | undefined {
    if (this.#members.has(value)) return value;
    const parts = this.#sorted;
    const at = partOf(parts, value);
    const part = parts[at];
    const place = part ? placeIn(part, value) : 0;
    return place > 0 ? part?.[place - 1] : parts[at - 1]?.at(-1);
  }

  /** Those from `first` to `last`, ascending. The set may not change meanwhile. */
  *between(first: bigint, last: bigint): Iterable<bigint> {
    const parts = this.#sorted;
    for (let at = partOf(parts, first); at < parts.length; at++) {
      const part = parts[at] ?? [];
      for (let place = placeIn(part, first); place < part.length; place++) {
        const value = part[place] ?? 0n;
        if (value > last) return;
        yield value;
      }
    }
  }

  get #sorted(): bigint[][] {
    if (this.#parts) return this.#parts;
    const all = [...this.#members].sort((a, b) => (a < b ? -1 : 1));
    const parts: bigint[][] = [];
    for (let at = 0; at < all.length; at += PART_MAX / 2) parts.push(all.slice(at, at + PART_MAX / 2));
    return (this.#parts = parts);
  }
}

/** The first part whose last value is not below this one. */
function partOf(parts: readonly (readonly bigint[])[], value: bigint): number {
  return firstAt(parts.length, (at) => (parts[at]?.at(-1) ?? 0n) >= value);
}

/** The first place whose value is not below this one. */
function placeIn(part: readonly bigint[], value: bigint): number {
  return firstAt(part.length, (at) => (part[at] ?? 0n) >= value);
}

/** The first number below `count` that `isReached` is true of, as it is of all behind that; `count` = there is none. */
function firstAt(count: number, isReached: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
