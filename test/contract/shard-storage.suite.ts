import type { ShardStorage } from "../../src/tenancy/shard-storage";
import type { ContractCase } from "./contract-case";

const FACTS = { off: ["repair"], on: ["namespaces"] };

/** What every ShardStorage does. */
export const shardStorageCases: readonly ContractCase<ShardStorage>[] = [
  {
    name: "nothing at first",
    run: (storage) => [storage.ids(), storage.has("blue"), storage.factsOf("blue"), [...storage.busy()], storage.mark("m") ?? "none"],
    want: [[], false, null, [], "none"],
  },
  {
    name: "clusters: in the order of their ids, with the facts that were put last",
    run(storage) {
      storage.put("green", null);
      storage.put("blue~2", FACTS);
      storage.put("blue", FACTS);
      storage.put("blue", null);
      return [storage.ids(), storage.ids(2), storage.has("green"), storage.has("gree"), storage.factsOf("blue~2"), storage.factsOf("blue")];
    },
    want: [["blue", "blue~2", "green"], ["blue", "blue~2"], true, false, FACTS, null],
  },
  {
    name: "times: the last ones of each cluster, until they are taken away; the cluster stays",
    run(storage) {
      for (const id of ["a", "b"]) storage.put(id, null);
      storage.busyPut("b", { minute: 1, hour: 0 });
      storage.busyPut("b", { minute: 1, hour: 2 });
      storage.busyPut("a", { minute: 3, hour: 3 });
      storage.busyPut("a", null);
      storage.busyPut("a", null);
      return [[...storage.busy()], storage.ids()];
    },
    want: [[["b", { minute: 1, hour: 2 }]], ["a", "b"]],
  },
  {
    name: "remove: the cluster and its times; once more changes nothing",
    run(storage) {
      for (const id of ["a", "b"]) storage.put(id, null);
      storage.busyPut("a", { minute: 3, hour: 3 });
      storage.remove("a");
      storage.remove("a");
      return [[...storage.busy()], storage.ids()];
    },
    want: [[], ["b"]],
  },
  {
    name: "marks: each by its name, until it is taken away",
    run(storage) {
      storage.markPut("x", "1");
      storage.markPut("y", "2");
      storage.markPut("x", "3");
      storage.markPut("y", null);
      storage.markPut("y", null);
      return [storage.mark("x"), storage.mark("y") ?? "none", storage.ids()];
    },
    want: ["3", "none", []],
  },
];
