/** The clusters behind the objects of the kind Cluster, as their controller calls them. */
import { OPERATION_DEADLINE_MS } from "../../src/core/base/limits";
import { withTimeout } from "../../src/core/base/timeout";
import { firstRead } from "../../src/fleet/first-read";
import type { ClusterWish } from "../../src/fleet/declared-clusters";
import type { FleetPorts } from "../../src/fleet/ports";
import type { ClusterRecordRpc } from "../../src/tenancy/rpc";
import { type Env, objectConfig } from "../platform/env";
import { systemClock } from "../platform/ports";
import { clusterNames, clusterRecord, controller, type Remote, servicesStore } from "./peers";

/** Each call gets a stub of its own and a timeout. */
export function fleetPorts(env: Env): FleetPorts {
  const answered = <T>(call: Promise<T>): Promise<T> => withTimeout(systemClock, OPERATION_DEADLINE_MS, call);
  return {
    look: (name, location) => answered(clusterRecord(env, name, location).look()),
    async open(name, location, ranges) {
      const { state } = await answered(openRecord(clusterRecord(env, name, location), { location, serviceRanges: ranges }));
      return state;
    },
    setControllers: (name, location, list, source) => answered(clusterRecord(env, name, location).setControllers(list, source)),
    setQuotas: (name, location, hard) => answered(clusterRecord(env, name, location).setQuotas(hard)),
    bootstrap: (id) => answered(servicesStore(env, id).ensureBootstrapped()),
    remove: (name, location, id) => answered(clusterRecord(env, name, location).remove(id)),
    page: (after, limit) => answered(clusterNames(env).page(after, limit)),
    listed: (name, stamp) => answered(clusterRecord(env, name).listed(stamp)),
    defaultRanges: objectConfig(env).serviceRanges,
  };
}

/** Makes the cluster unless it is there, by the oldest call that can say what it is to be. */
export function openRecord(
  record: Pick<Remote<ClusterRecordRpc>, "open" | "openIn" | "openWith">,
  { location, serviceRanges }: Pick<ClusterWish, "location" | "serviceRanges">,
): ReturnType<ClusterRecordRpc["open"]> {
  if (serviceRanges) return record.openWith(serviceRanges, location);
  return location === undefined ? record.open() : record.openIn(location);
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
