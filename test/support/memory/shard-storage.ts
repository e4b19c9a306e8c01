/** A shard of the directory of clusters in memory. */
import type { ControllerFacts } from "../../../src/tenancy/rpc";
import type { BusyTimes, ShardStorage } from "../../../src/tenancy/shard-storage";

export function memoryShardStorage(): ShardStorage {
  const clusters = new Map<string, ControllerFacts | null>();
  const busy = new Map<string, BusyTimes>();
  const marks = new Map<string, string>();
  return {
    ids: (limit) => [...clusters.keys()].sort().slice(0, limit),
    has: (id) => clusters.has(id),
    put: (id, facts) => void clusters.set(id, facts),
    factsOf: (id) => clusters.get(id) ?? null,
    remove(id) {
      clusters.delete(id);
      busy.delete(id);
    },
    busy: () => new Map(busy),
    busyPut: (id, times) => void (times ? busy.set(id, times) : busy.delete(id)),
    mark: (name) => marks.get(name),
    markPut: (name, value) => void (value === null ? marks.delete(name) : marks.set(name, value)),
  };
}
