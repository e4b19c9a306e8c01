/** The shards of the directory of clusters, as tests of real objects find them and leave them. */
import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";
import { clusterShard } from "../../../durable-objects/peers/peers";
import { SHARD_PREFIX, shardKey } from "../../../src/tenancy/directory-keys";
import type { ShardEntry } from "../../../src/tenancy/rpc";
import { clusterShardName, clusterShardOf, SHARDS } from "../../../src/tenancy/shards";

const DAY_MS = 86_400_000;
const AT_REST = { minute: false, hour: false };

/** The object that has the cluster of this id. */
function shardObject({ CLUSTER_NAMES }: Env, id: string): DurableObjectStub {
  return CLUSTER_NAMES.getByName(clusterShardName(clusterShardOf(id)));
}

/** A write was noted in the cluster. */
export function noteWrite(env: Env, id: string, rhythms: ShardEntry["rhythms"] = ["minute", "hour"]): Promise<void> {
  return clusterShard(env, id).enter([{ id, rhythms }]);
}

/** Whether a write was noted in the cluster of late. */
export async function isNoted(env: Env, id: string, rhythm: "minute" | "hour"): Promise<boolean> {
  return (await clusterShard(env, id).whereabouts(id))[rhythm];
}

/** Nobody has written for long, in any cluster, and no tick has come. All objects are asleep then. The key-value store forgets between tests, and objects do not. */
export async function forgetWrites({ CLUSTER_NAMES, DIRECTORY }: Env): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard++) {
    const isThere = await runInDurableObject(CLUSTER_NAMES.getByName(clusterShardName(shard)), (_, { storage }) => {
      if (storage.kv.get("mark/told") === undefined) return false;
      for (const [key] of [...storage.kv.list({ prefix: "busy/" })]) storage.kv.delete(key);
      storage.kv.put("mark/told", JSON.stringify(AT_REST));
      for (const name of ["ticks", "round/leases", "round/compact"]) storage.kv.delete(`mark/${name}`);
      return true;
    });
    if (isThere) await DIRECTORY.put(shardKey(shard), "", { metadata: AT_REST });
  }
  await abortAllDurableObjects();
}

/** Bindings by which cron finds the shard of this cluster alone: objects of other tests, in the same runtime, have theirs. */
export function cronOf(env: Env, id: string): Env {
  const shard = { name: shardKey(clusterShardOf(id)), metadata: { minute: true, hour: true } };
  const list = ({ prefix }: KVNamespaceListOptions) =>
    Promise.resolve({ keys: prefix === SHARD_PREFIX ? [shard] : [], list_complete: true, cacheStatus: null });
  const DIRECTORY = new Proxy(env.DIRECTORY, {
    get: (directory, name) => (name === "list" ? list : (Reflect.get(directory, name) as () => void).bind(directory)),
  });
  return { ...env, DIRECTORY };
}

/** The time of the day has come at which the cluster of this id is visited; `rings` does it. */
export async function idleVisitDue(env: Env, id: string): Promise<{ rings(): Promise<unknown> }> {
  await runInDurableObject(shardObject(env, id), (_, { storage }) => storage.kv.put("mark/idle", `${String(Date.now() - DAY_MS)} 0`));
  return { rings: () => runDurableObjectAlarm(shardObject(env, id)) };
}
