/**
 * A router's decisions: which owner to ask. They are made on a copy of the topology that may be old; an owner refuses what its own
 * configuration does not allow, so a wrong decision here costs a round, never an address given out twice.
 */
import type { Random } from "../base/ports";
import { parseAddress } from "../net/address";
import type { Family } from "../net/family";
import { lastOf } from "../net/prefix";
import { allocatableOf } from "../net/usable";
import type { Topology } from "../rpc/coordinator";
import { PrefixIndex } from "./prefix-index";
import { storedPrefix } from "./stored-prefix";

/** An owner with allocatable addresses of one family, and how many, taken ones included. */
interface Candidate {
  ownerUid: string;
  size: number;
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
    drawWeighted(candidates, ({ ownerUid, size }) => counts.get(ownerUid)?.dynamic ?? size, random) ??
    drawWeighted(candidates, ({ ownerUid }) => counts.get(ownerUid)?.static ?? 0, random) ??
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
  const ranges = new PrefixIndex(
    topology.ranges.map((range) => storedPrefix(range.prefix)).map((prefix) => ({ prefix, value: allocatableOf(prefix) })),
  );
  const sizes = new Map<string, number>();
  for (const claim of topology.claims) {
    const prefix = storedPrefix(claim.prefix);
    if (prefix.family !== family) continue;
    let size = 0;
    for (const usable of ranges.intersecting(prefix)) {
      if (!usable) continue;
      const first = usable.first > prefix.base ? usable.first : prefix.base;
      const last = usable.last < lastOf(prefix) ? usable.last : lastOf(prefix);
      if (first <= last) size = Math.max(size, Number(last - first + 1n));
    }
    if (size > 0) sizes.set(claim.ownerUid, (sizes.get(claim.ownerUid) ?? 0) + size);
  }
  return [...sizes].map(([ownerUid, size]) => ({ ownerUid, size }));
}
