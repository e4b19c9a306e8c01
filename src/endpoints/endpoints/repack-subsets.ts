/**
 * The canonical form of the subsets of Endpoints (upstream pkg/api/v1/endpoints/util.go): each port stands in one subset, ports with equal
 * addresses share it, everything is sorted. An address is one of an IP and the uid of what it refers to. Where it is ready and not ready for one
 * port, it is not ready.
 */
import type { Endpoints } from "../../api/meta/kubernetes";

export type EndpointSubset = NonNullable<Endpoints["subsets"]>[number];
export type EndpointAddress = NonNullable<EndpointSubset["addresses"]>[number];
export type EndpointPort = NonNullable<EndpointSubset["ports"]>[number];

interface PortAddresses {
  /** undefined = the subset has no ports, as that of a headless Service without ports */
  readonly port: EndpointPort | undefined;
  /** where the subsets stand that have the port */
  readonly places: number[];
}

interface PackedAddress {
  readonly address: EndpointAddress;
  isReady: boolean;
}

/** The addresses of a port by addressKey, sorted. Ports of the same subsets have the same list. */
type Entries = readonly (readonly [string, PackedAddress])[];

/** The same addresses and ports in canonical form. The addresses themselves are not copied. */
export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const ports = new Map<string, PortAddresses>();
  for (const [place, subset] of subsets.entries()) {
    for (const port of subset.ports?.length ? subset.ports : [undefined]) {
      const key = portKey(port);
      const found = ports.get(key);
      if (found) found.places.push(place);
      else ports.set(key, { port, places: [place] });
    }
  }
  const shared = ports.size > 1 ? firstOfEach(subsets) : undefined;
  const known = new Map<string, Entries>();
  const entriesAt = (places: readonly number[]): Entries => {
    const key = places.join();
    const own = places.flatMap((place) => subsets[place] ?? []);
    const entries = known.get(key) ?? entriesOf(own, shared);
    known.set(key, entries);
    return entries;
  };
  return joined([...ports.entries()].sort(byKey).map(([, { port, places }]) => [port, entriesAt(places)]));
}

/** An address that several subsets have is the same one for all ports. */
function firstOfEach(subsets: readonly EndpointSubset[]): ReadonlyMap<string, EndpointAddress> {
  const first = new Map<string, EndpointAddress>();
  for (const { addresses, notReadyAddresses } of subsets) {
    for (const address of [...(addresses ?? []), ...(notReadyAddresses ?? [])]) {
      const key = addressKey(address);
      if (!first.has(key)) first.set(key, address);
    }
  }
  return first;
}

function entriesOf(subsets: readonly EndpointSubset[], shared: ReadonlyMap<string, EndpointAddress> | undefined): Entries {
  const entries = new Map<string, PackedAddress>();
  const note = (address: EndpointAddress, isReady: boolean): void => {
    const key = addressKey(address);
    const entry = entries.get(key);
    if (entry) entry.isReady &&= isReady;
    else entries.set(key, { address: shared?.get(key) ?? address, isReady });
  };
  for (const { addresses, notReadyAddresses } of subsets) {
    for (const address of addresses ?? []) note(address, true);
    for (const address of notReadyAddresses ?? []) note(address, false);
  }
  return [...entries.entries()].sort(byKey);
}

/** Ports with equal addresses in one subset; subsets in the order of their first ports. */
function joined(ports: readonly (readonly [EndpointPort | undefined, Entries])[]): EndpointSubset[] {
  const subsets = new Map<string, EndpointSubset>();
  const keys = new Map<Entries, string>();
  for (const [port, entries] of ports) {
    const key = keys.get(entries) ?? entries.map(([address, { isReady }]) => `${address} ${isReady}`).join();
    keys.set(entries, key);
    const subset = subsets.get(key);
    if (subset) {
      if (port) (subset.ports ??= []).push(port);
      continue;
    }
    const those = (wanted: boolean): EndpointAddress[] =>
      entries.flatMap(([, { address, isReady }]) => (isReady === wanted ? address : []));
    const [readyOnes, others] = [those(true), those(false)];
    if (readyOnes.length + others.length === 0) continue;
    subsets.set(key, {
      ...(readyOnes.length > 0 && { addresses: readyOnes }),
      ...(others.length > 0 && { notReadyAddresses: others }),
      ...(port && { ports: [port] }),
    });
  }
  return [...subsets.values()];
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Addresses are never changed in place, and a Service has the same ones look after look. */
const addressKeys = new WeakMap<EndpointAddress, string>();

/** Equal for one address; packed addresses are in its order. */
export function addressKey(address: EndpointAddress): string {
  let key = addressKeys.get(address);
  if (key === undefined) {
    key = `${address.ip} ${address.targetRef?.uid ?? ""}`;
    addressKeys.set(address, key);
  }
  return key;
}

function portKey(port: EndpointPort | undefined): string {
  if (!port) return "";
  return JSON.stringify([port.name ?? "", port.protocol ?? "TCP", port.port, port.appProtocol ?? null]);
}
