/** The objects of a cluster as its controllers call them. */
import type { Namespace } from "../../src/api/meta/kubernetes";
import type { ObjectFeed } from "../../src/api/rpc/object-feed";
import { type BatchedStore, READ } from "../../src/api/rpc/store";
import type { VisitedStore, VisitOutcome } from "../../src/api/rpc/visits";
import { qualifiedResource } from "../../src/api/meta/status";
import { storedDefinitionsIn } from "../../src/api/registry/all";
import { COLLECTION_HEADER, encodeCollection } from "../../src/api/store/list/collection-header";
import { isRootCluster } from "../../src/tenancy/cluster-id";
import { CONTROLLERS_PREFIX } from "../../src/tenancy/visit-list";
import { type ControllerName, CONTROLLERS, type ControllerSetting } from "../platform/controllers";
import type { Env } from "../platform/env";
import { fleetPorts } from "./fleet";
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
  poolBook,
  resourceQuotasStore,
  servicesStore,
  storeStub,
} from "./peers";

/** Cron's visit to an object of this name; undefined = there is none, or the controller is not among those that are switched on. */
function visitTo(env: Env, cluster: string, name: string, on: () => ControllerName[]): Promise<VisitOutcome> | undefined {
  if (name.startsWith(CONTROLLERS_PREFIX)) {
    const known = on().find((one) => CONTROLLERS_PREFIX + one === name);
    // READ comes when a pass is over, or its alarm is set. The release before answers at once, and its pass may end with it.
    return (
      known &&
      controller(env, cluster, known)
        .poke(undefined, true)
        .then((answer) => (answer === READ ? "settled" : "left"))
    );
  }
  const definition = storedDefinitionsIn(isRootCluster(cluster)).find((one) => qualifiedResource(one) === name);
  return definition && storeStub<VisitedStore>(env, cluster, definition).visit();
}

/** `others`: the cluster's other controllers that are switched on. */
export function controllerPeers(env: Env, cluster: string, others: () => ControllerName[]): ControllerSetting["peers"] {
  return {
    others: () => others().map((name) => controller(env, cluster, name)),
    controllers: CONTROLLERS.namesIn(isRootCluster(cluster)),
    stores: () => allStores(env, cluster),
    visit: (name) => visitTo(env, cluster, name, others),
    quotas: () => resourceQuotasStore(env, cluster),
    namespaces: () => namespacesStore(env, cluster),
    namespaceFeed: () => namespacesStore(env, cluster),
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
    fleet: () => fleetPorts(env, cluster),
    poolBook: () => poolBook(env, cluster),
    nodeProxy: (shard) => nodeProxyShard(env, cluster, shard),
  };
}
