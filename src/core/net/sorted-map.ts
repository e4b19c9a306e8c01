/**
 * A map whose keys are kept in their order, in parts of some hundred keys, so that neither an entry nor a removal moves all of them. A Map of V8 looks at the
 * low 64 bits of a bigint alone: all prefixes of IPv6 up to /64 would be one bucket of it.
 */
const PART_MAX = 512;

interface Part<V> {
  /** ascending, never empty */
  readonly keys: bigint[];
  readonly values: V[];
}

export class SortedMap<V> {
  readonly #parts: Part<V>[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: bigint): boolean {
    return this.#placeOf(key) !== undefined;
  }

  get(key: bigint): V | undefined {
    const found = this.#placeOf(key);
    return found && found.part.values[found.place];
  }

  set(key: bigint, value: V): void {
    const at = Math.min(this.#partOf(key), this.#parts.length - 1);
    const part = this.#parts[at];
    if (!part) {
      this.#parts.push({ keys: [key], values: [value] });
      this.#size++;
      return;
    }
    const place = placeIn(part.keys, key);
    if (part.keys[place] === key) {
      part.values[place] = value;
      return;
    }
    part.keys.splice(place, 0, key);
    part.values.splice(place, 0, value);
    this.#size++;
    const half = PART_MAX / 2;
    if (part.keys.length > PART_MAX) this.#parts.splice(at + 1, 0, { keys: part.keys.splice(half), values: part.values.splice(half) });
  }

  delete(key: bigint): void {
    const found = this.#placeOf(key);
    if (!found) return;
    const { at, part, place } = found;
    part.keys.splice(place, 1);
    part.values.splice(place, 1);
    this.#size--;
    if (part.keys.length === 0) this.#parts.splice(at, 1);
  }

  /** undefined = the map is empty. */
  get leastKey(): bigint | undefined {
    return this.#parts[0]?.keys[0];
  }

  /** The greatest key that is not above this one; undefined = there is none. */
  keyAtMost(key: bigint): bigint | undefined {
    const at = this.#partOf(key);
    const keys = this.#parts[at]?.keys;
    const place = keys ? placeIn(keys, key) : 0;
    if (keys?.[place] === key) return key;
    return place > 0 ? keys?.[place - 1] : this.#parts[at - 1]?.keys.at(-1);
  }

  /** Entries from `first` to `last`, ascending. The map may not change meanwhile. */
  *between(first: bigint, last: bigint): Iterable<[bigint, V]> {
    for (let at = this.#partOf(first); at < this.#parts.length; at++) {
      const { keys, values } = this.#parts[at] as Part<V>;
      for (let place = placeIn(keys, first); place < keys.length; place++) {
        const key = keys[place] ?? 0n;
        if (key > last) return;
        yield [key, values[place] as V];
      }
    }
  }

  #placeOf(key: bigint): { at: number; part: Part<V>; place: number } | undefined {
    const at = this.#partOf(key);
    const part = this.#parts[at];
    const place = part ? placeIn(part.keys, key) : 0;
    return part?.keys[place] === key ? { at, part, place } : undefined;
  }

  /** The first part whose last key is not below this one. */
  #partOf(key: bigint): number {
    let low = 0;
    let high = this.#parts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const keys = this.#parts[middle]?.keys ?? [];
      if ((keys[keys.length - 1] ?? 0n) >= key) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** The first place whose key is not below this one. */
function placeIn(keys: readonly bigint[], key: bigint): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? 0n) >= key) high = middle;
    else low = middle + 1;
  }
  return low;
}
