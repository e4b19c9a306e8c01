/**
 * Which addresses a ServiceCIDR alone covers: those block its deletion while they are allocated. "Covers" means *usable in*: an outer range
 * covers the network and broadcast address of an inner one, and never the other way round (upstream: servicecidrs_controller.go).
 */
import { formatAddress } from "../net/address";
import { FAMILIES } from "../net/family";
import { normalize, subtract } from "../net/interval";
import type { Interval } from "../net/interval";
import type { Prefix } from "../net/prefix";
import { usableOf } from "../net/usable";
import type { Family } from "../net/family";

/** An inclusive interval in canonical address texts, as `countTaken` takes it. */
export interface AddressInterval {
  first: string;
  last: string;
}

/** The usable addresses of `prefixes` that are usable in none of `others`, IPv4 first, ascending. */
export function onlyCoveredBy(prefixes: readonly Prefix[], others: readonly Prefix[]): AddressInterval[] {
  return FAMILIES.flatMap((family) =>
    subtract(usableIntervals(family, prefixes), usableIntervals(family, others)).map(({ first, last }) => ({
      first: formatAddress(family, first),
      last: formatAddress(family, last),
    })),
  );
}

function usableIntervals(family: Family, prefixes: readonly Prefix[]): Interval[] {
  return normalize(prefixes.flatMap((prefix) => (prefix.family === family ? (usableOf(prefix) ?? []) : [])));
}
