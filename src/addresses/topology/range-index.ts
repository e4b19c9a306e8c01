/** Ranges, searchable by the addresses that they give out and by the prefixes inside them. */
import type { Address } from "../../core/net/address";
import type { Prefix } from "../../core/net/prefix";
import { isUsableIn } from "../../core/net/usable";
import { PrefixIndex } from "./prefix-index";

export function rangeIndex(ranges: readonly Prefix[]): PrefixIndex<Prefix> {
  return new PrefixIndex(ranges.map((prefix) => ({ prefix, value: prefix })));
}

/** Whether one of the ranges contains the address as a usable one. */
export function givesOut(ranges: PrefixIndex<Prefix>, { family, value }: Pick<Address, "family" | "value">): boolean {
  return ranges.containing(family, value).some((prefix) => isUsableIn(prefix, family, value));
}

/** Whether one of the ranges contains the prefix or equals it. */
export function isInside(ranges: PrefixIndex<Prefix>, { family, base, length }: Prefix): boolean {
  return ranges.containing(family, base).some((prefix) => prefix.length <= length);
}
