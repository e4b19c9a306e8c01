/** What has to hold in a simulated cluster once everything is quiet; one line per violation. */
import { objectKey } from "../../../../src/api/store/state/keys";
import type { IPAddress, Service, ServiceCIDR } from "../../../../src/api/meta/kubernetes";
import { heldAddresses } from "../../../../src/addresses/clusterip/address-plan";
import { heldNodePorts } from "../../../../src/addresses/node-ports/node-port-plan";
import { isUsableIn } from "../../../../src/core/net/usable";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import type { ObservedService } from "../../../../src/tools/check/observed";
import { wrongRows } from "../../../../src/tools/check/owners";
import { readyCidrs } from "../../../../src/addresses/ranges/service-ranges";
import { checkCovered, checkNodePortsUnique, checkPaired, checkUnique } from "../../checks/checkers";
import { storedCounts } from "../../worlds/stored-history";
import type { SimPlatform } from "../platform/platform";

export function servicesOf(cluster: SimPlatform): Service[] {
  return cluster.tables.services.store.objectScan("", "").map(({ data }) => JSON.parse(data) as Service);
}

export function ipAddressesOf(cluster: SimPlatform): IPAddress[] {
  return cluster.tables.ipAddresses.store.objectScan("", "").map(({ data }) => JSON.parse(data) as IPAddress);
}

function serviceCIDRsOf(cluster: SimPlatform): ServiceCIDR[] {
  return cluster.tables.coordinator.store.objectScan("", "").map(({ data }) => JSON.parse(data) as ServiceCIDR);
}

/** The Services without the addresses that may lie in no ServiceCIDR: given out in one that was later taken away by force (rules 9, 12, 14). */
function withoutForced(cluster: SimPlatform, services: readonly Service[]): ObservedService[] {
  const forced = cluster.forced.flatMap(({ cidrs, epoch }) => cidrs.map((cidr) => ({ prefix: storedPrefix(cidr), epoch })));
  if (forced.length === 0) return [...services];
  const { ledger } = cluster.tables.services;
  const isLeft = (address: string): boolean => {
    const { family, base } = storedPrefix(`${address}/${address.includes(":") ? 128 : 32}`);
    const given = ledger.allocationGet(address)?.gen.epoch ?? Infinity;
    return forced.some(({ prefix, epoch }) => given <= epoch && isUsableIn(prefix, family, base));
  };
  return services.map((service) => withAddresses(service, (address) => !isLeft(address)));
}

/**
 * The Services without the addresses that are usable in no ServiceCIDR any more and that have no IPAddress: repair tells of them and leaves them as they
 * are, as upstream's does.
 */
function withoutBare(cluster: SimPlatform, services: readonly Service[], ipAddresses: readonly IPAddress[]): ObservedService[] {
  if (cluster.forced.length === 0) return [...services];
  const prefixes = serviceCIDRsOf(cluster).flatMap(({ spec }) => (spec?.cidrs ?? []).map(storedPrefix));
  const written = new Set(ipAddresses.map(({ metadata }) => metadata?.name));
  const isKept = (address: string): boolean => {
    const { family, base } = storedPrefix(`${address}/${address.includes(":") ? 128 : 32}`);
    return written.has(address) || prefixes.some((prefix) => isUsableIn(prefix, family, base));
  };
  return services.map((service) => withAddresses(service, isKept));
}

function withAddresses(service: Service, isKept: (address: string) => boolean): ObservedService {
  const { metadata, spec } = service;
  return { metadata, spec: { type: spec?.type, clusterIPs: heldAddresses(service).filter(isKept) } };
}

export interface Quiet {
  /** Repair has not run: a row that was taken for an object, which is listed under another token, still waits for it (row-repair.ts). */
  isUnrepaired?: boolean;
}

/** I1 to I3 by the objects, and nothing left in any table that no object accounts for. */
export async function checkQuiet(cluster: SimPlatform, { isUnrepaired = false }: Quiet = {}): Promise<string[]> {
  const services = servicesOf(cluster);
  const ipAddresses = ipAddressesOf(cluster);
  const violations = [
    ...checkUnique({ services }),
    ...checkNodePortsUnique({ services }),
    ...checkPaired({ services: withoutBare(cluster, services, ipAddresses), ipAddresses }),
    ...checkCovered({ services: withoutForced(cluster, services), serviceCIDRs: serviceCIDRsOf(cluster) }),
    ...checkLedgers(cluster),
  ];
  violations.push(...checkNodePorts(cluster, services), ...checkAllocations(cluster, services), ...checkCounts(cluster));
  violations.push(...(await checkOwners(cluster, isUnrepaired)), ...(await checkRows(cluster, { services, ipAddresses })));
  return violations;
}

