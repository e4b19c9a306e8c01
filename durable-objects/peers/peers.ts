/**
 * Which Durable Object answers for what. Every name starts with the cluster's, so no two clusters ever share an object. The deployment's own
 * tokens and the directory of clusters alone belong to no cluster.
 * A stub is dead after a throw, so each function makes a new one: call it once per attempt.
 * Every stub of a cluster's object says where the cluster is. The platform makes an object where the first stub says, and never moves it.
 */
import type { ResourceDefinition } from "../../src/api/registry/resource";
import { type StoredResource, storedDefinitionsIn } from "../../src/api/registry/all";
import { poolAddressesDefinition } from "../../src/api/registry/ipam/definitions";
import { resourceOfKind } from "../../src/access/rbac/rbac-resources";
import type { SigningKeysRpc, TokensRpc } from "../../src/access/authentication/rpc";
import type {
  ClusterNamesRpc,
  ClusterRecordRpc,
  ClusterShardRpc,
  RangedObject,
  Recoverable,
  SwitchedObject,
  Wipeable,
} from "../../src/tenancy/rpc";
import type { CoordinatorObject } from "../../src/addresses/rpc/topology";
import type { IPAddressesRpc } from "../../src/addresses/rpc/ip-addresses";
import type { CountedOwner, InspectedOwner, ServiceCIDRRpc } from "../../src/addresses/rpc/service-cidr";
import type { EndpointCountsRpc } from "../../src/endpoints/rpc/endpoint-counts";
import type { ObjectFeed } from "../../src/api/rpc/object-feed";
import type { LabelledStore, LabelSource } from "../../src/api/rpc/namespace-labels";
import type { QuotaSeedingStore } from "../../src/api/rpc/namespace-quotas";
import type { LimitedStore, LimitSource } from "../../src/api/rpc/quota";
import type { ValuedStore } from "../../src/api/rpc/object-values";
import type { VisitListRpc } from "../../src/api/rpc/visits";
import type { PolicyRpc } from "../../src/api/rpc/policy";
import type { BalancedServicesRpc, BalancerBookRpc } from "../../src/api/rpc/load-balancers";
import type { FleetPoolsRpc } from "../../src/api/rpc/fleet-pools";
import type { PoolBookRpc } from "../../src/api/rpc/pool-book";
import type { LinkedStore } from "../../src/api/rpc/object-links";
import type { ListedNodePorts, RepairedNodePorts } from "../../src/addresses/rpc/repaired-node-ports";
import type { AuditedStore, RepairControllerRpc, RepairedAddresses, RepairedOwner, RepairedServices } from "../../src/addresses/rpc/repair";
import type {
  BatchedStore,
  CollectionRequest,
  ControllerRpc,
  ExpiringStoreRpc,
  MaintainedStore,
  ServicesStoreRpc,
  StoreRpc,
} from "../../src/api/rpc/store";
import type { FetchLike } from "../../src/api/client/fetch-like";
import { COLLECTION_HEADER, encodeCollection } from "../../src/api/store/list/collection-header";
import { collectionOf } from "../../src/api/store/list/collection-path";
import { parseStoreName, storeName } from "../../src/api/store/list/list-copy";
import type { ProxyViewRpc } from "../../src/endpoints/proxy-config/poll";
import type { NodeProxyRpc, ProxyHealthControllerRpc } from "../../src/proxy-health/rpc";
import { isRootCluster, locationOf } from "../../src/tenancy/cluster-id";
import { CREDENTIALS, nodeProxyName, nodeProxyOf, PROXY_VIEW } from "../../src/tenancy/cluster-objects";
import type { Location } from "../../src/core/config/location";
import type { ClusterObject } from "../../src/tenancy/record-storage";
import { clusterShardName, clusterShardOf } from "../../src/tenancy/shards";
import type { ControllerStatusRpc } from "../../src/controllers/frame/status";
import type { ControllerName } from "../platform/controllers";
import type { Env } from "../platform/env";
import { naming } from "../platform/versions";

