/**
 * Which Durable Object answers for what. Every name starts with the cluster's, so no two clusters ever share an object.
 * A stub is dead after a throw, so each function makes a new one: call it once per attempt.
 */
import type { ResourceDefinition } from "../src/registry/resource";
import { definitions } from "../src/registry/all";
import type { CoordinatorRpc, RangesRpc } from "../src/rpc/coordinator";
import type { IPAddressesRpc } from "../src/rpc/ip-addresses";
import type { CountedOwner, ServiceCIDRRpc } from "../src/rpc/service-cidr";
import type { ObjectFeed } from "../src/rpc/object-feed";
import type { LinkedStore } from "../src/rpc/object-links";
import type { RepairControllerRpc, RepairedAddresses, RepairedOwner, RepairedServices } from "../src/rpc/repair";
import type { ControllerRpc, EventsStoreRpc, MaintainedStore, ServicesStoreRpc, StoreRpc } from "../src/rpc/store";
import { storeName } from "../src/store/list-copy";
import type { Env } from "./env";

/** The methods of a peer as a stub offers them: whatever they return arrives as a promise. */
export type Remote<T> = {
  [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** The one cast from a platform stub to the contract its class implements. */
function remote<T>(stub: unknown): Remote<T> {
  return stub as Remote<T>;
}

/** Deriving an id from a name costs a hash; ids are plain data, so they are kept. Beyond the bound the map starts over. */
const IDS_MAX = 10_000;
const ids = new Map<string, DurableObjectId>();

/** A new stub of the object with this name. Names differ between classes, so one map serves all. */
function stubOf<T>(namespace: DurableObjectNamespace, name: string): Remote<T> {
  let id = ids.get(name);
  if (!id) {
    id = namespace.idFromName(name);
    if (ids.size >= IDS_MAX) ids.clear();
    ids.set(name, id);
  }
  return remote<T>(namespace.get(id));
}

/** A resource that keeps its objects itself: events.k8s.io events live in the store of the core ones. */
export interface StoredResource {
  group: string;
  resource: string;
}

/** The resource whose store keeps the objects of `definition`: itself unless it is another representation. */
export function storedResource(definition: ResourceDefinition): StoredResource {
  return definition.representationOf ?? definition;
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

/** Every store of the cluster, once; `store` makes a stub for one call. */
export function allStores(
  env: Env,
  cluster: string,
): { definition: ResourceDefinition; store(): Remote<StoreRpc & MaintainedStore & LinkedStore> }[] {
  return definitions
    .filter((definition) => !definition.representationOf)
    .map((definition) => ({ definition, store: () => storeStub(env, cluster, definition) }));
}

/** The stores of everything that lives in namespaces; `store` makes a stub for one call. */
export function contentStores(env: Env, cluster: string): (StoredResource & { store(): Remote<StoreRpc & MaintainedStore> })[] {
  return allStores(env, cluster)
    .filter(({ definition }) => definition.namespaced)
    .map(({ definition: { group, resource }, store }) => ({ group, resource, store }));
}

export function servicesStore(env: Env, cluster: string): Remote<ServicesStoreRpc & RepairedServices & ObjectFeed> {
  return storeStub<ServicesStoreRpc & RepairedServices & ObjectFeed>(env, cluster, { group: "", resource: "services" });
}

export function namespacesStore(env: Env, cluster: string): Remote<StoreRpc & MaintainedStore> {
  return storeStub(env, cluster, { group: "", resource: "namespaces" });
}

export function eventsStore(env: Env, cluster: string): Remote<EventsStoreRpc> {
  return storeStub<EventsStoreRpc>(env, cluster, { group: "", resource: "events" });
}

export function ipAddressesStore(
  env: Env,
  cluster: string,
): Remote<IPAddressesRpc & StoreRpc & MaintainedStore & RepairedAddresses & ObjectFeed> {
  return storeStub(env, cluster, { group: "networking.k8s.io", resource: "ipaddresses" });
}

export function coordinator(env: Env, cluster: string): Remote<CoordinatorRpc & RangesRpc & StoreRpc & MaintainedStore & ObjectFeed> {
  return storeStub(env, cluster, { group: "networking.k8s.io", resource: "servicecidrs" });
}

/** The object that alone writes the addresses of one ServiceCIDR, named by its uid for ever (PROTOCOL rule 9). */
export function owner(env: Env, cluster: string, uid: string): Remote<ServiceCIDRRpc & CountedOwner & RepairedOwner> {
  return stubOf<ServiceCIDRRpc & CountedOwner & RepairedOwner>(env.SERVICE_CIDR, `${cluster}/${uid}`);
}

/** A controller of the cluster: "namespaces", "garbage-collection" or "repair". */
export function controller(env: Env, cluster: string, name: string): Remote<ControllerRpc> {
  return stubOf<ControllerRpc>(env.CONTROLLER, `${cluster}/controllers/${name}`);
}

/** The repair controller, which also answers for its metrics. */
export function repairController(env: Env, cluster: string): Remote<ControllerRpc & RepairControllerRpc> {
  return stubOf<ControllerRpc & RepairControllerRpc>(env.CONTROLLER, `${cluster}/controllers/repair`);
}
