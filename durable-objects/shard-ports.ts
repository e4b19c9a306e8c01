/** The ports of a shard of the directory of clusters on the real platform. */
import { settingsOf } from "../src/core/config/settings";
import type { ClusterShardPorts } from "../src/tenancy/cluster-shard";
import { shardNumberIn } from "../src/tenancy/shards";
import { visitCluster } from "./peers/cluster-visits";
import { type Env, objectConfig } from "./platform/env";
import { setAlarmBy, systemClock, systemRecorder } from "./platform/ports";
import { keptShard } from "./shard-values";

export function shardPorts({ id, storage }: DurableObjectState, env: Env): ClusterShardPorts {
  return {
    storage: keptShard(storage),
    number: shardNumberIn(id.name ?? ""),
    clock: systemClock,
    recorder: systemRecorder({ object: "shard" }),
    startedMs: objectConfig(env).serverStartedAtMs,
    ownSettings: () => settingsOf(objectConfig(env)),
    visit: (request) => visitCluster(env, request),
    wakeBy: (atMs) => setAlarmBy(storage, atMs),
    tell: (key, work) => env.DIRECTORY.put(key, "", { metadata: work }),
  };
}
