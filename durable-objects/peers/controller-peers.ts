/** The objects of a cluster as its controllers call them. */
import type { Namespace } from "../../src/api/meta/kubernetes";
import type { ObjectFeed } from "../../src/api/rpc/object-feed";
import type { BatchedStore } from "../../src/api/rpc/store";
import { COLLECTION_HEADER, encodeCollection } from "../../src/api/store/list/collection-header";
import type { ControllerName, ControllerSetting } from "../platform/controllers";
import type { Env } from "../platform/env";
import {
  allStores,
  controller,
  coordinator,
  eventsStore,
  ipAddressesStore,
  leasesStore,
  namespacesStore,
  nodeProxyShard,
  owner,
  resourceQuotasStore,
  servicesStore,
  storeStub,
} from "./peers";

/** `others`: the cluster's other controllers that are switched on. */
export function controllerPeers(env: Env, cluster: string, others: () => ControllerName[]): ControllerSetting["peers"] {
  return {
    others: () => others().map((name) => controller(env, cluster, name)),
    stores: () => allStores(env, cluster),
    quotas: () => resourceQuotasStore(env, cluster),
    namespaces: () => namespacesStore(env, cluster),
    async listNamespaces(request) {
      const headers = { [COLLECTION_HEADER]: encodeCollection(request) };
      const response = await namespacesStore(env, cluster).fetch(new Request("http://store/collection", { headers }));
      if (!response.ok) throw new Error(`the namespaces store answered ${response.status}`);
      return response.json<{ items?: Namespace[] }>();
    },
    storeOf: (definition) => storeStub<BatchedStore & ObjectFeed>(env, cluster, definition),
    services: () => servicesStore(env, cluster),
    ipAddresses: () => ipAddressesStore(env, cluster),
    coordinator: () => coordinator(env, cluster),
    events: () => eventsStore(env, cluster),
    leases: () => leasesStore(env, cluster),
    owner: (uid) => owner(env, cluster, uid),
    nodeProxy: (shard) => nodeProxyShard(env, cluster, shard),
  };
}
