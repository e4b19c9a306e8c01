/** What a pool gives out, between its object, the book and the controller. */
import type { AddressPool } from "../api/registry/ipam/ipam";
import { KEEP_OUT_OF_RANGE, natDomainOf } from "../api/registry/ipam/ipam";
import { servedServices } from "../api/registry/ipam/load-balancer";
import { type PoolRanges, rangesOf } from "../api/registry/ipam/pool-ranges";
import type { PoolFacts, RangeOfServices, StoredPool } from "../api/rpc/pool-book";
import { type Interval, overlap } from "../core/net/interval";
import { formatPrefix, lastOf, prefixesIn } from "../core/net/prefix";

export function factsOf({ metadata, spec }: Pick<AddressPool, "metadata" | "spec">): PoolFacts {
  const { family, intervals, unit }: PoolRanges = rangesOf(spec) ?? { family: "IPv4", intervals: [] };
  const loadBalancer = spec?.prefixes ? undefined : servedServices({ metadata });
  return {
    family,
    intervals: intervals.map(({ first, last }) => [String(first), String(last)] as const),
    natDomain: natDomainOf({ metadata }),
    keepsOutside: metadata?.annotations?.[KEEP_OUT_OF_RANGE] === "true",
    ...(loadBalancer && { loadBalancer }),
    ...(unit !== undefined && { unit }),
  };
}

/** What a range of Services covers: one entry for each of its prefixes. */
export function factsOfRange({ cidrs, natDomain }: RangeOfServices): PoolFacts[] {
  return prefixesIn(cidrs).map((prefix) => ({
    family: prefix.family,
    intervals: [[String(prefix.base), String(lastOf(prefix))]],
    natDomain,
    keepsOutside: false,
  }));
}

/** `text`: as messages name it. `isUnderWay`: only its write says so, which may still come to nothing. */
export interface MetRange {
  readonly text: string;
  readonly isUnderWay: boolean;
}

/** A range that shares an address with the intervals and is not apart from them, rather one that is there already; undefined = none does. */
export function rangeMeeting(
  ranges: readonly RangeOfServices[],
  { family, natDomain }: Pick<PoolFacts, "family" | "natDomain">,
  intervals: readonly Interval[],
): MetRange | undefined {
  let coming: MetRange | undefined;
  for (const { name, natDomain: other, cidrs, isUnderWay = false } of ranges) {
    if (areApart(other, natDomain)) continue;
    const met = prefixesIn(cidrs).find(
      (prefix) => prefix.family === family && intervals.some((interval) => overlap(interval, { first: prefix.base, last: lastOf(prefix) })),
    );
    if (!met) continue;
    const text = `${name === "" ? "addresses of Services" : `ServiceCIDR ${JSON.stringify(name)}`} (${formatPrefix(met)})`;
    if (!isUnderWay) return { text, isUnderWay };
    coming ??= { text, isUnderWay };
  }
  return coming;
}

export function storedPool(pool: Pick<AddressPool, "metadata" | "spec">): StoredPool {
  return { facts: factsOf(pool), closed: pool.metadata?.deletionTimestamp !== undefined };
}

export function intervalsOf({ intervals }: Pick<PoolFacts, "intervals">): Interval[] {
  return intervals.map(([first, last]) => ({ first: BigInt(first), last: BigInt(last) }));
}

export function sameFacts(a: PoolFacts, b: PoolFacts): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Whether what lies in one of the domains is never met in the other, so that both may have the same addresses. */
export function areApart(a: string, b: string): boolean {
  return a !== "" && b !== "" && a !== b;
}
