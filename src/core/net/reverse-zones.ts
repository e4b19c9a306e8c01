/**
 * The zones of reverse DNS of a prefix. A zone stands on a boundary between labels: 8 bits in IPv4 (RFC 1035, section 3.5), 4 in IPv6 (RFC 3596,
 * section 2.5). Classless delegation (RFC 2317) needs records in the zone above, which the DNS of a cluster does not have.
 */
import { type Family, widthOf } from "./family";
import type { Prefix } from "./prefix";

const SUFFIX: Readonly<Record<Family, string>> = { IPv4: "in-addr.arpa", IPv6: "ip6.arpa" };

/**
 * The fewest zones that have every address of the prefix and no other, in address order, without the final dot. A length on a boundary has one
 * zone; any other has those of the next longer boundary, at most 128 in IPv4 and 8 in IPv6.
 *
 *     10.96.0.0/16   96.10.in-addr.arpa
 *     10.96.0.0/15   96.10.in-addr.arpa 97.10.in-addr.arpa
 */
export function reverseZonesOf(prefix: Prefix): string[] {
  const labelBits = prefix.family === "IPv4" ? 8 : 4;
  const labels = Math.ceil(prefix.length / labelBits);
  const zoneHostBits = BigInt(widthOf(prefix.family) - labels * labelBits);
  const first = prefix.base >> zoneHostBits;
  const count = 1 << (labels * labelBits - prefix.length);
  return Array.from({ length: count }, (_, i) => zoneName(prefix.family, first + BigInt(i), labels, labelBits));
}

/** `leading` has the bits of the labels, the most significant first; a name has the labels in reverse order. */
function zoneName(family: Family, leading: bigint, labels: number, labelBits: number): string {
  const radix = family === "IPv4" ? 10 : 16;
  const mask = (1n << BigInt(labelBits)) - 1n;
  let name = "";
  for (let i = 0; i < labels; i++) name += `${((leading >> BigInt(i * labelBits)) & mask).toString(radix)}.`;
  return name + SUFFIX[family];
}
