/** What a pool gives out, between its object, the book and the controller. */
import type { AddressPool } from "../api/registry/ipam/ipam";
import { KEEP_OUT_OF_RANGE, NAT_DOMAIN } from "../api/registry/ipam/ipam";
import { type PoolRanges, rangesOf } from "../api/registry/ipam/pool-ranges";
import type { PoolFacts, StoredPool } from "../api/rpc/pool-book";
import type { Interval } from "../core/net/interval";

export function factsOf({ metadata, spec }: Pick<AddressPool, "metadata" | "spec">): PoolFacts {
  const { family, intervals }: PoolRanges = rangesOf(spec) ?? { family: "IPv4", intervals: [] };
  return {
    family,
    intervals: intervals.map(({ first, last }) => [String(first), String(last)] as const),
    natDomain: metadata?.annotations?.[NAT_DOMAIN] ?? "",
    keepsOutside: metadata?.annotations?.[KEEP_OUT_OF_RANGE] === "true",
  };
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
