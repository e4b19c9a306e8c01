import { assert } from "../base/assert";
import { err, ok, type Result } from "../base/result";
import { formatAddress, parseAddress } from "./address";
import { type Family, widthOf } from "./family";

/** An aligned CIDR value: the low `width - length` bits of `base` are zero. */
export interface Prefix {
  readonly family: Family;
  readonly base: bigint;
  /** number of leading bits, 0..32 or 0..128 */
  readonly length: number;
}

/** ::ffff:0:0/96: no API field accepts the text of a prefix or an address in it. */
export const IPV4_MAPPED: Prefix = { family: "IPv6", base: 0xffff_0000_0000n, length: 96 };

/** Why a text is no prefix. `notCanonical` carries the prefix that was meant and its canonical text. */
export type PrefixError =
  | { readonly reason: "invalid" | "leadingZeros" | "ipv4Mapped" | "hostBits" }
  | { readonly reason: "notCanonical"; readonly canonical: string; readonly prefix: Prefix };

/** Upstream's text for each refusal (pkg/apis/networking/validation, ServiceCIDR spec.cidrs[i]). */
export function prefixErrorText(error: PrefixError): string {
  switch (error.reason) {
    case "invalid":
      return "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    case "leadingZeros":
      return "must not have leading 0s in IP or prefix length";
    case "ipv4Mapped":
      return "must not have an IPv4-mapped IPv6 address";
    case "hostBits":
      return "must not have bits set beyond the prefix length";
    case "notCanonical":
      return `must be in canonical form ("${error.canonical}")`;
  }
}

/** Reads a canonical CIDR; an error is the first refusal in upstream's order. */
export function parsePrefix(text: string): Result<Prefix, PrefixError> {
  const slash = text.indexOf("/");
  const lengthText = text.slice(slash + 1);
  if (slash < 0 || !/^[0-9]+$/.test(lengthText)) return err({ reason: "invalid" });
  const address = parseAddress(text.slice(0, slash));
  if (!address.ok && address.error === "invalid") return err({ reason: "invalid" });
  const family: Family = address.ok ? address.value.family : text.includes(":") ? "IPv6" : "IPv4";
  const length = Number(lengthText);
  if (length > widthOf(family)) return err({ reason: "invalid" });
  if (lengthText.length > 1 && lengthText.startsWith("0")) return err({ reason: "leadingZeros" });
  if (!address.ok) return err({ reason: address.error });
  const base = address.value.value;
  if ((base & hostMask(family, length)) !== 0n) return err({ reason: "hostBits" });
  const prefix: Prefix = { family, base, length };
  const canonical = formatPrefix(prefix);
  return canonical === text ? ok(prefix) : err({ reason: "notCanonical", canonical, prefix });
}

/** The prefixes of the texts that are canonical CIDRs; other texts are ignored. */
export function prefixesIn(texts: readonly string[]): Prefix[] {
  return texts.flatMap((text) => {
    const parsed = parsePrefix(text);
    return parsed.ok ? [parsed.value] : [];
  });
}

/** Canonical CIDR text. */
export function formatPrefix(prefix: Prefix): string {
  return `${formatAddress(prefix.family, prefix.base)}/${prefix.length}`;
}

/** The prefix of `length` bits that contains `address`. */
export function prefixAround(family: Family, address: bigint, length: number): Prefix {
  assert(length >= 0 && length <= widthOf(family), "prefixAround: the length is outside its family");
  return { family, base: address - (address & hostMask(family, length)), length };
}

/** Number of bits below the prefix. */
export function hostBitsOf(prefix: Prefix): number {
  return widthOf(prefix.family) - prefix.length;
}

/** The highest address, which is the broadcast address of an IPv4 prefix. */
export function lastOf(prefix: Prefix): bigint {
  return prefix.base + hostMask(prefix.family, prefix.length);
}

/** Whether the address lies in the prefix, its first and last address included; usable.ts says which of them may be given out. */
export function containsAddress(prefix: Prefix, family: Family, address: bigint): boolean {
  return prefix.family === family && address >= prefix.base && address <= lastOf(prefix);
}

/** Whether every address of `inner` lies in `outer`; equal prefixes contain each other. */
export function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  return outer.length <= inner.length && containsAddress(outer, inner.family, inner.base);
}

/** The relation of `a` to `b`. Prefixes are nested or disjoint, never crossing. */
export function relation(a: Prefix, b: Prefix): "equal" | "contains" | "inside" | "disjoint" {
  const outer = containsPrefix(a, b);
  const inner = containsPrefix(b, a);
  if (outer) return inner ? "equal" : "contains";
  return inner ? "inside" : "disjoint";
}

/** The lower and the upper half; a single address has none. */
export function halves(prefix: Prefix): readonly [Prefix, Prefix] {
  assert(hostBitsOf(prefix) > 0, "halves: a single address cannot be cut");
  const length = prefix.length + 1;
  const upper = prefix.base + hostMask(prefix.family, length) + 1n;
  return [
    { family: prefix.family, base: prefix.base, length },
    { family: prefix.family, base: upper, length },
  ];
}

/** One entry for each number of host bits, 0 to 128. */
const HOST_MASKS = Array.from({ length: 129 }, (_, bits) => (1n << BigInt(bits)) - 1n);

function hostMask(family: Family, length: number): bigint {
  return HOST_MASKS[widthOf(family) - length] ?? 0n;
}
