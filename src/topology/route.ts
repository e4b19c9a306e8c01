/**
 * A router's decisions: which owner to ask. They are made on a copy of the topology that may be old; an owner refuses what its own
 * configuration does not allow, so a wrong decision here costs a round, never an address given out twice.
 */
import type { Random } from "../base/ports";
import { parseAddress } from "../net/address";
import { bandsOf } from "../net/band";
import type { Family } from "../net/family";
import { type Interval, intersect, sizeOf } from "../net/interval";
import { lastOf, type Prefix } from "../net/prefix";
import type { Topology } from "../rpc/coordinator";
import type { FreeCount } from "../rpc/service-cidr";
import { PrefixIndex } from "./prefix-index";
import { storedPrefix } from "./stored-prefix";

/** An owner with allocatable addresses of one family, and how many by band, taken ones included. */
interface Candidate {
  ownerUid: string;
  size: FreeCount;
}

interface Routes {
  claims: PrefixIndex<string>;
  candidates: Record<Family, readonly Candidate[]>;
}

/** Claims and ranges of a Topology value do not change; its free counts may be updated in place and are read at each draw. */
const routesOf = new WeakMap<Topology, Routes>();

/**
 * The owner of the segment with this address (canonical text); undefined when no claim has it or the text is no address.
 * Owned does not mean allocatable: the owner tells.
 */
export function ownerOf(topology: Topology, address: string): string | undefined {
  const parsed = parseAddress(address);
  if (!parsed.ok) return undefined;
  return routes(topology).claims.containing(parsed.value.family, parsed.value.value)[0];
}

/**
 * An owner for a dynamic pick: drawn with a probability proportional to its free addresses of the dynamic band; when none has any, of the
 * static band; when the counts say that all are full, uniformly, because counts are hints and only an owner's answer is a fact. An owner
 * without counts weighs as if nothing were taken. `exclude` holds the owners that answered "full" already; undefined = none is left to ask.
 */
export function drawOwner(topology: Topology, family: Family, random: Random, exclude: ReadonlySet<string>): string | undefined {
  const candidates = routes(topology).candidates[family].filter((candidate) => !exclude.has(candidate.ownerUid));
  if (candidates.length <= 1) return candidates[0]?.ownerUid;
  const counts = new Map(topology.free.map((free) => [free.ownerUid, free[family]]));
  return (
    drawWeighted(candidates, ({ ownerUid, size }) => counts.get(ownerUid)?.dynamic ?? size.dynamic, random) ??
    drawWeighted(candidates, ({ ownerUid, size }) => counts.get(ownerUid)?.static ?? size.static, random) ??
    drawWeighted(candidates, () => 1, random)
  );
}

function drawWeighted(candidates: readonly Candidate[], weightOf: (candidate: Candidate) => number, random: Random): string | undefined {
  let total = 0;
  for (const candidate of candidates) total += weightOf(candidate);
  if (total === 0) return undefined;
  let at = random.next() * total;
  let chosen: string | undefined;
  for (const candidate of candidates) {
    const weight = weightOf(candidate);
    if (weight === 0) continue;
    chosen = candidate.ownerUid;
    at -= weight;
    if (at < 0) break;
  }
  return chosen;
}

function routes(topology: Topology): Routes {
  let known = routesOf.get(topology);
  if (!known) {
    known = { claims: claimIndex(topology), candidates: { IPv4: candidatesOf(topology, "IPv4"), IPv6: candidatesOf(topology, "IPv6") } };
    routesOf.set(topology, known);
  }
  return known;
}

function claimIndex(topology: Topology): PrefixIndex<string> {
  return new PrefixIndex(topology.claims.map((claim) => ({ prefix: storedPrefix(claim.prefix), value: claim.ownerUid })));
}

function candidatesOf(topology: Topology, family: Family): Candidate[] {
  const ranges = new PrefixIndex(topology.ranges.map(({ prefix }) => storedPrefix(prefix)).map((prefix) => ({ prefix, value: prefix })));
  const sizes = new Map<string, FreeCount>();
  for (const claim of topology.claims) {
    const segment = storedPrefix(claim.prefix);
    if (segment.family !== family) continue;
    const size = sizeWithin(segment, ranges.intersecting(segment));
    const known = sizes.get(claim.ownerUid) ?? { dynamic: 0, static: 0 };
    sizes.set(claim.ownerUid, { dynamic: known.dynamic + size.dynamic, static: known.static + size.static });
  }
  return [...sizes].filter(([, size]) => size.dynamic + size.static > 0).map(([ownerUid, size]) => ({ ownerUid, size }));
}

/** How many addresses of the segment the ranges give out, by band. */
function sizeWithin(segment: Prefix, ranges: readonly Prefix[]): FreeCount {
  const inside = [{ first: segment.base, last: lastOf(segment) }];
  const bands = bandsOf(ranges);
  const sizeIn = (band: readonly Interval[]): number => Number(sizeOf(intersect(band, inside)));
  return { dynamic: sizeIn(bands.dynamic), static: sizeIn(bands.static) };
}
