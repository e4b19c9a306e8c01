/** What follows from the Service ranges with which a cluster begins. */
import { assert } from "../base/assert";
import { formatAddress } from "../net/address";
import type { Family } from "../net/family";
import { formatPrefix, type Prefix } from "../net/prefix";

export interface FirstRanges {
  /** Service families, the default one first; one or two */
  readonly serviceFamilies: readonly Family[];
  /** canonical CIDR texts in the order of `serviceFamilies` */
  readonly serviceRanges: readonly string[];
  /** first usable address of the primary range: the ClusterIP of the Service default/kubernetes */
  readonly apiServerServiceIP: string;
}

/** Upstream refuses a primary range of fewer addresses: 2^3. */
export const RANGE_HOST_BITS_MIN = 3;
export const TOO_FEW_ADDRESSES = "the service cluster IP range must be at least 8 IP addresses";

/** @param prefixes one or two of different families, the primary first */
export function firstRanges(prefixes: readonly Prefix[]): FirstRanges {
  const [primary] = prefixes;
  assert(primary !== undefined, "firstRanges: a list of ranges without errors has a first one");
  return {
    serviceFamilies: prefixes.map(({ family }) => family),
    serviceRanges: prefixes.map(formatPrefix),
    apiServerServiceIP: formatAddress(primary.family, primary.base + 1n),
  };
}
