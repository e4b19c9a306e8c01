/**
 * The addresses that a ServiceCIDR alone covers: they block its deletion while they are allocated. A range covers the addresses that are usable
 * in it. So an outer range covers the network and broadcast address of an inner one, never the other way round (upstream:
 * servicecidrs_controller.go).
 */
import { assert } from "../../core/base/assert";
import { formatAddress, parseAddress } from "../../core/net/address";
import { FAMILIES } from "../../core/net/family";
import { intersectEach, normalize, subtract } from "../../core/net/interval";
import type { Interval } from "../../core/net/interval";
import type { AddressInterval } from "../rpc/service-cidr";
import { lastOf, type Prefix } from "../../core/net/prefix";
import { usableOf } from "../../core/net/usable";
import type { Family } from "../../core/net/family";
import { byPosition } from "./prefix-index";
import type { NamedPrefix } from "./stored-prefix";

/** A segment and its owner. */
interface OwnedPrefix extends Pick<NamedPrefix, "parsed"> {
  ownerUid: string;
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

/** Splits the intervals (ascending, one family after the other) by the owners of the segments; owners without a part are left out. */
export function splitByOwner(intervals: readonly AddressInterval[], claims: readonly OwnedPrefix[]): Map<string, AddressInterval[]> {
  const byOwner = new Map<string, AddressInterval[]>();
  const parsed = intervals.map(parseInterval);
  for (const family of FAMILIES) {
    const whole = parsed.filter((interval) => interval.family === family);
    const segments = claims.filter((claim) => claim.parsed.family === family).sort((a, b) => byPosition(a.parsed, b.parsed));
    const parts = intersectEach(
      whole,
      segments.map((segment) => ({ first: segment.parsed.base, last: lastOf(segment.parsed) })),
    );
    for (const [i, { ownerUid }] of segments.entries()) {
      for (const { first, last } of parts[i] ?? []) {
        const part = { first: formatAddress(family, first), last: formatAddress(family, last) };
        const own = byOwner.get(ownerUid);
        if (own) own.push(part);
        else byOwner.set(ownerUid, [part]);
      }
    }
  }
  return byOwner;
}

function parseInterval({ first, last }: AddressInterval): Interval & { family: Family } {
  const [low, high] = [parseAddress(first), parseAddress(last)];
  assert(low.ok && high.ok, "an interval has addresses at its ends");
  return { family: low.value.family, first: low.value.value, last: high.value.value };
}

function usableIntervals(family: Family, prefixes: readonly Prefix[]): Interval[] {
  return normalize(prefixes.flatMap((prefix) => (prefix.family === family ? (usableOf(prefix) ?? []) : [])));
}