function checkLedgers(cluster: SimPlatform): string[] {
  const violations: string[] = [];
  for (const [name, node] of [["services", cluster.services] as const, ["ipaddresses", cluster.ipAddresses] as const]) {
    const { ledger } = cluster.tables[name === "services" ? "services" : "ipAddresses"];
    for (const { token, address } of ledger.releases.values()) violations.push(`leak: ${name} still has to release ${address} (${token})`);
    const counted = node.brain.ledger.releases.count;
    if (counted !== ledger.releases.size) violations.push(`${name} counts ${counted} pending releases and has ${ledger.releases.size}`);
  }
  return violations;
}

/** The kept counts of every store are those of its objects. */
function checkCounts({ tables }: SimPlatform): string[] {
  const violations: string[] = [];
  for (const name of ["services", "ipAddresses", "coordinator", "namespaces", "leases"] as const) {
    const { store } = tables[name];
    const keys = store.objectScan("", "").map(({ key }) => objectKey(key));
    if (!store.stateLoad()) continue;
    const counts = storedCounts(store);
    if (counts.in("") !== keys.length) violations.push(`${name} counts ${String(counts.in(""))} objects and has ${keys.length}`);
    for (const namespace of new Set(keys.map((key) => key.namespace))) {
      const objects = keys.filter((key) => key.namespace === namespace).length;
      if (counts.in(namespace) !== objects && namespace !== "")
        violations.push(`${name} counts ${String(counts.in(namespace))} objects in ${namespace} and has ${objects}`);
    }
  }
  return violations;
}

/** Each ClusterIP has its allocation row, and each row its ClusterIP. */
function checkAllocations(cluster: SimPlatform, services: readonly Service[]): string[] {
  const rows = new Map(cluster.tables.services.ledger.allocations.values().map(({ address, key }) => [address, key]));
  const violations: string[] = [];
  for (const service of services) {
    const key = `${service.metadata?.namespace ?? ""}/${service.metadata?.name ?? ""}`;
    for (const address of heldAddresses(service)) {
      if (rows.get(address) !== key) violations.push(`${key} holds ${address}, which is written down for ${rows.get(address) ?? "nobody"}`);
      rows.delete(address);
    }
  }
  for (const [address, key] of rows) violations.push(`leak: ${address} is written down for ${key}, which does not hold it`);
  return violations;
}

/** Each node port has its row, and each row its Service. */
function checkNodePorts(cluster: SimPlatform, services: readonly Service[]): string[] {
  const rows = new Map(cluster.tables.services.nodePorts.rows.values().map(({ protocol, port, key }) => [`${protocol}/${port}`, key]));
  const violations: string[] = [];
  for (const service of services) {
    const key = `${service.metadata?.namespace ?? ""}/${service.metadata?.name ?? ""}`;
    for (const { protocol, port } of heldNodePorts(service)) {
      const nodePort = `${protocol}/${port}`;
      if (rows.get(nodePort) !== key)
        violations.push(`${key} holds ${nodePort}, which is written down for ${rows.get(nodePort) ?? "nobody"}`);
      rows.delete(nodePort);
    }
  }
  for (const [nodePort, key] of rows) violations.push(`leak: ${nodePort} is written down for ${key}, which does not hold it`);
  return violations;
}

/** Each row of an owner is known to the store that asked for it, and each allocation of a Service has its row. */
async function checkOwners(cluster: SimPlatform, isUnrepaired: boolean): Promise<string[]> {
  const violations: string[] = [];
  const found = new Set<string>();
  for (const [uid, { node }] of cluster.owners) {
    for (const row of (await node.brain.rowsSince(0, 10_000)).rows) {
      const tables = row.holder.kind === "service" ? cluster.tables.services : cluster.tables.ipAddresses;
      const known = tables.ledger.allocationGet(row.address);
      const isAdopted = isUnrepaired && known !== undefined && known.token === row.holder.uid;
      if (known?.token !== row.token && !isAdopted)
        violations.push(`leak: ${uid} holds ${row.address} for ${row.holder.kind} ${row.holder.name}, which nobody has`);
      if (found.has(row.address)) violations.push(`I1: two owners hold ${row.address}`);
      found.add(row.address);
    }
  }
  for (const { address, key } of cluster.tables.services.ledger.allocations.values()) {
    if (!found.has(address)) violations.push(`I1: no owner knows that ${key} holds ${address}`);
  }
  return violations;
}

/** Each row against the object that it is held for, and each object against its row, as a check of a live cluster judges them. */
async function checkRows(cluster: SimPlatform, observed: { services: Service[]; ipAddresses: IPAddress[] }): Promise<string[]> {
  const claims = Object.values(cluster.coordinatorStorage.contents.claims);
  const owners = await Promise.all(
    [...cluster.owners].map(async ([uid, { node }]) => ({ uid, rows: (await node.brain.rowsSince(0, 10_000)).rows, differs: "" })),
  );
  return wrongRows(observed, { claims, owners }, cluster.onlyRanges ?? readyCidrs(serviceCIDRsOf(cluster))).map(
    ({ rule, message }) => `${rule}: ${message}`,
  );
}
