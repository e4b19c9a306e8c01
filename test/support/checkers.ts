/**
 * The invariants of the design as checks over what can be observed through the API: lists of Services, IPAddresses and ServiceCIDRs,
 * and the answers that clients got. Pure; each returns one line per violation, so [] is a pass. Simulation, object and
 * end-to-end tests share them.
 *
 * I5 (order) is a property of a history, not of a state: `checkOrdered` takes the events of one watch.
 */
import { parseAddress } from "../../src/net/address";
import { parsePrefix } from "../../src/net/prefix";
import { isUsableIn } from "../../src/net/usable";

interface ObservedMeta {
  name?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
}
export interface ObservedService {
  metadata?: ObservedMeta;
  spec?: {
    type?: string;
    clusterIP?: string;
    clusterIPs?: string[];
    ports?: { protocol?: string; nodePort?: number }[];
    healthCheckNodePort?: number;
  };
}
export interface ObservedIPAddress {
  metadata?: ObservedMeta;
  spec?: { parentRef?: { group?: string; resource?: string; namespace?: string; name?: string } };
}
export interface ObservedServiceCIDR {
  metadata?: ObservedMeta;
  spec?: { cidrs?: string[] };
}

/** One cluster at one moment. */
export interface Observed {
  services: readonly ObservedService[];
  ipAddresses: readonly ObservedIPAddress[];
  serviceCIDRs: readonly ObservedServiceCIDR[];
}

/** I1: no address is held by two Services. */
export function checkUnique({ services }: Pick<Observed, "services">): string[] {
  const holders = new Map<string, string>();
  const violations: string[] = [];
  for (const service of services) {
    for (const address of addressesOf(service)) {
      const other = holders.get(address);
      if (other !== undefined) violations.push(`I1: ${address} is held by ${other} and by ${keyOf(service)}`);
      holders.set(address, keyOf(service));
    }
  }
  return violations;
}

/** I1 for node ports: no port of the nodes belongs to two Services with one protocol, and each lies in 30000-32767. */
export function checkNodePortsUnique({ services }: Pick<Observed, "services">): string[] {
  const holders = new Map<string, string>();
  const violations: string[] = [];
  for (const service of services) {
    const { ports = [], healthCheckNodePort = 0 } = service.spec ?? {};
    for (const { protocol = "TCP", nodePort = 0 } of [...ports, { nodePort: healthCheckNodePort }]) {
      if (nodePort === 0) continue;
      if (nodePort < 30000 || nodePort > 32767) violations.push(`I3: ${keyOf(service)} holds node port ${nodePort}, outside 30000-32767`);
      const other = holders.get(`${protocol}/${nodePort}`);
      if (other !== undefined) violations.push(`I1: node port ${protocol}/${nodePort} is held by ${other} and by ${keyOf(service)}`);
      holders.set(`${protocol}/${nodePort}`, keyOf(service));
    }
  }
  return violations;
}

/** I2: the ClusterIPs of Services and the IPAddresses whose parent is a Service are one-to-one. */
export function checkPaired({ services, ipAddresses }: Pick<Observed, "services" | "ipAddresses">): string[] {
  const violations: string[] = [];
  const parents = new Map<string, string>();
  for (const ipAddress of ipAddresses) {
    const parent = ipAddress.spec?.parentRef;
    if ((parent?.group ?? "") !== "" || parent?.resource !== "services") continue;
    parents.set(ipAddress.metadata?.name ?? "", `${parent.namespace ?? ""}/${parent.name ?? ""}`);
  }
  for (const service of services) {
    for (const address of addressesOf(service)) {
      const parent = parents.get(address);
      if (parent === undefined) violations.push(`I2: ${keyOf(service)} holds ${address}, which has no IPAddress`);
      else if (parent !== keyOf(service)) violations.push(`I2: ${keyOf(service)} holds ${address}, whose IPAddress names ${parent}`);
      parents.delete(address);
    }
  }
  for (const [address, parent] of parents) violations.push(`I2: the IPAddress ${address} names ${parent}, which does not hold it`);
  return violations;
}

/** I3: every ClusterIP is a usable address of some ServiceCIDR. */
export function checkCovered({ services, serviceCIDRs }: Pick<Observed, "services" | "serviceCIDRs">): string[] {
  const prefixes = serviceCIDRs
    .flatMap((serviceCIDR) => serviceCIDR.spec?.cidrs ?? [])
    .map(parsePrefix)
    .flatMap((prefix) => (prefix.ok ? [prefix.value] : []));
  return services.flatMap((service) =>
    addressesOf(service).flatMap((text) => {
      const address = parseAddress(text);
      if (!address.ok) return [`I3: ${keyOf(service)} holds "${text}", which is no address`];
      const { family, value } = address.value;
      return prefixes.some((prefix) => isUsableIn(prefix, family, value)) ? [] : [`I3: no ServiceCIDR covers ${text} of ${keyOf(service)}`];
    }),
  );
}

/** I4: every Service whose creation was answered with success, and that nobody deleted, is there with the answered uid and addresses. */
function checkDurable({ services }: Pick<Observed, "services">, acknowledged: readonly ObservedService[]): string[] {
  const present = new Map(services.map((service) => [keyOf(service), service]));
  return acknowledged.flatMap((answer) => {
    const service = present.get(keyOf(answer));
    if (!service) return [`I4: ${keyOf(answer)} was acknowledged and is gone`];
    if (service.metadata?.uid !== answer.metadata?.uid) return [`I4: ${keyOf(answer)} was acknowledged with another uid`];
    const [is, was] = [addressesOf(service).join(","), addressesOf(answer).join(",")];
    return is === was ? [] : [`I4: ${keyOf(answer)} was acknowledged with ${was} and has ${is}`];
  });
}

/** I5: resourceVersions of one watch, in the order in which they came, are integers that only grow. */
export function checkOrdered(resourceVersions: readonly string[]): string[] {
  return resourceVersions.flatMap((version, index) => {
    if (!/^[1-9]\d*$/.test(version)) return [`I5: resourceVersion "${version}" is no positive integer`];
    const before = resourceVersions[index - 1];
    return before === undefined || BigInt(version) > BigInt(before) ? [] : [`I5: resourceVersion ${version} came after ${before}`];
  });
}

/** I1 to I4 at once. */
export function checkState(observed: Observed, acknowledged: readonly ObservedService[] = []): string[] {
  return [...checkUnique(observed), ...checkPaired(observed), ...checkCovered(observed), ...checkDurable(observed, acknowledged)];
}

/** The allocated addresses of a Service: none when it is headless or an ExternalName. */
function addressesOf(service: ObservedService): string[] {
  if (service.spec?.type === "ExternalName") return [];
  const addresses = service.spec?.clusterIPs ?? (service.spec?.clusterIP ? [service.spec.clusterIP] : []);
  return addresses.filter((address) => address !== "None" && address !== "");
}

function keyOf(object: { metadata?: ObservedMeta }): string {
  return `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`;
}
