/** The clusters behind the objects of the kind Cluster, as their controller calls them. */
import { OPERATION_DEADLINE_MS } from "../../src/core/base/limits";
import { withTimeout } from "../../src/core/base/timeout";
import { DEFAULT_SERVICE_CIDR } from "../../src/addresses/coordinator/state/service-cidr-object";
import type { ServiceCIDR } from "../../src/api/meta/kubernetes";
import { firstRead } from "../../src/fleet/first-read";
import type { FirstWish } from "../../src/fleet/declared-clusters";
import type { FleetPorts } from "../../src/fleet/ports";
import type { ClusterRecordRpc, ClusterSource } from "../../src/tenancy/rpc";
import { type Env, objectConfig } from "../platform/env";
import { systemClock } from "../platform/ports";
import { clusterNames, clusterRecord, controller, coordinator, poolBook, type Remote, servicesStore } from "./peers";

/**
 * Each call gets a stub of its own and a timeout.
 *
 * @param root id of the cluster that has the objects
 */
export function fleetPorts(env: Env, root: string): FleetPorts {
  const answered = <T>(call: Promise<T>): Promise<T> => withTimeout(systemClock, OPERATION_DEADLINE_MS, call);
  return {
    look: (name, location) => answered(clusterRecord(env, name, location).look()),
    async open(name, location, begins, source) {
      const { state } = await answered(openRecord(clusterRecord(env, name, location), { location, ...begins }, source));
      return state;
    },
    setControllers: (name, location, list, source) => answered(clusterRecord(env, name, location).setControllers(list, source)),
    setQuotas: (name, location, hard, source) => answered(clusterRecord(env, name, location).setQuotas(hard, source)),
    bootstrap: (id) => answered(servicesStore(env, id).ensureBootstrapped()),
    async firstRanges(id) {
      const found = await answered(coordinator(env, id).get({ namespace: "", name: DEFAULT_SERVICE_CIDR }, ""));
      if (found.ok) return (JSON.parse(found.object) as ServiceCIDR).spec?.cidrs;
      if (found.status.code === 404) return undefined;
      throw new Error(found.status.message);
    },
    remove: (name, location, id, source) => answered(clusterRecord(env, name, location).remove(id, source)),
    ended: async (id) => void (await answered(poolBook(env, root).askFleet({ does: "ended", cluster: id }))),
    page: (after, limit) => answered(clusterNames(env).page(after, limit)),
    listed: (name, stamp) => answered(clusterRecord(env, name).listed(stamp)),
    defaultRanges: objectConfig(env).serviceRanges,
  };
}

/** Makes the cluster unless it is there, by the oldest call that can say what it is to be. */
export function openRecord(
  record: Pick<Remote<ClusterRecordRpc>, "open" | "openIn" | "openWith">,
  { location, serviceRanges, quotas }: FirstWish,
  source?: ClusterSource,
): ReturnType<ClusterRecordRpc["open"]> {
  if (serviceRanges ?? quotas) return record.openWith(serviceRanges, location, source, quotas);
  return location === undefined ? record.open(source) : record.openIn(location, source);
}

/** The value stands beside the tables of the store of Clusters. */
const READ = "clusters-read";

/** What the store of Clusters awaits before each read. */
export function clustersReadable(env: Env, cluster: string, { kv }: DurableObjectStorage): () => Promise<void> {
  return firstRead({
    clock: systemClock,
    isDone: () => kv.get<boolean>(READ) === true,
    done: () => kv.put(READ, true),
    async ask() {
      await controller(env, cluster, "clusters").poke(undefined, true);
      const { last } = (await controller(env, cluster, "clusters").controllerStatus()) ?? {};
      return last !== undefined && !last.left && last.waiting === 0;
    },
  });
}
