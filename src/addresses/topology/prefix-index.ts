/**
 * Prefixes with a value each, searchable by overlap. Prefixes are nested or disjoint, never crossing. They are sorted by base, then by length.
 * The prefixes inside one follow it without gaps; those that contain it are its chain of parents:
 *
 *     sorted    10.0.0.0/8   10.0.0.0/16   10.0.4.0/24   10.1.0.0/16
 *     parent    -            10.0.0.0/8    10.0.0.0/16   10.0.0.0/8
 *
 * A search costs O(log n + results). The same prefix may be there several times.
 */
import { FAMILIES, type Family, widthOf } from "../../core/net/family";
import { containsPrefix, lastOf } from "../../core/net/prefix";
import type { Prefix } from "../../core/net/prefix";

interface IndexedPrefix<T> {
  prefix: Prefix;
  value: T;
  /** index of the innermost earlier entry that contains this one; -1 = none */
  parent: number;
}

export class PrefixIndex<T> {
  readonly #entries: Record<Family, IndexedPrefix<T>[]>;

  constructor(items: readonly { prefix: Prefix; value: T }[]) {
    this.#entries = {
      IPv4: nest(items.filter((i) => i.prefix.family === "IPv4")),
      IPv6: nest(items.filter((i) => i.prefix.family === "IPv6")),
    };
  }

  /** The same prefixes with other values. */
  map<U>(valueOf: (value: T) => U): PrefixIndex<U> {
    const mapped = new PrefixIndex<U>([]);
    for (const family of FAMILIES)
      mapped.#entries[family] = this.#entries[family].map((entry) => ({ ...entry, value: valueOf(entry.value) }));
    return mapped;
  }

  /** The values whose prefixes share an address with `prefix`, in no particular order. */
  intersecting(prefix: Prefix): T[] {
    const entries = this.#entries[prefix.family];
    const last = lastOf(prefix);
    const start = firstAtOrAfter(entries, prefix.base);
    const found: T[] = [];
    for (let i = start; i < entries.length; i++) {
      const entry = entries[i];
      if (!entry || entry.prefix.base > last) break;
      found.push(entry.value);
    }
    for (let i = start - 1; i >= 0;) {
      const entry = entries[i];
      if (!entry) break;
      if (containsPrefix(entry.prefix, prefix)) found.push(entry.value);
      i = entry.parent;
    }
    return found;
  }

  /** The values whose prefixes contain the address, be it their network or broadcast address. */
  containing(family: Family, address: bigint): T[] {
    return this.intersecting({ family, base: address, length: widthOf(family) });
  }
}

function nest<T>(items: readonly { prefix: Prefix; value: T }[]): IndexedPrefix<T>[] {
  const entries = items.map(({ prefix, value }): IndexedPrefix<T> => ({ prefix, value, parent: -1 }));
  entries.sort((a, b) => byPosition(a.prefix, b.prefix));
  entries.forEach((entry, index) => {
    let candidate = index - 1;
    while (candidate >= 0) {
      const before = entries[candidate];
      if (!before || containsPrefix(before.prefix, entry.prefix)) break;
      candidate = before.parent;
    }
    entry.parent = candidate;
  });
  return entries;
}

/** IPv4 first, then by base, outer before inner. */
export function byPosition(a: Prefix, b: Prefix): number {
  if (a.family !== b.family) return a.family === "IPv4" ? -1 : 1;
  if (a.base !== b.base) return a.base < b.base ? -1 : 1;
  return a.length - b.length;
}

function firstAtOrAfter<T>(entries: readonly IndexedPrefix<T>[], base: bigint): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry && entry.prefix.base < base) low = middle + 1;
    else high = middle;
  }
  return low;
}
