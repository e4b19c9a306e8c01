/** From ServiceCIDRs to what their consumers need: which addresses are Service addresses, and their reverse zones. Pure. */
import type { Family } from "../../core/net/family";
import { formatPrefix, parsePrefix, type Prefix } from "../../core/net/prefix";
import { normalizePrefixes, subtractPrefixes } from "../../core/net/prefix-set";
import { reverseZonesOf } from "../../core/net/reverse-zones";
import type { ServiceCIDR } from "../../api/meta/kubernetes";

/** The ranges of one family: disjoint, ascending, as few prefixes as possible. */
interface FamilyRanges {
  prefixes: string[];
  /** the fewest zones with exactly these addresses, without the final dot */
  zones: string[];
}

export type MergedRanges = Readonly<Record<Family, FamilyRanges>>;

/** What one ServiceCIDR contributes. */
export interface RangeSource {
  cidrs: readonly string[];
  /** it gives out addresses: its Ready condition is True and it is not being deleted */
  ready: boolean;
}

export interface ServiceRanges {
  /** new addresses come from here */
  ready: MergedRanges;
  /** addresses in use lie here: `ready`, ServiceCIDRs that are not Ready or are being deleted, and `orphaned` */
  serving: MergedRanges;
  /** prefixes in use that no ServiceCIDR names any more, after a removal by force */
  orphaned: string[];
}

/** The body of `GET /ranges`. */
export interface RangesView extends ServiceRanges {
  /** of the newest change of a ServiceCIDR that the view has */
  resourceVersion: string;
  /** grows with each change of the ranges or of who writes them */
  epoch: number;
}

/** `held`: prefixes with addresses in use, whether or not a source names them. Texts that are no prefixes are ignored. */
export function serviceRanges(sources: readonly RangeSource[], held: readonly string[] = []): ServiceRanges {
  const all = prefixesOf(sources.flatMap(({ cidrs }) => cidrs));
  const kept = prefixesOf(held);
  return {
    ready: merged(prefixesOf(sources.flatMap(({ cidrs, ready }) => (ready ? cidrs : [])))),
    serving: merged([...all, ...kept]),
    orphaned: subtractPrefixes(kept, all).map(formatPrefix),
  };
}

/** The contribution of an object as the API shows it. */
export function rangeSourceOf({ metadata, spec, status }: ServiceCIDR): RangeSource {
  const isReady = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
  return { cidrs: spec?.cidrs ?? [], ready: isReady && metadata?.deletionTimestamp === undefined };
}

/** The CIDRs of the ServiceCIDRs that give out addresses. */
export function readyCidrs(serviceCIDRs: readonly ServiceCIDR[]): string[] {
  return serviceCIDRs.map(rangeSourceOf).flatMap(({ ready, cidrs }) => (ready ? cidrs : []));
}

/** An API server may hold CIDRs from before they had to be canonical; they count by their meaning. */
export function prefixesOf(texts: readonly string[]): Prefix[] {
  return texts.flatMap((text) => {
    const parsed = parsePrefix(text);
    if (parsed.ok) return parsed.value;
    return parsed.error.reason === "notCanonical" ? parsed.error.prefix : [];
  });
}

function merged(prefixes: readonly Prefix[]): MergedRanges {
  const normal = normalizePrefixes(prefixes);
  const ofFamily = (family: Family): FamilyRanges => {
    const own = normal.filter((prefix) => prefix.family === family);
    return { prefixes: own.map(formatPrefix), zones: own.flatMap(reverseZonesOf) };
  };
  return { IPv4: ofFamily("IPv4"), IPv6: ofFamily("IPv6") };
}
