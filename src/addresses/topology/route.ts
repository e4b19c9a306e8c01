/**
 * A router's decisions: which owner to ask. A router decides on a copy of the topology that may be old. An owner refuses what its own
 * configuration does not allow, so a wrong decision costs a round, never an address given out twice.
 */
import type { Random } from "../../core/base/ports";
import { parseAddress } from "../../core/net/address";
import { bandsOf, type Band, staticBandOf } from "../../core/net/band";
import type { Family } from "../../core/net/family";
import { type Interval, intersect, memberAt, normalize, overlap, sizeOf, subtract } from "../../core/net/interval";
import { formatPrefix, IPV4_MAPPED, lastOf, type Prefix, relation } from "../../core/net/prefix";
import { isUsableIn, usableOf } from "../../core/net/usable";
import { OPEN_ZONE, partsInEach, partsWithin, zoneAt } from "../../core/net/zones";
import type { Topology } from "../rpc/topology";
import type { FreeCount } from "../rpc/service-cidr";
import { PrefixIndex } from "./prefix-index";
import { rangeIndex } from "./range-index";
import { storedPrefix } from "./stored-prefix";
import { zonePartsOf } from "./tenants";

/** The ranges of one family under an owner, and how many addresses they give out there by band, taken ones included. */
interface OwnerRanges {
  size: FreeCount;
  ranges: Set<Prefix>;
}

interface Routes {
  claims: PrefixIndex<string>;
  ranges: PrefixIndex<Prefix>;
  /** per family, the owners with an allocatable address */
  holdings: Record<Family, ReadonlyMap<string, OwnerRanges>>;
  /** by zone, the owners with an allocatable address in it; undefined = not worked out yet */
  zones: ReadonlyMap<string, ReadonlyMap<string, FreeCount>> | undefined;
  epochs: ReadonlyMap<string, number>;
}

/** A topology is a value: it never changes. */
const routesOf = new WeakMap<Topology, Routes>();

const NO_SIZE: FreeCount = { dynamic: 0, static: 0 };
const NO_RANGES: ReadonlySet<Prefix> = new Set();

/**
 * The owner of the segment with this address (canonical text); undefined when no claim has it or the text is no address. An owned address need
 * not be allocatable: the owner decides.
 */
export function ownerOf(topology: Topology, address: string): string | undefined {
  const parsed = parseAddress(address);
  if (!parsed.ok) return undefined;
  return routes(topology).claims.containing(parsed.value.family, parsed.value.value)[0];
}

/** Whether an owner that answered under `epoch` knew this topology. Only then does its refusal count for this topology. */
export function knows(topology: Topology, ownerUid: string, epoch: number): boolean {
  return epoch >= (routes(topology).epochs.get(ownerUid) ?? 0);
}

/** Whether the owner answered under exactly the configuration that the topology describes. */
export function isOf(topology: Topology, ownerUid: string, epoch: number): boolean {
  return epoch === routes(topology).epochs.get(ownerUid);
}

/** How many addresses of the family that no zone has the owner may give out, by band, taken ones included. */
export function sizesOf(topology: Topology, ownerUid: string, family: Family): FreeCount {
  return routes(topology).holdings[family].get(ownerUid)?.size ?? NO_SIZE;
}

/** The owners that may give out addresses of the family that no zone has. */
export function ownersWith(topology: Topology, family: Family): string[] {
  return [...routes(topology).holdings[family].keys()];
}

/** The band of an address that no zone has; undefined = a zone has it, or no range gives it out. */
export function bandOf(topology: Topology, family: Family, address: bigint): Band | undefined {
  if (zoneAt(zonePartsOf(topology, family), address) !== OPEN_ZONE) return undefined;
  const bands = bandsOf(routes(topology).ranges.containing(family, address), !topology.withoutBands);
  if (memberAt(bands.dynamic, address)) return "dynamic";
  return memberAt(bands.static, address) ? "static" : undefined;
}

