/** What a cluster's record tells the list of all clusters. */
import { isMethodMissing } from "../../src/api/rpc/older-release";
import type { RecordPorts } from "../../src/tenancy/cluster-record";
import type { Env } from "../platform/env";
import { clusterNames } from "./peers";

/** Those ports of the record of this name. */
export function listPorts(env: Env, name: string): Pick<RecordPorts, "newStamp" | "enlist" | "noteLife" | "unlist"> {
  return {
    newStamp: () => crypto.randomUUID(),
    enlist: (stamp) => clusterNames(env).add(name, stamp),
    noteLife: async (id, told) => (await clusterNames(env).noteLife(name, id, told)) !== false,
    async unlist(stamp) {
      try {
        await clusterNames(env).drop(name, stamp);
      } catch (error) {
        // The release before keeps the name, and knows that there is no life.
        if (!isMethodMissing(error, "drop")) throw error;
        await clusterNames(env).noteLife(name, null);
      }
    },
  };
}
