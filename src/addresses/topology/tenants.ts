/**
 * Ranges that are kept for the Services of some namespaces (kubernetes#130792): a ServiceCIDR with the annotation `servicenet.dev/namespace-selector`.
 *
 * Ready ranges that contain an address judge it together: it is in the zone of the longest prefix with a selector (core/net/zones.ts), or in none.
 *
 * | the namespace of the Service                | takes from, in this order, each family by itself |
 * |---------------------------------------------|--------------------------------------------------|
 * | matches no zone of the family               | what no zone has                                  |
 * | matches zones, one of them `when-full: Fail` | those zones                                      |
 * | matches zones, all of them `when-full: Any`  | those zones, then what no zone has               |
 *
 * An address that the client names has to be in one of these places, and so nobody reaches the zone of another tenant.
 */
import { type ParsedSelector, parseLabelSelector } from "../../api/meta/selector";
import { parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { OPEN_ZONE, zoneAt, type ZonePart, zoneParts } from "../../core/net/zones";
import type { Topology } from "../rpc/topology";
import { byPosition } from "./prefix-index";
import { storedPrefix } from "./stored-prefix";

/** Labels of a namespace. */
export type TenantLabels = Readonly<Record<string, string>>;

interface KeptZone {
  /** canonical text of the prefix */
  prefix: string;
  /** of the ServiceCIDR */
  name: string;
  text: string;
  selector: ParsedSelector;
  mayLeave: boolean;
}

interface Zones {
  byFamily: Record<Family, readonly KeptZone[]>;
  byPrefix: ReadonlyMap<string, KeptZone>;
  parts: Record<Family, readonly ZonePart[]>;
  /** what labels may take from; labels are values that do not change */
  allowed: WeakMap<object, Record<Family, readonly string[]>>;
  unlabelled: Record<Family, readonly string[]>;
}

/** A topology is a value: it never changes. */
const zonesOf = new WeakMap<Topology, Zones>();

/** Whether some range is kept for the Services of some namespaces. */
export function isZoned(topology: Topology): boolean {
  return topology.zoned === true;
}

/** The parts of the family that zones have. */
export function zonePartsOf(topology: Topology, family: Family): readonly ZonePart[] {
  return isZoned(topology) ? zones(topology).parts[family] : [];
}

/** The places where Services of a namespace with these labels take addresses, in order: prefixes of zones, OPEN_ZONE = what no zone has. Never empty. */
export function placesFor(topology: Topology, family: Family, labels: TenantLabels | undefined): readonly string[] {
  const known = zones(topology);
  if (!labels) return known.unlabelled[family];
  let places = known.allowed.get(labels);
  if (!places) known.allowed.set(labels, (places = placesIn(known, labels)));
  return places[family];
}

/** The place of an address in canonical text. */
export function placeOf(topology: Topology, address: string): string {
  const parsed = parseAddress(address);
  return parsed.ok ? zoneAt(zones(topology).parts[parsed.value.family], parsed.value.value) : OPEN_ZONE;
}

/** Why a Service of the namespace may not have the address (canonical text); undefined = it may. */
export function refusalOf(
  topology: Topology,
  { family, address }: { family: Family; address: string },
  { namespace, labels }: { namespace: string; labels: TenantLabels | undefined },
): string | undefined {
  const place = placeOf(topology, address);
  const places = placesFor(topology, family, labels);
  if (places.includes(place)) return undefined;
  const zone = zones(topology).byPrefix.get(place);
  const who = `namespace ${JSON.stringify(namespace)}`;
  if (zone) return `${titleOf(zone)} is kept for namespaces that match ${JSON.stringify(zone.text)}, and ${who} does not`;
  return `the Services of ${who} take addresses from ${titlesOf(topology, places)} alone`;
}

/** Why a Service gets no address when none of these places has one left; undefined = upstream's words say all. */
export function fullText(topology: Topology, family: Family, namespace: string, places: readonly string[]): string | undefined {
  const own = places.filter((place) => place !== OPEN_ZONE);
  const who = `namespace ${JSON.stringify(namespace)}`;
  if (own.length > 0) {
    const outside = own.length < places.length ? ", and so is every range that is kept for no namespaces" : "";
    return `range is full: ${titlesOf(topology, own)}, from which the Services of ${who} take${outside}`;
  }
  const isKept = zones(topology).byFamily[family].length > 0;
  return isKept
    ? `range is full: no range of ${family} that is kept for no namespaces has an address left, and ${who} matches no other`
    : undefined;
}

function titlesOf(topology: Topology, places: readonly string[]): string {
  const titles = places.flatMap((place) => {
    const zone = zones(topology).byPrefix.get(place);
    return zone ? [titleOf(zone)] : [];
  });
  return titles.join(", ");
}

function titleOf({ name, prefix }: KeptZone): string {
  return `ServiceCIDR ${JSON.stringify(name)} (${prefix})`;
}

function placesIn({ byFamily }: Pick<Zones, "byFamily">, labels: TenantLabels | undefined): Record<Family, readonly string[]> {
  const inFamily = (family: Family): string[] => {
    const own = byFamily[family].filter(({ selector }) => selector.matches(labels));
    const prefixes = own.map(({ prefix }) => prefix);
    return own.every(({ mayLeave }) => mayLeave) ? [...prefixes, OPEN_ZONE] : prefixes;
  };
  return { IPv4: inFamily("IPv4"), IPv6: inFamily("IPv6") };
}

function zones(topology: Topology): Zones {
  let known = zonesOf.get(topology);
  if (!known) zonesOf.set(topology, (known = readZones(topology)));
  return known;
}

function readZones({ ranges }: Topology): Zones {
  const byPrefix = new Map<string, KeptZone>();
  for (const { prefix, name, selector: text, whenFull } of ranges) {
    if (text === undefined || byPrefix.has(prefix)) continue;
    const parsed = parseLabelSelector(text);
    // The store of ServiceCIDRs takes no other.
    if (parsed.ok) byPrefix.set(prefix, { prefix, name, text, selector: parsed.value, mayLeave: whenFull === "Any" });
  }
  const sorted = [...byPrefix.values()].map((zone) => ({ zone, parsed: storedPrefix(zone.prefix) }));
  sorted.sort((a, b) => byPosition(a.parsed, b.parsed));
  const inFamily = (wanted: Family): typeof sorted => sorted.filter(({ parsed }) => parsed.family === wanted);
  const zonesIn = (family: Family): KeptZone[] => inFamily(family).map(({ zone }) => zone);
  const partsIn = (family: Family): ZonePart[] => zoneParts(inFamily(family).map(({ parsed }) => parsed));
  const byFamily = { IPv4: zonesIn("IPv4"), IPv6: zonesIn("IPv6") };
  return {
    byFamily,
    byPrefix,
    parts: { IPv4: partsIn("IPv4"), IPv6: partsIn("IPv6") },
    allowed: new WeakMap(),
    unlabelled: placesIn({ byFamily }, undefined),
  };
}
