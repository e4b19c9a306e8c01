/** Endpoints have room for 1,000 addresses (upstream endpoints_controller.go, truncateEndpoints). */
import type { EndpointSubset } from "./repack-subsets";

/** Addresses in one Endpoints object, ready or not, over all subsets. */
export const ENDPOINTS_CAPACITY = 1000;

export function addressCount(subsets: readonly EndpointSubset[]): number {
  return count(subsets, "addresses") + count(subsets, "notReadyAddresses");
}

/**
 * At most 1,000 addresses of the subsets, ready ones first. Each subset loses in proportion; the last one takes what rounding leaves. Upstream keeps a
 * subset that lost all its addresses, and its write is then refused; here it goes.
 */
export function truncateSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  if (addressCount(subsets) <= ENDPOINTS_CAPACITY) return [...subsets];
  const ready = count(subsets, "addresses");
  const truncated =
    ready > ENDPOINTS_CAPACITY
      ? shorten(subsets, "addresses", ENDPOINTS_CAPACITY).map(({ notReadyAddresses: _, ...rest }) => rest)
      : shorten(subsets, "notReadyAddresses", ENDPOINTS_CAPACITY - ready);
  return truncated.filter((subset) => addressCount([subset]) > 0);
}

type Member = "addresses" | "notReadyAddresses";

function count(subsets: readonly EndpointSubset[], member: Member): number {
  return subsets.reduce((sum, subset) => sum + (subset[member]?.length ?? 0), 0);
}

function shorten(subsets: readonly EndpointSubset[], member: Member, max: number): EndpointSubset[] {
  const total = count(subsets, member);
  let left = max;
  return subsets.map((subset) => {
    const { [member]: addresses = [], ...rest } = subset;
    const kept = addresses.slice(0, Math.min(left, Math.ceil((addresses.length / total) * max)));
    left -= kept.length;
    return kept.length > 0 ? { ...rest, [member]: kept } : rest;
  });
}
