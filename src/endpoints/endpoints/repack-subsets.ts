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
  /** by addressKey: whether it is ready */
  readonly ready: Map<string, boolean>;
}

/** The same addresses and ports in canonical form. The addresses themselves are not copied. */
export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const addresses = new Map<string, EndpointAddress>();
  const ports = new Map<string, PortAddresses>();
  for (const subset of subsets) {
    const subsetPorts = subset.ports?.length ? subset.ports : [undefined];
    for (const port of subsetPorts) {
      const key = portKey(port);
      const found = ports.get(key) ?? { port, ready: new Map<string, boolean>() };
      ports.set(key, found);
      for (const address of subset.addresses ?? []) note(address, true, addresses, found);
      for (const address of subset.notReadyAddresses ?? []) note(address, false, addresses, found);
    }
  }
  return joined([...ports.entries()].sort(byKey), addresses);
}

function note(address: EndpointAddress, ready: boolean, addresses: Map<string, EndpointAddress>, { ready: known }: PortAddresses): void {
  const key = addressKey(address);
  if (!addresses.has(key)) addresses.set(key, address);
  known.set(key, ready && (known.get(key) ?? true));
}

/** Ports with equal addresses in one subset; subsets in the order of their first ports. */
function joined(ports: readonly [string, PortAddresses][], addresses: ReadonlyMap<string, EndpointAddress>): EndpointSubset[] {
  const subsets = new Map<string, EndpointSubset>();
  for (const [, { port, ready }] of ports) {
    const entries = [...ready.entries()].sort(byKey);
    const key = entries.map(([address, isReady]) => `${address} ${isReady}`).join();
    const subset = subsets.get(key);
    if (subset) {
      if (port) (subset.ports ??= []).push(port);
      continue;
    }
    const those = (wanted: boolean): EndpointAddress[] =>
      entries.flatMap(([at, isReady]) => (isReady === wanted ? (addresses.get(at) ?? []) : []));
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

function addressKey({ ip, targetRef }: EndpointAddress): string {
  return `${ip} ${targetRef?.uid ?? ""}`;
}

function portKey(port: EndpointPort | undefined): string {
  if (!port) return "";
  return JSON.stringify([port.name ?? "", port.protocol ?? "TCP", port.port, port.appProtocol ?? null]);
}
