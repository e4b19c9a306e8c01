/** What a pool has: what its entries say, and which of them are given out (upstream: in-cluster provider, internal/poolutil). */
import { formatAddress, parseAddress } from "../../../core/net/address";
import { type Family, lastAddressOf, widthOf } from "../../../core/net/family";
import { type Interval, normalize, subtract } from "../../../core/net/interval";
import { lastOf, parsePrefix, type Prefix } from "../../../core/net/prefix";
import type { PoolSpec } from "./ipam";

export interface PoolRange extends Interval {
  readonly family: Family;
}

/** An address, `first-last`, or a CIDR, whose host bits may be set; undefined = the text is none of them. */
export function parsePoolEntry(text: string): PoolRange | undefined {
  const slash = text.indexOf("/");
  if (slash >= 0) {
    const address = parseAddress(text.slice(0, slash));
    const length = text.slice(slash + 1);
    if (!address.ok || !/^(0|[1-9][0-9]{0,2})$/.test(length) || Number(length) > widthOf(address.value.family)) return undefined;
    return networkAround(address.value.family, address.value.value, Number(length));
  }
  const [from = "", to = from, ...more] = text.split("-");
  const first = parseAddress(from);
  const last = parseAddress(to);
  if (more.length > 0 || !first.ok || !last.ok) return undefined;
  const { family, value } = first.value;
  return last.value.family === family && value <= last.value.value ? { family, first: value, last: last.value.value } : undefined;
}

/** An aligned CIDR, in whatever spelling. `unaligned`: bits are set beyond its length. */
export function parsePoolPrefix(text: string): Prefix | "invalid" | "unaligned" {
  const parsed = parsePrefix(text);
  if (parsed.ok) return parsed.value;
  if (parsed.error.reason === "notCanonical") return parsed.error.prefix;
  return parsed.error.reason === "hostBits" ? "unaligned" : "invalid";
}

/** The network of this length that has the address. */
export function networkAround(family: Family, address: bigint, length: number): PoolRange {
  const mask = (1n << BigInt(widthOf(family) - length)) - 1n;
  return { family, first: address & (lastAddressOf(family) ^ mask), last: address | mask };
}

/** What a pool covers. */
export interface PoolRanges {
  readonly family: Family;
  /** what is given out, in normal form */
  readonly intervals: readonly Interval[];
  /** Length of the smallest prefixes that are given out. All intervals consist of whole ones. Absent = addresses are given out. */
  readonly unit?: number;
}

/** ::ffff:0:0/96, which no object may have as its address: they are those of IPv4. */
const IPV4_MAPPED: Interval = { first: 0xffffn << 32n, last: (0xffffn << 32n) | 0xffff_ffffn };

/** What the pool gives out; entries that are wrong count as absent. undefined = no entry is right. */
export function rangesOf(spec: PoolSpec | undefined): PoolRanges | undefined {
  return spec?.prefixes ? prefixRangesOf(spec) : addressRangesOf(spec);
}

function addressRangesOf(spec: PoolSpec | undefined): PoolRanges | undefined {
  const entries = (spec?.addresses ?? []).flatMap((text) => parsePoolEntry(text) ?? []);
  const family = entries[0]?.family;
  if (family === undefined) return undefined;
  const own = normalize(entries.filter((entry) => entry.family === family).map(plain));
  const excluded = (spec?.excludedAddresses ?? []).flatMap((text) => parsePoolEntry(text) ?? []);
  const out = excluded.filter((entry) => entry.family === family).map(plain);
  const gateway = parseAddress(spec?.gateway ?? "");
  if (gateway.ok && gateway.value.family === family) out.push({ first: gateway.value.value, last: gateway.value.value });
  if (family === "IPv6") out.push(IPV4_MAPPED);
  const prefix = spec?.prefix;
  const lowest = own[0]?.first;
  if (!spec?.allocateReservedIPAddresses && prefix !== undefined && prefix >= 0 && prefix <= widthOf(family) && lowest !== undefined) {
    const network = networkAround(family, lowest, prefix);
    out.push({ first: network.first, last: network.first });
    if (family === "IPv4") out.push({ first: network.last, last: network.last });
  }
  return { family, intervals: subtract(own, normalize(out)) };
}

/** Upstream's default, which only IPv6 has room for. */
export const DEFAULT_LENGTH = 64;

/** A prefix that an excluded entry touches is not given out. */
function prefixRangesOf({
  prefixes = [],
  excludedPrefixes = [],
  allocationPrefixLength: unit = DEFAULT_LENGTH,
}: PoolSpec): PoolRanges | undefined {
  const entries = prefixes.map(parsePoolPrefix).filter((entry) => typeof entry !== "string");
  const family = entries[0]?.family;
  if (family === undefined || !Number.isInteger(unit) || unit < 1 || unit > widthOf(family)) return undefined;
  const own = entries.filter((entry) => entry.family === family && entry.length <= unit);
  const out = excludedPrefixes.flatMap((text) => parsePoolEntry(text) ?? []).filter((entry) => entry.family === family);
  if (family === "IPv6") out.push({ family, ...IPV4_MAPPED });
  const mask = (1n << BigInt(widthOf(family) - unit)) - 1n;
  const whole = subtract(normalize(own.map((entry) => ({ first: entry.base, last: lastOf(entry) }))), normalize(out.map(plain)));
  const intervals = whole.flatMap(({ first, last }) => {
    const from = (first + mask) & ~mask;
    const to = ((last + 1n) & ~mask) - 1n;
    return from <= to ? [{ first: from, last: to }] : [];
  });
  return { family, intervals, unit };
}

function plain({ first, last }: Interval): Interval {
  return { first, last };
}

/** As upstream prints a set of addresses: `[10.0.0.1-10.0.0.3 10.0.0.7-10.0.0.7]`. */
export function printedSet(family: Family, intervals: readonly Interval[]): string {
  const texts = intervals.map(({ first, last }) => `${formatAddress(family, first)}-${formatAddress(family, last)}`);
  return `[${texts.join(" ")}]`;
}
