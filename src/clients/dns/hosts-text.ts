/** The names of a cluster's Services as a file of hosts (man 5 hosts), which name servers such as dnsmasq read. */
import { addressLabel, type NamedService, type NamedSlice } from "./named-service";

/** The first line. A file without it is somebody else's. */
export const HOSTS_MARK = "# The names of Services. npm run dns replaces this file.";

export interface HostsOptions {
  /** below which the names stand, such as cluster.local */
  readonly domain: string;
  /** where ClusterIPs and endpoints are reached from here; absent: at their own addresses */
  placeOf?(this: void, address: string, of: "clusterIP" | "endpoint"): string;
}

/**
 * A line for each address of each Service. The first name of an address is the one that its reverse lookup finds. So ClusterIPs stand before
 * endpoints, as CoreDNS looks for them, and the name of an endpoint stands before that of its Service. Of several names of an endpoint, the one with
 * its Pod's hostname comes before one made of its address, whatever Service it belongs to; then the first by name. Equal input in any order gives an
 * equal text.
 */
export function hostsText(services: Iterable<NamedService>, slices: Iterable<NamedSlice>, options: HostsOptions): string {
  const place = options.placeOf ?? ((address: string) => address);
  const suffix = `svc.${options.domain}`;
  const endpoints = endpointsByService(slices);
  const fixed: string[] = [];
  const withHostname: string[] = [];
  const withoutHostname: string[] = [];
  for (const { namespace, name, clusterIPs } of services) {
    const whole = `${name}.${namespace}.${suffix}`;
    for (const address of clusterIPs ?? []) fixed.push(`${place(address, "clusterIP")} ${whole}`);
    if (clusterIPs) continue;
    for (const [address, labels] of endpoints.get(serviceKey(namespace, name)) ?? []) {
      const made = addressLabel(address);
      const hostnames = [...labels].filter((label) => label !== made).sort();
      const names = [...hostnames, ...(labels.has(made) ? [made] : [])].map((label) => `${label}.${whole}`);
      (hostnames.length > 0 ? withHostname : withoutHostname).push([place(address, "endpoint"), ...names, whole].join(" "));
    }
  }
  return [HOSTS_MARK, ...byName(fixed), ...byName(withHostname), ...byName(withoutHostname), ""].join("\n");
}

/** The labels of each address, by Service. */
function endpointsByService(slices: Iterable<NamedSlice>): Map<string, Map<string, Set<string>>> {
  const services = new Map<string, Map<string, Set<string>>>();
  for (const { namespace, service, endpoints } of slices) {
    const key = serviceKey(namespace, service);
    let addresses = services.get(key);
    if (!addresses) services.set(key, (addresses = new Map<string, Set<string>>()));
    for (const { address, label } of endpoints) addresses.set(address, (addresses.get(address) ?? new Set()).add(label));
  }
  return services;
}

function serviceKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Lines in the order of their last name, then of what stands before it. */
function byName(lines: readonly string[]): string[] {
  const keyOf = (line: string): string => `${line.slice(line.lastIndexOf(" ") + 1)} ${line}`;
  return lines
    .map((line) => ({ line, key: keyOf(line) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ line }) => line);
}
