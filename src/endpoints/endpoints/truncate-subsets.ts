/** Endpoints have room for 1,000 addresses (upstream endpoints_controller.go, truncateEndpoints). */
import { addressKey, type EndpointAddress, type EndpointSubset, repackSubsets } from "./repack-subsets";

/** Addresses in one Endpoints object, ready or not, over all subsets. */
export const ENDPOINTS_CAPACITY = 1000;

export function addressCount(subsets: readonly EndpointSubset[]): number {
  return count(subsets, "addresses") + count(subsets, "notReadyAddresses");
}

/**
 * The subsets in canonical form and truncated, and how many addresses they had.
 *
 * @param subsets of distinct Pods each. The only one of most Services is truncated before it is packed: 20,000 addresses need not be sorted.
 */
export function withinCapacity(subsets: readonly EndpointSubset[]): { subsets: EndpointSubset[]; total: number } {
  const [only, ...others] = subsets;
  if (only && others.length === 0) return { subsets: repackSubsets([firstAddresses(only)]), total: addressCount(subsets) };
  const packed = repackSubsets(subsets);
  return { subsets: truncateSubsets(packed), total: addressCount(packed) };
}

/** Those that truncation leaves of a subset that stands alone. */
function firstAddresses({ addresses = [], notReadyAddresses = [], ...rest }: EndpointSubset): EndpointSubset {
  const ready = firstByKey(addresses, ENDPOINTS_CAPACITY);
  return { ...rest, addresses: ready, notReadyAddresses: firstByKey(notReadyAddresses, ENDPOINTS_CAPACITY - ready.length) };
}

/** The addresses whose keys come first, at most `count`, in any order. */
function firstByKey(addresses: readonly EndpointAddress[], count: number): EndpointAddress[] {
  if (addresses.length <= count || count === 0) return addresses.slice(0, count);
  const sorted = (some: readonly EndpointAddress[]): EndpointAddress[] =>
    [...some].sort((a, b) => (addressKey(a) < addressKey(b) ? -1 : 1)).slice(0, count);
  let first = sorted(addresses.slice(0, count));
  let others: EndpointAddress[] = [];
  let bound = lastKey(first);
  for (let i = count; i < addresses.length; i++) {
    const address = addresses[i];
    if (!address || addressKey(address) >= bound) continue;
    others.push(address);
    if (others.length < count) continue;
    first = sorted([...first, ...others]);
    others = [];
    bound = lastKey(first);
  }
  return sorted([...first, ...others]);
}

function lastKey(sorted: readonly EndpointAddress[]): string {
  const last = sorted.at(-1);
  return last ? addressKey(last) : "";
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
