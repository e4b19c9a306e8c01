/** What a cluster's record does with the objects of the cluster, and with what the directory has of it. */
import type { RecordPorts } from "../../src/tenancy/cluster-record";
import { topologyCopyKey } from "../../src/addresses/topology/topology-copy";
import { listCopyKey, storeName } from "../../src/api/store/list/list-copy";
import { busyKey, directoryKey } from "../../src/tenancy/directory-keys";
import type { Env } from "../platform/env";
import { directoryFacts, noteBusy, noteControllers } from "./busy";
import { allStores, clusterShard, coordinator, namespacesStore, recordedObject, servicesStore } from "./peers";

type ClusterPorts = Pick<
  RecordPorts,
  "wipe" | "tell" | "beginWith" | "tellQuotas" | "noteControllers" | "forget" | "isInDirectory" | "noteBusy"
>;

export function recordedCluster(env: Env): ClusterPorts {
  return {
    wipe: (id, object, listed) => recordedObject(env, id, object).wipe(listed),
    tell: (id, object, setting) => recordedObject(env, id, object).setControllers(setting),
    async beginWith(id, ranges) {
      const begun = await Promise.all([servicesStore(env, id).beginWith(ranges), coordinator(env, id).beginWith(ranges)]);
      return !begun.includes(false);
    },
    tellQuotas: (id, quotas) => namespacesStore(env, id).setNamespaceQuotas(quotas),
    noteControllers: (id, list) => noteControllers(env, id, list ? directoryFacts(list) : undefined),
    async forget(id) {
      const copies = allStores(env, id).map(({ definition }) => listCopyKey(storeName(id, definition)));
      const keys = [directoryKey(id), busyKey("minute", id), busyKey("hour", id), topologyCopyKey(id), ...copies];
      await Promise.all([clusterShard(env, id).leave(id), ...keys.map((key) => env.DIRECTORY.delete(key))]);
    },
    isInDirectory: async (id) => (await env.DIRECTORY.get(directoryKey(id))) !== null,
    noteBusy: (id) => noteBusy(env, id, "minute"),
  };
}
