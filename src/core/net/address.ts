/**
 * Text <-> value of an IP address. Only this file imports ipaddr.js, which reads loosely: octal and hex parts, fewer than four parts, zone ids,
 * and `::1.2.3.4` as an IPv4-mapped address. So every text passes a stricter check before ipaddr.js reads it. The classes of refusal are those
 * of upstream's strict validation (k8s.io/apimachinery/pkg/util/validation/ip.go).
 */
import ipaddr from "ipaddr.js";
import { assert } from "../base/assert";
import { err, ok, type Result } from "../base/result";
import { type Family, lastAddressOf } from "./family";

/**
 * - `invalid`: not an IP address at all (also: zone ids, blanks, hex, short forms);
 * - `leadingZeros`: an IP address but for leading zeros, which some systems read as octal;
 * - `ipv4Mapped`: an IPv6 address inside ::ffff:0:0/96.
 */
export type AddressError = "invalid" | "leadingZeros" | "ipv4Mapped";

/** Upstream's text for each refusal of an address in an API field. */
export const ADDRESS_ERROR_TEXT: Readonly<Record<AddressError, string>> = {
  invalid: "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
  leadingZeros: "must not have leading 0s",
  ipv4Mapped: "must not be an IPv4-mapped IPv6 address",
};

export interface Address {
  readonly family: Family;
  readonly value: bigint;
  /** dotted decimal, or RFC 5952 text */
  readonly canonical: string;
}

/** The longest text of an IPv6 address has 45 characters, with a dotted-decimal tail. */
const TEXT_LENGTH_MAX = 45;
const IPV4_MAPPED = 0xffffn;
/** Groups of an IPv6 address, 16 bits each. */
const GROUPS = 8;

/** Reads one IP address strictly. Accepts forms that are not canonical (`2001:DB8:0::1`); compare with `canonical` where that matters. */
export function parseAddress(text: string): Result<Address, AddressError> {
  const ipv4 = parseIPv4(text);
  if (ipv4 >= 0) return ok({ family: "IPv4", value: BigInt(ipv4), canonical: text });
  const ipv6 = parseIPv6(text);
  if (ipv6 === undefined) return err(hasLeadingZerosOnly(text) ? "leadingZeros" : "invalid");
  if (ipv6 >> 32n === IPV4_MAPPED) return err("ipv4Mapped");
  return ok({ family: "IPv6", value: ipv6, canonical: formatIPv6(ipv6) });
}

/** The canonical text of an address; a text that is no address is returned as it is. */
export function canonicalAddress(text: string): string {
  const parsed = parseAddress(text);
  return parsed.ok ? parsed.value.canonical : text;
}

/** Canonical text: dotted decimal, or RFC 5952 (always in hex groups). */
export function formatAddress(family: Family, value: bigint): string {
  assert(value >= 0n && value <= lastAddressOf(family), "formatAddress: the value is outside its family");
  return family === "IPv4" ? formatIPv4(Number(value)) : formatIPv6(value);
}

function formatIPv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** RFC 5952: lower-case groups without leading zeros; the first of the longest runs of two or more zero groups is `::`. */
function formatIPv6(value: bigint): string {
  const groups = groupsOf(value);
  let [start, length] = [0, 1];
  for (let at = 0; at < GROUPS;) {
    let end = at;
    while (end < GROUPS && groups[end] === 0) end++;
    if (end - at > length) [start, length] = [at, end - at];
    at = end + 1;
  }
  const text = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(":");
  return length === 1 ? text(0, GROUPS) : `${text(0, start)}::${text(start + length, GROUPS)}`;
}

function groupsOf(value: bigint): number[] {
  const groups: number[] = [];
  for (const half of [value >> 64n, value & 0xffff_ffff_ffff_ffffn]) {
    const high = Number(half >> 32n);
    const low = Number(half & 0xffff_ffffn);
    groups.push(high >>> 16, high & 0xffff, low >>> 16, low & 0xffff);
  }
  return groups;
}

/** The value of four decimal parts without leading zeros, or -1. It reads character codes, because it runs for every create and release. */
function parseIPv4(text: string): number {
  const length = text.length;
  if (length < 7 || length > 15) return -1;
  let value = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === 46 /* . */) {
      if (digits === 0 || dots === 3) return -1;
      value = value * 256 + part;
      part = 0;
      digits = 0;
      dots++;
      continue;
    }
    if (code < 48 || code > 57) return -1;
    if (digits > 0 && part === 0) return -1;
    part = part * 10 + (code - 48);
    if (part > 255) return -1;
    digits++;
  }
  return dots === 3 && digits > 0 ? value * 256 + part : -1;
}

function parseIPv6(text: string): bigint | undefined {
  if (text.length > TEXT_LENGTH_MAX || !/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(":")) return undefined;
  const groups = withoutDottedTail(text);
  if (groups === undefined) return undefined;
  let parts: number[];
  try {
    ({ parts } = ipaddr.IPv6.parse(groups));
  } catch {
    return undefined;
  }
  let value = 0n;
  for (const group of parts) value = (value << 16n) | BigInt(group);
  return value;
}

/** `64:ff9b::1.2.3.4` -> `64:ff9b::102:304`; text without dots is returned as it is. */
function withoutDottedTail(text: string): string | undefined {
  if (!text.includes(".")) return text;
  const start = text.lastIndexOf(":") + 1;
  const tail = parseIPv4(text.slice(start));
  return tail < 0 ? undefined : `${text.slice(0, start)}${(tail >>> 16).toString(16)}:${(tail & 0xffff).toString(16)}`;
}

/** Whether the text is an address once leading zeros are gone: upstream blames them for every difference between its loose and strict parse. */
function hasLeadingZerosOnly(text: string): boolean {
  const stripped = text.replace(/(^|[.:])0+(?=[0-9a-fA-F])/g, "$1");
  return stripped !== text && (parseIPv4(stripped) >= 0 || parseIPv6(stripped) !== undefined);
}
