/** A check reads a cluster from outside: the Kubernetes API of any server, and the owners of addresses of Servicenet. */
import type { CheckSource } from "../../src/tools/check/check-cluster";
import {
  type CheckedKind,
  isWhole,
  type Listed,
  observedIPAddress,
  observedNode,
  observedService,
  type ObservedServiceCIDR,
} from "../../src/tools/check/observed";
import type { NodePortsView } from "../../src/tools/check/node-port-rows";
import {
  observedClaim,
  observedPool,
  type ObservedPool,
  observedPoolAddress,
  type ObservedPools,
  POOL_ADDRESS,
} from "../../src/tools/check/pools";
import { type AddressPool, POOL_KINDS } from "../../src/api/registry/ipam/ipam";
import type { SliceControllerView } from "../../src/tools/check/slices";
import { advertisedIn } from "../../src/tools/check/surroundings";
import type { ServiceEndpoint } from "../../src/tools/check/wanted-endpoints";
import { type OwnerPage, type OwnersView, readOwners } from "../../src/tools/check/read-owners";
import type { Endpoints, EndpointSlice, KubeObject, Pod } from "../../src/api/meta/kubernetes";
import type { RangesView } from "../../src/addresses/ranges/service-ranges";
import { type Answer, type Api, collectionPath } from "../cluster/api";
import { UserError } from "../terminal/user-error";

const OWNERS_PATH = "/check/owners";
const NODE_PORTS_PATH = "/check/nodeports";
const SLICE_CONTROLLER_PATH = "/check/slices";
const NODES_PATH = "/api/v1/nodes";
const PODS_PATH = "/api/v1/pods";
const POOLS_PATH = "/apis/ipam.cluster.x-k8s.io/v1alpha2";
const CLAIMS_PATH = "/apis/ipam.cluster.x-k8s.io/v1beta2";
const SLICES_PATH = "/apis/discovery.k8s.io/v1/endpointslices";

export function apiSource(api: Api): CheckSource {
  return {
    services: async () => {
      const listed = await listedOf(api, "Service", collectionPath("Service"), each(observedService));
      if (!listed) throw new UserError(`${api.url} serves no Services: it is no Kubernetes API server`);
      return listed;
    },
    ipAddresses: () => listedOf(api, "IPAddress", collectionPath("IPAddress"), each(observedIPAddress)),
    serviceCIDRs: () => listedOf(api, "ServiceCIDR", collectionPath("ServiceCIDR"), (object: ObservedServiceCIDR) => [object]),
    ranges: async () => {
      const { code, object } = await api.get("/ranges");
      if (code !== 200) return undefined;
      const { IPv4, IPv6 } = (object as unknown as RangesView).ready;
      return [...IPv4.prefixes, ...IPv6.prefixes];
    },
    surroundings: async () => ({
      nodes: (await readable(api, "Node", NODES_PATH, each(observedNode)))?.objects,
      advertised: advertisedIn(
        await objectAt<Endpoints>(api, "/api/v1/namespaces/default/endpoints/kubernetes"),
        await objectAt<EndpointSlice>(api, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"),
      ),
    }),
    owners: async () => {
      const view = await api.get(OWNERS_PATH);
      if (isHidden(view)) return undefined;
      return readOwners({
        view: () => Promise.resolve(valueOf<OwnersView>(OWNERS_PATH, view)),
        page: async (uid, after) => valueOf<OwnerPage>(OWNERS_PATH, await api.get(`${OWNERS_PATH}/${uid}?after=${after}`)),
      });
    },
    nodePortRows: async () => {
      const answer = await api.get(NODE_PORTS_PATH);
      return isHidden(answer) ? undefined : valueOf<NodePortsView>(NODE_PORTS_PATH, answer).rows;
    },
    pools: () => poolsOf(api),
    sliceController: async () => {
      const answer = await api.get(SLICE_CONTROLLER_PATH);
      return isHidden(answer) ? undefined : valueOf<SliceControllerView>(SLICE_CONTROLLER_PATH, answer);
    },
    pods: (kept: (pod: Pod) => ServiceEndpoint[]) => readable(api, "Pod", PODS_PATH, kept),
    endpointSlices: (kept: (slice: EndpointSlice) => ServiceEndpoint[]) => readable(api, "EndpointSlice", SLICES_PATH, kept),
  };
}

function each<T, U>(observed: (object: T) => U): (object: T) => U[] {
  return (object) => [observed(object)];
}

/** Pools come before what is taken from them, and addresses are told to their claims. A part of the server whose release has no pools has none. */
async function poolsOf(api: Api): Promise<ObservedPools | undefined> {
  if ((await api.getOfThisRelease(`${POOLS_PATH}/inclusterippools?limit=1`)).code === 503) return undefined;
  const pools: Listed<ObservedPool>[] = [];
  for (const kind of POOL_KINDS) {
    const path = `${POOLS_PATH}/${kind.toLowerCase()}s`;
    const listed = await readable(api, kind, path, (pool: AddressPool) => [observedPool(kind, pool)]);
    if (!listed) return undefined;
    pools.push(listed);
  }
  const claims = await readable(api, "IPAddressClaim", `${CLAIMS_PATH}/ipaddressclaims`, each(observedClaim));
  const addresses = await readable(api, POOL_ADDRESS, `${CLAIMS_PATH}/ipaddresses`, each(observedPoolAddress));
  if (!claims || !addresses) return undefined;
  return {
    pools: pools.flatMap(({ objects }) => objects),
    claims: claims.objects,
    addresses: addresses.objects,
    unreadable: [...pools, claims, addresses].flatMap(({ unreadable }) => unreadable),
  };
}

/** undefined: not served, or hidden from this client */
async function readable<T, U>(api: Api, kind: CheckedKind, path: string, kept: (object: T) => U[]): Promise<Listed<U> | undefined> {
  return isHidden(await api.get(`${path}?limit=1`)) ? undefined : listedOf(api, kind, path, kept);
}

/** undefined: absent, or hidden from this client */
async function objectAt<T>(api: Api, path: string): Promise<T | undefined> {
  const { code, object } = await api.get(path);
  return code === 200 ? (object as T) : undefined;
}

/** undefined: not served */
async function listedOf<T, U>(api: Api, kind: CheckedKind, path: string, kept: (object: T) => U[]): Promise<Listed<U> | undefined> {
  const unreadable = (place: string): { unreadable: string } => ({ unreadable: `${kind} ${place}` });
  const list = await api.listWhole<{ objects: U[] } | { unreadable: string }>(
    path,
    (object) => (isWhole(kind, object) ? { objects: kept(object as T) } : unreadable(nameOf(object))),
    ({ key, before }) => unreadable(key || `behind ${before}`),
  );
  return (
    list && {
      objects: list.items.flatMap((item) => ("objects" in item ? item.objects : [])),
      unreadable: list.items.flatMap((item) => ("unreadable" in item ? item.unreadable : [])),
    }
  );
}

/** A member of a value of unknown shape. */
function nameOf(object: KubeObject | null): string {
  const { namespace, name } = object?.metadata ?? {};
  return `${namespace ? `${namespace}/` : ""}${name ?? "without a name"}`;
}

/** Another server does not have a path of ours, or forbids it. */
function isHidden({ code }: Answer): boolean {
  return code === 404 || code === 403;
}

function valueOf<T>(path: string, { code, message, object }: Answer): T {
  if (code !== 200) throw new UserError(`${path} answers ${code}: ${message}`);
  return object as unknown as T;
}
