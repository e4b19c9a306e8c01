/**
 * The invariants (README) as judgements of what the API shows: lists of Services, IPAddresses and ServiceCIDRs. Pure; the check of a live
 * cluster, the simulation and the tests share them. I4 and I5 are properties of a history, which no state shows.
 */
import { DEFAULT_NAME, DEFAULT_SERVICE } from "../../api/registry/default-objects";
import { clusterIPTextsOf, nodePortsOf, nodePortText } from "../../api/registry/services/held-by-service";
import { ORPHAN_GRACE_MS } from "../../addresses/repair/orphan-grace";
import { ALLOCATOR_NAME, FAMILY_LABEL, MANAGED_BY_LABEL } from "../../api/registry/ip-addresses/allocator-labels";
import { isInNodePortRange, NODE_PORT_MAX, NODE_PORT_MIN } from "../../core/net/node-port-range";
import { keyOf } from "../../api/meta/object-key";
import { parentServiceOf } from "../../api/registry/ip-addresses/parent-service";
import { parseTime } from "../../api/meta/time";
import { canonicalAddress, parseAddress } from "../../core/net/address";
import { prefixesIn } from "../../core/net/prefix";
import { givesOut, rangeIndex } from "../../addresses/topology/range-index";
import type { ObservedCluster, ObservedIPAddress, ObservedService, ObservedServiceCIDR } from "./observed";
import type { Suspicion } from "./suspicion";

/** A Service and its IPAddress are stored one after the other. An address that moves shows its old holder for as long. */
const PAIRING_LASTING_MS = 5_000;
/** How long upstream's tests wait for `kubernetes` and `default/kubernetes` to come back. */
const DEFAULTS_LASTING_MS = 15_000;
const NONE: ReadonlySet<string> = new Set();

/** I1: no address is held by two Services. */
export function duplicateAddresses({ services }: Pick<ObservedCluster, "services">): Suspicion[] {
  return duplicates(services, addressesOf, (address) => address);
}

/** I1 for node ports: none belongs to two Services with one protocol. */
export function duplicateNodePorts({ services }: Pick<ObservedCluster, "services">): Suspicion[] {
  return duplicates(
    services,
    (service) => nodePortsOf(service).map(nodePortText),
    (port) => `node port ${port}`,
  );
}

/** I3 for node ports: each lies in 30000-32767. Servers with another `--service-node-port-range` have other bounds. */
export function strayNodePorts({ services }: Pick<ObservedCluster, "services">): Suspicion[] {
  return services.flatMap((service) =>
    nodePortsOf(service).flatMap(({ port }) => {
      if (isInNodePortRange(port)) return [];
      const message = `${keyOf(service)} holds node port ${port}, outside ${NODE_PORT_MIN}-${NODE_PORT_MAX}`;
      return [suspect("I3", [labelled("Service", service)], message)];
    }),
  );
}

/**
 * I2: the ClusterIPs of Services and the IPAddresses whose parent is a Service are one-to-one. `nowMs` is of the cluster's clock. An IPAddress
 * without its Service is a notice if it is too young to be judged, or if the allocator did not make it: repair leaves it alone.
 */
export function unpaired(
  { services, ipAddresses, unreadable = NONE }: Pick<ObservedCluster, "services" | "ipAddresses" | "unreadable">,
  nowMs?: number,
): Suspicion[] {
  const found: Suspicion[] = [];
  const naming = new Map<string, { object: ObservedIPAddress; parent: string }>();
  for (const object of ipAddresses) {
    const parent = parentServiceOf(object);
    if (parent) naming.set(canonicalAddress(object.metadata?.name ?? ""), { object, parent: keyOf({ metadata: parent }) });
  }
  const held = new Set<string>();
  for (const service of services) {
    for (const address of addressesOf(service)) {
      const named = naming.get(address);
      held.add(address);
      if (named?.parent === keyOf(service) || unreadable.has(`IPAddress ${address}`)) continue;
      const holds = `${keyOf(service)} holds ${address}`;
      found.push(
        named
          ? suspect(
              "I2",
              [labelled("Service", service), labelled("IPAddress", named.object)],
              `${holds}, whose IPAddress names ${named.parent}`,
            )
          : suspect("I2", [labelled("Service", service)], `${holds}, which has no IPAddress`),
      );
    }
  }
  for (const [address, { object, parent }] of naming) {
    if (held.has(address) || unreadable.has(`Service ${parent}`)) continue;
    const message = `the IPAddress ${address} names ${parent}, which does not hold it`;
    const excuse = nowMs === undefined ? "" : excuseOf(object, nowMs);
    found.push(suspect(excuse ? "notice" : "I2", [labelled("IPAddress", object)], message + excuse));
  }
  return found;
}

/** The allocator's IPAddresses have its labels: repair and every client find them by these. */
export function wronglyLabelled({ services, ipAddresses }: Pick<ObservedCluster, "services" | "ipAddresses">): Suspicion[] {
  const byAddress = new Map(ipAddresses.map((object) => [canonicalAddress(object.metadata?.name ?? ""), object]));
  return services.flatMap((service) =>
    addressesOf(service).flatMap((address) => {
      const object = byAddress.get(address);
      const parent = object && parentServiceOf(object);
      if (!parent || keyOf({ metadata: parent }) !== keyOf(service)) return [];
      const family = address.includes(":") ? "IPv6" : "IPv4";
      const { labels = {} } = object.metadata ?? {};
      if (labels[MANAGED_BY_LABEL] === ALLOCATOR_NAME && labels[FAMILY_LABEL] === family) return [];
      return [suspect("I2", [labelled("IPAddress", object)], `the IPAddress ${address} of ${keyOf(service)} lacks the allocator's labels`)];
    }),
  );
}