/** The methods of a peer as a stub offers them: whatever they return arrives as a promise. */
export type Remote<T> = {
  [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** The one cast from a platform stub to the contract its class implements. Its calls name the version that this release speaks. */
function remote<T>(stub: DurableObjectStub): Remote<T> {
  return naming(stub) as Remote<T>;
}

/** Where an object is, as the platform takes it. */
interface Place {
  id: DurableObjectId;
  options?: DurableObjectNamespaceGetDurableObjectOptions;
}

/** Deriving an id from a name costs a hash; ids are plain data, so they are kept. Beyond the bound a namespace's map starts over. */
const PLACES_MAX = 10_000;
const placesOf = new WeakMap<DurableObjectNamespace, Map<string, Place>>();

/** A new stub of the object with this name, which begins with the id of its cluster. */
function stubOf<T>(namespace: DurableObjectNamespace, name: string): Remote<T> {
  let places = placesOf.get(namespace);
  if (!places) placesOf.set(namespace, (places = new Map<string, Place>()));
  let place = places.get(name);
  if (!place) {
    const slash = name.indexOf("/");
    place = { id: namespace.idFromName(name), ...hint(slash < 0 ? undefined : locationOf(name.slice(0, slash))) };
    if (places.size >= PLACES_MAX) places.clear();
    places.set(name, place);
  }
  return remote<T>(namespace.get(place.id, place.options));
}

function hint(location: Location | undefined): Pick<Place, "options"> {
  // The pinned types lack the newest places.
  return location === undefined ? {} : { options: { locationHint: location as DurableObjectLocationHint } };
}

export function storeStub<T = StoreRpc & MaintainedStore>(env: Env, cluster: string, { group, resource }: StoredResource): Remote<T> {
  const name = storeName(cluster, { group, resource });
  switch (name.slice(cluster.length + 1)) {
    case "services":
      return stubOf<T>(env.SERVICES_STORE, name);
    case "servicecidrs.networking.k8s.io":
      return stubOf<T>(env.COORDINATOR, `${cluster}/coordinator`);
    case "ipaddresses.networking.k8s.io":
      return stubOf<T>(env.IP_ADDRESSES_STORE, name);
    default:
      return stubOf<T>(env.RESOURCE_STORE, name);
  }
}

/** Every store of the cluster, each once; `store` makes a stub for one call. */
export function allStores(
  env: Env,
  cluster: string,
): { definition: ResourceDefinition; store(): Remote<StoreRpc & BatchedStore & MaintainedStore & LinkedStore & LimitedStore> }[] {
  return storedDefinitionsIn(isRootCluster(cluster)).map((definition) => ({
    definition,
    store: () => storeStub(env, cluster, definition),
  }));
}

export function servicesStore(
  env: Env,
  cluster: string,
): Remote<
  ServicesStoreRpc &
    RepairedServices &
    RepairedNodePorts &
    ListedNodePorts &
    AuditedStore &
    LabelledStore &
    ObjectFeed &
    RangedObject &
    BalancedServicesRpc
> {
  return storeStub(env, cluster, { group: "", resource: "services" });
}

export function namespacesStore(
  env: Env,
  cluster: string,
): Remote<StoreRpc & MaintainedStore & LabelSource & ObjectFeed & QuotaSeedingStore> {
  return storeStub(env, cluster, { group: "", resource: "namespaces" });
}

export function resourceQuotasStore(env: Env, cluster: string): Remote<StoreRpc & MaintainedStore & ObjectFeed & LimitSource> {
  return storeStub(env, cluster, { group: "", resource: "resourcequotas" });
}

/** The store of ClusterRoles, which compiles all rules of the cluster. */
export function policyStore(env: Env, cluster: string): Remote<PolicyRpc> {
  return storeStub<PolicyRpc>(env, cluster, resourceOfKind("ClusterRole"));
}

/** The store of the addresses of pools, which knows all pools. */
export function poolBook(env: Env, cluster: string): Remote<PoolBookRpc & BalancerBookRpc & FleetPoolsRpc> {
  return storeStub<PoolBookRpc & BalancerBookRpc & FleetPoolsRpc>(env, cluster, poolAddressesDefinition);
}

export function eventsStore(env: Env, cluster: string): Remote<ExpiringStoreRpc> {
  return storeStub<ExpiringStoreRpc>(env, cluster, { group: "", resource: "events" });
}

export function leasesStore(env: Env, cluster: string): Remote<ExpiringStoreRpc & ValuedStore> {
  return storeStub<ExpiringStoreRpc & ValuedStore>(env, cluster, { group: "coordination.k8s.io", resource: "leases" });
}

export function ipAddressesStore(
  env: Env,
  cluster: string,
): Remote<IPAddressesRpc & StoreRpc & MaintainedStore & RepairedAddresses & AuditedStore & ObjectFeed> {
  return storeStub(env, cluster, { group: "networking.k8s.io", resource: "ipaddresses" });
}

export function coordinator(env: Env, cluster: string): Remote<CoordinatorObject & StoreRpc & MaintainedStore & ObjectFeed & RangedObject> {
  return storeStub(env, cluster, { group: "networking.k8s.io", resource: "servicecidrs" });
}

/** The only object that writes the addresses of one ServiceCIDR, named by its uid for ever (rule 9). */
export function owner(env: Env, cluster: string, uid: string): Remote<ServiceCIDRRpc & CountedOwner & InspectedOwner & RepairedOwner> {
  return stubOf<ServiceCIDRRpc & CountedOwner & InspectedOwner & RepairedOwner>(env.SERVICE_CIDR, `${cluster}/${uid}`);
}

export function controller(env: Env, cluster: string, name: ControllerName): Remote<ControllerRpc & ControllerStatusRpc> {
  return stubOf<ControllerRpc & ControllerStatusRpc>(env.CONTROLLER, `${cluster}/controllers/${name}`);
}

/** The repair controller. It also answers cron's ticks, and for its metrics and requested sweeps. */
export function repairStub(env: Env, cluster: string): Remote<ControllerRpc & RepairControllerRpc & VisitListRpc> {
  return stubOf<ControllerRpc & RepairControllerRpc & VisitListRpc>(env.CONTROLLER, `${cluster}/controllers/repair`);
}

/** The cluster's view for the proxies of its nodes. */
export function proxyView(env: Env, cluster: string): Remote<ProxyViewRpc> {
  return stubOf<ProxyViewRpc>(env.PROXY_VIEW, `${cluster}/${PROXY_VIEW}`);
}

/** The object that keeps the health of a node. */
export function nodeProxy(env: Env, cluster: string, node: string): Remote<NodeProxyRpc> {
  return stubOf<NodeProxyRpc>(env.NODE_PROXY, `${cluster}/${nodeProxyOf(node)}`);
}

/** The same by its number. */
export function nodeProxyShard(env: Env, cluster: string, shard: number): Remote<NodeProxyRpc> {
  return stubOf<NodeProxyRpc>(env.NODE_PROXY, `${cluster}/${nodeProxyName(shard)}`);
}

/** The controller that tells the objects with the health of nodes what changed. It also knows what load balancers may have as targets. */
export function proxyHealthStub(env: Env, cluster: string): Remote<ControllerRpc & ProxyHealthControllerRpc> {
  return stubOf<ControllerRpc & ProxyHealthControllerRpc>(env.CONTROLLER, `${cluster}/controllers/proxy-health`);
}

/** The cluster's collections, as followers ask for them. */
export function storesFetch(env: Env, cluster: string, more: Partial<Pick<CollectionRequest, "unfollowed">> = {}): FetchLike {
  return (path, { signal }) => {
    const request = { ...collectionOf(path), ...more };
    const headers = { [COLLECTION_HEADER]: encodeCollection(request) };
    return storeStub(env, cluster, request).fetch(new Request("http://store/collection", { headers, signal }));
  };
}

/** A controller of slices, which answers for its metrics. */
export function slicesStub(
  env: Env,
  cluster: string,
  name: "endpointslice-controller" | "endpointslice-mirroring-controller",
): Remote<EndpointCountsRpc> {
  return stubOf<EndpointCountsRpc>(env.CONTROLLER, `${cluster}/controllers/${name}`);
}

/**
 * The record of the cluster that clients know by this name, in every life of the name.
 *
 * @param location where the cluster is, or is to be; undefined = nobody knows, and the record is there
 */
export function clusterRecord(env: Env, name: string, location?: Location): Remote<ClusterRecordRpc> {
  const { CLUSTER_RECORD } = env;
  return remote<ClusterRecordRpc>(CLUSTER_RECORD.get(CLUSTER_RECORD.idFromName(`${name}/record`), hint(location).options));
}

/** The list of all clusters. It belongs to no cluster. */
export function clusterNames(env: Env): Remote<ClusterNamesRpc> {
  return stubOf<ClusterNamesRpc>(env.CLUSTER_NAMES, "clusters");
}

/** The shard of the directory that has the cluster of this id. It belongs to no cluster. */
export function clusterShard(env: Env, id: string): Remote<ClusterShardRpc> {
  return shardStub(env, clusterShardOf(id));
}

/** The same by its number. */
export function shardStub(env: Env, shard: number): Remote<ClusterShardRpc> {
  return stubOf<ClusterShardRpc>(env.CLUSTER_NAMES, clusterShardName(shard));
}

/** The deployment's own bearer tokens. They belong to no cluster. */
export function bearerTokens(env: Env): Remote<TokensRpc> {
  return stubOf<TokensRpc>(env.CREDENTIAL_STORE, CREDENTIALS);
}

/** The keys that sign the service account tokens of the cluster of this id. */
export function signingKeys(env: Env, cluster: string): Remote<SigningKeysRpc> {
  return stubOf<SigningKeysRpc>(env.CREDENTIAL_STORE, `${cluster}/${CREDENTIALS}`);
}

/**
 * One object of the cluster of this id, as the cluster's record calls it. Owners, views, credentials and the health of nodes do not answer
 * `setControllers`, views and credentials do not answer `recover`.
 */
export function recordedObject(env: Env, id: string, { kind, name }: ClusterObject): Remote<Wipeable & SwitchedObject & Recoverable> {
  switch (kind) {
    case "controller":
      return stubOf<Wipeable & SwitchedObject & Recoverable>(env.CONTROLLER, `${id}/controllers/${name}`);
    case "view":
      return stubOf<Wipeable & SwitchedObject & Recoverable>(env.PROXY_VIEW, `${id}/${name}`);
    case "credentials":
      return stubOf<Wipeable & SwitchedObject & Recoverable>(env.CREDENTIAL_STORE, `${id}/${name}`);
    case "node-proxy":
      return stubOf<Wipeable & SwitchedObject & Recoverable>(env.NODE_PROXY, `${id}/${name}`);
    case "owner":
      return stubOf<Wipeable & SwitchedObject & Recoverable>(env.SERVICE_CIDR, `${id}/${name}`);
    case "store":
      return storeStub<Wipeable & SwitchedObject & Recoverable>(env, id, parseStoreName(`${id}/${name}`));
  }
}
