/** Which owners to ask about the usable addresses of each range. */
import { formatAddress } from "../../core/net/address";
import { overlap } from "../../core/net/interval";
import { lastOf } from "../../core/net/prefix";
import { usableOf, usableSizeOf } from "../../core/net/usable";
import type { Topology } from "../rpc/topology";
import type { AddressInterval } from "../rpc/service-cidr";
import { PrefixIndex } from "./prefix-index";
import { storedPrefix } from "./stored-prefix";

/** The part of a range's usable addresses that one owner has. */
interface RangePart extends AddressInterval {
  cidr: string;
}

/** The distinct ranges that give out addresses, with their numbers of usable addresses, and the parts of them by owner. */
export function partsOfRanges(topology: Topology): { ranges: { cidr: string; size: bigint }[]; byOwner: Map<string, RangePart[]> } {
  const claims = topology.claims.map(({ prefix, ownerUid }) => ({ prefix: storedPrefix(prefix), ownerUid }));
  const index = new PrefixIndex(claims.map((claim) => ({ prefix: claim.prefix, value: claim })));
  const byOwner = new Map(claims.map(({ ownerUid }): [string, RangePart[]] => [ownerUid, []]));
  const cidrs = [...new Set(topology.ranges.map(({ prefix }) => prefix))];
  for (const cidr of cidrs) {
    const usable = usableOf(storedPrefix(cidr));
    if (!usable) continue;
    for (const { prefix, ownerUid } of index.intersecting(storedPrefix(cidr))) {
      const part = overlap(usable, { first: prefix.base, last: lastOf(prefix) });
      if (!part) continue;
      const { family } = prefix;
      byOwner.get(ownerUid)?.push({ cidr, first: formatAddress(family, part.first), last: formatAddress(family, part.last) });
    }
  }
  return { ranges: cidrs.map((cidr) => ({ cidr, size: usableSizeOf(storedPrefix(cidr)) })), byOwner };
}
