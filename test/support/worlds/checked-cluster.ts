/** A small healthy cluster as a check sees it, to be damaged by tests. */
import type { CheckSource } from "../../../src/tools/check/check-cluster";
import type { Listed, ObservedIPAddress, ObservedOwners, ObservedService, ObservedServiceCIDR } from "../../../src/tools/check/observed";
import { observedClaim, observedPool, observedPoolAddress, type ObservedPools } from "../../../src/tools/check/pools";
import type { AddressClaim, AddressPool, PoolAddress } from "../../../src/api/registry/ipam/ipam";
import type { EndpointSlice, Pod } from "../../../src/api/meta/kubernetes";
import type { NodePortRow } from "../../../src/addresses/rpc/repaired-node-ports";
import type { SliceControllerView } from "../../../src/tools/check/slices";
import type { Surroundings } from "../../../src/tools/check/surroundings";

export interface CheckedCluster {
  services: ObservedService[];
  ipAddresses: ObservedIPAddress[] | undefined;
  serviceCIDRs: ObservedServiceCIDR[] | undefined;
  ranges: string[] | undefined;
  surroundings: Surroundings;
  owners: ObservedOwners | undefined;
  nodePortRows: NodePortRow[] | undefined;
  sliceController: SliceControllerView | undefined;
  pods: Pod[] | undefined;
  endpointSlices: EndpointSlice[] | undefined;
  pools: PoolObjects | undefined;
  /** labels of stored objects of any kind that cannot be read */
  unreadable: string[];
}

/** Pools of namespaces, global ones, those of prefixes, and what is taken from them. */
export interface PoolObjects {
  pools: AddressPool[];
  globalPools: AddressPool[];
  prefixPools?: AddressPool[];
  claims: AddressClaim[];
  addresses: PoolAddress[];
}

/** The creation time of every test object, in milliseconds since the epoch. */
export const MADE_AT = Date.UTC(2026, 0, 1);
const OWNER = "owner-1";

export function service(name: string, address: string, spec: ObservedService["spec"] = {}): ObservedService {
  return { metadata: { namespace: "default", name, uid: `uid-${name}` }, spec: { type: "ClusterIP", clusterIPs: [address], ...spec } };
}

export function ipAddress(address: string, parent: string): ObservedIPAddress {
  return {
    metadata: {
      name: address,
      uid: `uid-${address}`,
      creationTimestamp: new Date(MADE_AT).toISOString(),
      labels: {
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        "ipaddress.kubernetes.io/ip-family": address.includes(":") ? "IPv6" : "IPv4",
      },
    },
    spec: { parentRef: { group: "", resource: "services", namespace: "default", name: parent } },
  };
}

export function serviceCIDR(name: string, cidrs: string[], ready = true): ObservedServiceCIDR {
  const condition = {
    type: "Ready",
    status: ready ? "True" : "False",
    reason: ready ? "" : "Seeding",
    message: "",
    lastTransitionTime: "",
  };
  return { metadata: { name, uid: `uid-${name}` }, spec: { cidrs }, status: { conditions: [condition] } };
}

export function row(address: string, name: string, kind: "service" | "ipaddress" = "service") {
  return { address, holder: { kind, namespace: "default", name, uid: `uid-${name}` } };
}

export function healthy(): CheckedCluster {
  return {
    services: [service("kubernetes", "10.96.0.1"), service("web", "10.96.0.20", { ports: [{ protocol: "TCP", nodePort: 30080 }] })],
    ipAddresses: [ipAddress("10.96.0.1", "kubernetes"), ipAddress("10.96.0.20", "web")],
    serviceCIDRs: [serviceCIDR("kubernetes", ["10.96.0.0/16"])],
    ranges: undefined,
    surroundings: {
      nodes: [
        {
          metadata: { name: "one", uid: "uid-one" },
          spec: { podCIDRs: ["10.244.0.0/24"] },
          status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] },
        },
      ],
      advertised: ["192.0.2.100"],
    },
    unreadable: [],
    owners: {
      claims: [{ prefix: "10.96.0.0/16", ownerUid: OWNER }],
      owners: [{ uid: OWNER, rows: [row("10.96.0.1", "kubernetes"), row("10.96.0.20", "web")], differs: "" }],
      silent: [],
    },
    nodePortRows: [{ protocol: "TCP", port: 30080, key: "default/web" }],
    sliceController: { running: true, batchMs: 0 },
    pods: [],
    endpointSlices: [],
    pools: undefined,
  };
}

function observedIn(objects: PoolObjects | undefined, unreadable: readonly string[]): ObservedPools | undefined {
  if (!objects) return undefined;
  const { pools, globalPools, prefixPools = [], claims, addresses } = objects;
  return {
    pools: [
      ...pools.map((pool) => observedPool("InClusterIPPool", pool)),
      ...globalPools.map((pool) => observedPool("GlobalInClusterIPPool", pool)),
      ...prefixPools.map((pool) => observedPool("InClusterPrefixPool", pool)),
    ],
    claims: claims.map(observedClaim),
    addresses: addresses.map(observedPoolAddress),
    unreadable: unreadable.filter((label) => !/^(Service|IPAddress|ServiceCIDR|Pod|EndpointSlice) /.test(label)),
  };
}

/** Reads the present state of `cluster`. */
export function sourceOf(cluster: () => CheckedCluster): CheckSource {
  const listed = <T>(kind: string, objects: T[] | undefined): Promise<Listed<T> | undefined> =>
    Promise.resolve(objects && { objects, unreadable: cluster().unreadable.filter((label) => label.startsWith(`${kind} `)) });
  return {
    services: async () => (await listed("Service", cluster().services)) ?? { objects: [], unreadable: [] },
    ipAddresses: () => listed("IPAddress", cluster().ipAddresses),
    serviceCIDRs: () => listed("ServiceCIDR", cluster().serviceCIDRs),
    ranges: () => Promise.resolve(cluster().ranges),
    surroundings: () => Promise.resolve(cluster().surroundings),
    owners: () => Promise.resolve(cluster().owners),
    nodePortRows: () => Promise.resolve(cluster().nodePortRows),
    pools: () => Promise.resolve(observedIn(cluster().pools, cluster().unreadable)),
    sliceController: () => Promise.resolve(cluster().sliceController),
    pods: (kept) => listed("Pod", cluster().pods?.flatMap(kept)),
    endpointSlices: (kept) => listed("EndpointSlice", cluster().endpointSlices?.flatMap(kept)),
  };
}
