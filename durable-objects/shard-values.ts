/** What a shard of the directory of clusters keeps: values by cluster. */
import type { ControllerFacts } from "../src/tenancy/rpc";
import type { BusyTimes, ShardStorage } from "../src/tenancy/shard-storage";

/** Each cluster, with its facts. */
const CLUSTERS = "cluster/";
/** Those with writes. */
const BUSY = "busy/";
const MARKS = "mark/";

/** The ShardStorage port. */
export function keptShard({ kv }: DurableObjectStorage): ShardStorage {
  const entries = <T>(prefix: string, limit?: number): [id: string, value: T][] =>
    [...kv.list<T>({ prefix, ...(limit !== undefined && { limit }) })].map(([key, value]) => [key.slice(prefix.length), value]);
  return {
    ids: (limit) => entries(CLUSTERS, limit).map(([id]) => id),
    has: (id) => kv.get(CLUSTERS + id) !== undefined,
    put: (id, facts) => kv.put(CLUSTERS + id, facts),
    factsOf: (id) => kv.get<ControllerFacts | null>(CLUSTERS + id) ?? null,
    remove(id) {
      for (const key of [CLUSTERS + id, BUSY + id]) if (kv.get(key) !== undefined) kv.delete(key);
    },
    busy: () => new Map(entries<BusyTimes>(BUSY)),
    busyPut(id, times) {
      if (times) kv.put(BUSY + id, times);
      else kv.delete(BUSY + id);
    },
    mark: (name) => kv.get<string>(MARKS + name),
    markPut(name, value) {
      if (value !== null) kv.put(MARKS + name, value);
      else kv.delete(MARKS + name);
    },
  };
}
