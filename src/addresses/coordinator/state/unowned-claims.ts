/** New claims of a ServiceCIDR: the parts of its prefixes that nobody owns. */
import { SERVICE_CIDR_SEGMENTS_MAX } from "../../rpc/limits";
import { formatPrefix, type Prefix } from "../../../core/net/prefix";
import { claimUnowned, largestOf } from "../../topology/claim";
import type { CoordinatorStorage } from "./coordinator-storage";

/**
 * Inserts unseeded claims for what `owned` leaves of `wanted`; to be called in a transaction. At most SERVICE_CIDR_SEGMENTS_MAX less
 * `alreadyClaimed`, the largest first: an owner cannot be told of more.
 *
 * @returns the prefixes that were claimed
 */
export function claimUnownedFor(
  storage: CoordinatorStorage,
  ownerUid: string,
  { wanted, owned, alreadyClaimed = 0 }: { wanted: readonly Prefix[]; owned: readonly Prefix[]; alreadyClaimed?: number },
): Prefix[] {
  const claims = largestOf(claimUnowned(wanted, owned), SERVICE_CIDR_SEGMENTS_MAX - alreadyClaimed);
  for (const claim of claims) storage.claimInsert({ prefix: formatPrefix(claim), ownerUid, seeded: false });
  return claims;
}
