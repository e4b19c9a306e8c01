/** Which Durable Object answers for what. Every name starts with the cluster's, so no two clusters ever share an object. */
import type { CoordinatorRpc } from "../rpc/coordinator";
import type { IPAddressesRpc } from "../rpc/ip-addresses";
import type { StoreRpc } from "../rpc/store";
import type { ResourceDefinition } from "../registry/resource";
import type { Env } from "./env";
import { type Remote, remote } from "./peers";

/** What cron and bootstrap ask of a store besides its objects. */
export interface MaintainedStore {
  maintain(): Promise<void>;
  compact(): Promise<void>;
}

export interface ServicesStoreRpc extends StoreRpc, MaintainedStore {
  /** makes the cluster's default ServiceCIDR and the Service default/kubernetes; a no-op once they exist */
  ensureBootstrapped(): Promise<void>;
}

export interface EventsStoreRpc extends StoreRpc, MaintainedStore {
  /** drops events older than their lifetime */
  expire(): Promise<void>;
}

/** A resource that keeps its objects itself: events.k8s.io events live in the store of the core ones. */
export interface StoredResource {
  group: string;
  resource: string;
}

export function storedResource(definition: ResourceDefinition): StoredResource {
  return definition.representationOf ?? definition;
}

/** A new stub of the store of `stored`: one per attempt, since a stub is dead after a throw. */
export function storeStub<T = StoreRpc>(env: Env, cluster: string, stored: StoredResource): Remote<T> {
  const { group, resource } = stored;
  if (group === "" && resource === "services") return remote<T>(env.SERVICES_STORE.getByName(`${cluster}/services`));
  if (group === "networking.k8s.io" && resource === "servicecidrs") return remote<T>(env.COORDINATOR.getByName(`${cluster}/coordinator`));
  if (group === "networking.k8s.io" && resource === "ipaddresses") {
    return remote<T>(env.IP_ADDRESSES_STORE.getByName(`${cluster}/ipaddresses.${group}`));
  }
  return remote<T>(env.RESOURCE_STORE.getByName(group === "" ? `${cluster}/${resource}` : `${cluster}/${resource}.${group}`));
}

export function servicesStore(env: Env, cluster: string): Remote<ServicesStoreRpc> {
  return storeStub<ServicesStoreRpc>(env, cluster, { group: "", resource: "services" });
}

export function eventsStore(env: Env, cluster: string): Remote<EventsStoreRpc> {
  return storeStub<EventsStoreRpc>(env, cluster, { group: "", resource: "events" });
}

export function ipAddressesStore(env: Env, cluster: string): Remote<IPAddressesRpc & MaintainedStore> {
  return storeStub<IPAddressesRpc & MaintainedStore>(env, cluster, { group: "networking.k8s.io", resource: "ipaddresses" });
}

export function coordinator(env: Env, cluster: string): Remote<CoordinatorRpc & MaintainedStore> {
  return storeStub<CoordinatorRpc & MaintainedStore>(env, cluster, { group: "networking.k8s.io", resource: "servicecidrs" });
}
