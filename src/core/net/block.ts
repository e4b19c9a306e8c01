/**
 * A block is a run of 2^bits addresses that begins at a multiple of its size: a prefix, seen as a place. Both families share one line, on which IPv6 begins
 * at 2^128. So a prefix of either family is aligned there, too.
 */
import { type Family, widthOf } from "./family";
import type { Interval } from "./interval";
import { type Prefix, prefixAround } from "./prefix";

export interface Block {
  readonly first: bigint;
  /** 0..128 */
  readonly bits: number;
}

const IPV6_FROM = 1n << 128n;

/** The block of the prefix of this length that has the address. */
export function blockAround(family: Family, address: bigint, length: number): Block {
  const { base } = prefixAround(family, address, length);
  return { first: onLine(family, base), bits: widthOf(family) - length };
}

/** The prefix at a block. */
export function prefixOf({ first, bits }: Block): Prefix {
  if (first < IPV6_FROM) return { family: "IPv4", base: first, length: 32 - bits };
  return { family: "IPv6", base: first - IPV6_FROM, length: 128 - bits };
}

/** Where the addresses of a family are on the line. */
export function intervalOnLine(family: Family, { first, last }: Interval): Interval {
  return { first: onLine(family, first), last: onLine(family, last) };
}

export function intervalOfBlock({ first, bits }: Block): Interval {
  return { first, last: first + maskOf(bits) };
}

export function isSameBlock(a: Block, b: Block): boolean {
  return a.first === b.first && a.bits === b.bits;
}

/** Number of its addresses. */
export function sizeOfBlock({ bits }: Block): bigint {
  return 1n << BigInt(bits);
}

/** The block of at least this size that has the given one. */
export function blockOfSize(block: Block, bits: number): Block {
  return block.bits >= bits ? block : { first: block.first & ~maskOf(bits), bits };
}

export function maskOf(bits: number): bigint {
  return (1n << BigInt(bits)) - 1n;
}

function onLine(family: Family, value: bigint): bigint {
  return family === "IPv4" ? value : IPV6_FROM + value;
}