/** The range under which metrics count an address (canonical text) of this owner: the innermost that gives it out. */
export function rangeOf(topology: Topology, ownerUid: string, family: Family, address: string): string | undefined {
  const { holdings, ranges: all } = routes(topology);
  const ranges = holdings[family].get(ownerUid)?.ranges ?? NO_RANGES;
  if (ranges.size <= 1) {
    const [only] = ranges;
    return only && formatPrefix(only);
  }
  const parsed = parseAddress(address);
  if (!parsed.ok) return undefined;
  const { family: actual, value } = parsed.value;
  const holders = all.containing(actual, value).filter((range) => ranges.has(range) && isUsableIn(range, actual, value));
  const innermost = holders.reduce<Prefix | undefined>((best, range) => (best && best.length >= range.length ? best : range), undefined);
  return innermost && formatPrefix(innermost);
}

/** Which owner to ask for any free address, and in which band. */
export interface Draw {
  ownerUid: string;
  band: Band;
  /** the zone that the address may be in (AllocateItem); absent = the topology knows of none */
  zone?: string;
}

/** What a draw depends on besides the topology. */
export interface DrawChoice {
  random: Random;
  /** free addresses by band of an owner that may give out `size` */
  freeOf(ownerUid: string, family: Family, size: FreeCount): FreeCount;
  /** owners that have answered already that the band is full */
  full: Readonly<Record<Band, ReadonlySet<string>>>;
}

/**
 * Draws an owner for a dynamic pick, with a probability proportional to its free addresses of the dynamic band; when no owner has any, of the
 * static band. undefined when the counts say that all are full. Counts are hints: only an owner's answer is a fact.
 */
export function drawOwner(topology: Topology, family: Family, { random, freeOf, full }: DrawChoice): Draw | undefined {
  const holdings = routes(topology).holdings[family];
  for (const band of ["dynamic", "static"] as const) {
    const weights: [ownerUid: string, weight: number][] = [];
    for (const [ownerUid, { size }] of holdings) {
      const weight = full[band].has(ownerUid) ? 0 : freeOf(ownerUid, family, size)[band];
      if (weight > 0) weights.push([ownerUid, weight]);
    }
    const ownerUid = drawWeighted(weights, random);
    if (ownerUid !== undefined) return { ownerUid, band };
  }
  return undefined;
}

/**
 * Draws an owner for a dynamic pick in a zone, with a probability proportional to what it may give out there, taken or not. undefined when all
 * have answered that they are full.
 */
export function drawInZone(topology: Topology, zone: string, { random, full }: Pick<DrawChoice, "random" | "full">): Draw | undefined {
  const known = routes(topology);
  const sizes = (known.zones ??= zoneSizes(topology, known.ranges)).get(zone);
  for (const band of ["dynamic", "static"] as const) {
    const weights = [...(sizes ?? [])].filter(([ownerUid, size]) => size[band] > 0 && !full[band].has(ownerUid));
    const ownerUid = drawWeighted(
      weights.map(([uid, size]) => [uid, size[band]] as const),
      random,
    );
    if (ownerUid !== undefined) return { ownerUid, band, zone };
  }
  return undefined;
}

function drawWeighted(weights: readonly (readonly [string, number])[], random: Random): string | undefined {
  if (weights.length <= 1) return weights[0]?.[0];
  let total = 0;
  for (const [, weight] of weights) total += weight;
  let at = random.next() * total;
  for (const [ownerUid, weight] of weights) {
    at -= weight;
    if (at < 0) return ownerUid;
  }
  // Sums of large weights are rounded, so `at` may end above zero.
  return weights.at(-1)?.[0];
}

function routes(topology: Topology): Routes {
  let known = routesOf.get(topology);
  if (!known) {
    const ranges = rangeIndex(topology.ranges.map(({ prefix }) => storedPrefix(prefix)));
    known = {
      claims: claimIndex(topology),
      ranges,
      holdings: holdingsOf(topology, ranges),
      zones: undefined,
      epochs: new Map(topology.owners.map(({ uid, epoch }) => [uid, epoch])),
    };
    routesOf.set(topology, known);
  }
  return known;
}

function claimIndex(topology: Topology): PrefixIndex<string> {
  return new PrefixIndex(topology.claims.map((claim) => ({ prefix: storedPrefix(claim.prefix), value: claim.ownerUid })));
}