/** I3: every ClusterIP is a usable address of one of the prefixes; texts that are no prefixes are ignored. */
export function uncovered(services: readonly ObservedService[], cidrs: readonly string[]): Suspicion[] {
  const ranges = rangeIndex(prefixesIn(cidrs));
  return services.flatMap((service) =>
    addressesOf(service).flatMap((text) => {
      const address = parseAddress(text);
      const objects = [labelled("Service", service)];
      if (!address.ok) return [suspect("I3", objects, `${keyOf(service)} holds "${text}", which is no address`)];
      return givesOut(ranges, address.value) ? [] : [suspect("I3", objects, `no ServiceCIDR covers ${text} of ${keyOf(service)}`)];
    }),
  );
}

/** What every cluster has. `serviceCIDRs` undefined: they are not served. */
export function missingDefaults(
  services: readonly ObservedService[],
  serviceCIDRs: readonly ObservedServiceCIDR[] | undefined,
  unreadable: ReadonlySet<string> = NONE,
): Suspicion[] {
  const missing = [
    ...(services.some((service) => keyOf(service) === DEFAULT_SERVICE) ? [] : [`Service ${DEFAULT_SERVICE}`]),
    ...(serviceCIDRs?.some(({ metadata }) => metadata?.name === DEFAULT_NAME) === false ? [`ServiceCIDR ${DEFAULT_NAME}`] : []),
  ].filter((label) => !unreadable.has(label));
  return missing.map((label) => ({
    ...suspect("default", [{ label, uid: "" }], `the ${label} is missing`),
    lastingMs: DEFAULTS_LASTING_MS,
  }));
}

/** Objects whose stored text was damaged; no other finding follows from such an object. */
export function unreadableObjects(unreadable: Iterable<string>): Suspicion[] {
  return [...unreadable].map((label) => ({
    ...suspect("object", [{ label, uid: "" }], `${label} is stored, and cannot be read`),
    lastingMs: 0,
  }));
}

/** Ranges that give out nothing, with the reason that they show. */
export function idleServiceCIDRs(serviceCIDRs: readonly ObservedServiceCIDR[]): Suspicion[] {
  return serviceCIDRs.flatMap((object) => {
    const ready = object.status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.status === "True" && object.metadata?.deletionTimestamp === undefined) return [];
    const state = object.metadata?.deletionTimestamp === undefined ? "is not Ready" : "is being deleted";
    const why = ready?.status === "True" ? "" : [ready?.reason, ready?.message].filter(Boolean).join(": ");
    const message = `the ServiceCIDR ${object.metadata?.name ?? ""} ${state}${why ? ` (${why})` : ""}`;
    return [suspect("notice", [labelled("ServiceCIDR", object)], message)];
  });
}

/** The allocated addresses of a Service in canonical form; a text that is no address stays as it is. */
export function addressesOf(service: ObservedService): string[] {
  return clusterIPTextsOf(service).map(canonicalAddress);
}

/** An object as findings name it. */
export interface Labelled {
  label: string;
  uid: string;
}

export function labelled(kind: string, { metadata }: { metadata?: ObservedService["metadata"] }): Labelled {
  return { label: `${kind} ${keyOf({ metadata })}`, uid: metadata?.uid ?? "" };
}

/** A finding that a healthy cluster shows only while a Service and its IPAddresses are stored. */
export function suspect(rule: Suspicion["rule"], objects: readonly Labelled[], message: string): Suspicion {
  const identity = [rule, message, ...objects.map(({ uid }) => uid)].join("\n");
  return { rule, objects: objects.map(({ label }) => label), message, identity, lastingMs: PAIRING_LASTING_MS };
}

function duplicates(
  services: readonly ObservedService[],
  heldBy: (service: ObservedService) => string[],
  called: (held: string) => string,
): Suspicion[] {
  const holders = new Map<string, ObservedService>();
  const found: Suspicion[] = [];
  for (const service of services) {
    for (const held of heldBy(service)) {
      const other = holders.get(held);
      if (other) {
        const message = `${called(held)} is held by ${keyOf(other)} and by ${keyOf(service)}`;
        found.push(suspect("I1", [labelled("Service", other), labelled("Service", service)], message));
      }
      holders.set(held, service);
    }
  }
  return found;
}

/** Why repair leaves an IPAddress without its Service alone; "" = repair deletes it. */
function excuseOf({ metadata }: ObservedIPAddress, nowMs: number): string {
  if (metadata?.labels?.[MANAGED_BY_LABEL] !== ALLOCATOR_NAME) return "; the allocator did not make it";
  const createdAt = parseTime(metadata.creationTimestamp ?? "") ?? 0;
  return nowMs - createdAt <= ORPHAN_GRACE_MS ? "; it is younger than a minute, and its Service may be on its way" : "";
}
