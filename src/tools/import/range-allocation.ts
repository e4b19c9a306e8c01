/**
 * Upstream's bitmap of the old allocators: the bytes of one big integer, most significant first, without leading
 * zero bytes. Its bit k is the address after the k-th of the range's network address, or the k-th port of a port range.
 */
import { decodeBase64, encodeBase64Bytes } from "../../core/encoding/base64";
import type { KubeObject } from "../../api/meta/kubernetes";
import { formatAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { parsePrefix, type Prefix } from "../../core/net/prefix";
import { usableSizeOf } from "../../core/net/usable";
import { err, ok, type Result } from "../../core/base/result";

export interface RangeAllocation extends KubeObject {
  /** a CIDR, or `30000-32767` */
  range?: string;
  /** base64 */
  data?: string;
}

/** What the old allocator counts as taken. */
export type TakenBits =
  { kind: "addresses"; prefix: Prefix; addresses: string[] } | { kind: "ports"; first: number; last: number; ports: number[] };

/** Bits that the old allocator keeps for an IPv6 range of any length. */
const IPV6_BITS_MAX = 65_535n;

/** The error is a sentence for the operator. */
export function readRangeAllocation({ range = "", data = "" }: RangeAllocation): Result<TakenBits, string> {
  const bytes = decodeBase64(data);
  if (!bytes) return err("its data is no base64");
  const ports = /^(\d{1,5})-(\d{1,5})$/.exec(range);
  const bits = setBits(bytes);
  const highest = bits.at(-1) ?? -1;
  if (ports) {
    const [first, last] = [Number(ports[1]), Number(ports[2])];
    if (highest > last - first) return err(`its bit ${highest} is outside the range ${range}`);
    return ok({ kind: "ports", first, last, ports: bits.map((bit) => first + bit) });
  }
  const parsed = parsePrefix(range);
  const prefix = parsed.ok ? parsed.value : parsed.error.reason === "notCanonical" ? parsed.error.prefix : undefined;
  if (!prefix) return err(`its range ${JSON.stringify(range)} is neither a CIDR nor a range of ports`);
  if (BigInt(highest) >= bitsOf(prefix)) return err(`its bit ${highest} is outside the range ${range}`);
  return ok({ kind: "addresses", prefix, addresses: bits.map((bit) => addressOf(prefix.family, prefix.base, bit)) });
}

/** A range as the old allocator would store it when the bits `taken` are set; each lies within `bitsOf` the range. */
export function writeRangeAllocation(range: string, taken: Iterable<number>): Required<Pick<RangeAllocation, "range" | "data">> {
  const bits = [...taken];
  const length = bits.reduce((most, bit) => Math.max(most, (bit >> 3) + 1), 0);
  const bytes = new Uint8Array(length);
  for (const bit of bits) {
    const at = length - 1 - (bit >> 3);
    bytes[at] = (bytes[at] ?? 0) | (1 << (bit & 7));
  }
  return { range, data: encodeBase64Bytes(bytes) };
}

/** How many bits the old allocator has for a range: one for each usable address, of IPv6 no more than 65535. */
export function bitsOf(prefix: Prefix): bigint {
  const size = usableSizeOf(prefix);
  return prefix.family === "IPv6" && size > IPV6_BITS_MAX ? IPV6_BITS_MAX : size;
}

function addressOf(family: Family, base: bigint, bit: number): string {
  return formatAddress(family, base + 1n + BigInt(bit));
}

/** Ascending. */
function setBits(bytes: Uint8Array): number[] {
  const bits: number[] = [];
  for (let i = bytes.length - 1; i >= 0; i--) {
    const byte = bytes[i] ?? 0;
    for (let bit = 0; bit < 8; bit++) if ((byte >> bit) & 1) bits.push((bytes.length - 1 - i) * 8 + bit);
  }
  return bits;
}