function holdingsOf(topology: Topology, ranges: PrefixIndex<Prefix>): Routes["holdings"] {
  const holdings = { IPv4: new Map<string, OwnerRanges>(), IPv6: new Map<string, OwnerRanges>() };
  for (const { prefix, ownerUid } of topology.claims) {
    const segment = storedPrefix(prefix);
    const within = ranges.intersecting(segment);
    const size = openSizeWithin(topology, segment, within);
    if (size.dynamic + size.static === 0) continue;
    const known = holdings[segment.family].get(ownerUid);
    if (!known) {
      holdings[segment.family].set(ownerUid, { size, ranges: new Set(within) });
      continue;
    }
    known.size = { dynamic: known.size.dynamic + size.dynamic, static: known.size.static + size.static };
    for (const range of within) known.ranges.add(range);
  }
  return holdings;
}

/** The same less what zones have. */
function openSizeWithin(topology: Topology, segment: Prefix, within: readonly Prefix[]): FreeCount {
  const [parts] = partsInEach(zonePartsOf(topology, segment.family), [{ first: segment.base, last: lastOf(segment) }]);
  if (!parts || parts.length === 0) return sizeWithin(segment, within, !topology.withoutBands);
  const open = subtract([{ first: segment.base, last: lastOf(segment) }], normalize(parts));
  const bands = bandsOf(within, !topology.withoutBands);
  return { dynamic: Number(sizeOf(intersect(bands.dynamic, open))), static: Number(sizeOf(intersect(bands.static, open))) };
}

function zoneSizes(topology: Topology, ranges: PrefixIndex<Prefix>): Map<string, Map<string, FreeCount>> {
  const sizes = new Map<string, Map<string, FreeCount>>();
  const add = (zone: string, ownerUid: string, band: Band, set: readonly Interval[]): void => {
    let owners = sizes.get(zone);
    if (!owners) sizes.set(zone, (owners = new Map<string, FreeCount>()));
    const before = owners.get(ownerUid) ?? NO_SIZE;
    owners.set(ownerUid, { ...before, [band]: before[band] + Number(sizeOf(set)) });
  };
  for (const { prefix, ownerUid } of topology.claims) {
    const segment = storedPrefix(prefix);
    const [parts] = partsInEach(zonePartsOf(topology, segment.family), [{ first: segment.base, last: lastOf(segment) }]);
    if (!parts || parts.length === 0) continue;
    const bands = bandsOf(ranges.intersecting(segment), !topology.withoutBands);
    for (const band of ["dynamic", "static"] as const) {
      for (const part of partsWithin(parts, bands[band])) add(part.zone, ownerUid, band, [part]);
    }
  }
  return sizes;
}

/** How many addresses of the segment the ranges give out, by band: the sizes of `bandsOf`, counted without making the bands. */
function sizeWithin(segment: Prefix, ranges: readonly Prefix[], withStatic: boolean): FreeCount {
  if (ranges.length === 0) return NO_SIZE;
  const inside = { first: segment.base, last: lastOf(segment) };
  if (relation(segment, IPV4_MAPPED) !== "disjoint") {
    const bands = bandsOf(ranges, withStatic);
    const sizeIn = (band: readonly Interval[]): number => Number(sizeOf(intersect(band, [inside])));
    return { dynamic: sizeIn(bands.dynamic), static: sizeIn(bands.static) };
  }
  const usable = unionSize(ranges, usableOf, inside);
  const inStaticBand = withStatic ? unionSize(ranges, staticBandOf, inside) : 0n;
  // A static band is a part of what is usable in its range.
  return { dynamic: Number(usable - inStaticBand), static: Number(inStaticBand) };
}

/** How many addresses of `inside` lie in the parts (`partOf`) of the ranges. */
function unionSize(ranges: readonly Prefix[], partOf: (range: Prefix) => Interval | undefined, inside: Interval): bigint {
  const parts: Interval[] = [];
  for (const range of ranges) {
    const part = partOf(range);
    const common = part && overlap(part, inside);
    if (common) parts.push(common);
  }
  return sizeOf(parts.length > 1 ? normalize(parts) : parts);
}
