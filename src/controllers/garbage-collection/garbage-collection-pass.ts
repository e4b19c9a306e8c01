/** The pass of the controller "garbage-collection", on the stores of a cluster: each call gets a timeout. */
import { OPERATION_DEADLINE_MS } from "../../core/base/limits";
import { gathered } from "../../core/turns/gathered";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { EventRecorder } from "../../api/events/event-recorder";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { LinkedStore } from "../../api/rpc/object-links";
import { writeAllOf } from "../../api/rpc/older-release";
import type { BatchedStore, WriteRequest, WriteResult } from "../../api/rpc/store";
import { type EnteredNames, UsedStores } from "../followed/used-stores";
import { hearing, type Pass } from "../frame/controller";
import { madeOnce } from "../frame/made-once";
import { WRITES_AT_ONCE } from "../frame/planned-work";
import { GarbageCollector } from "./collector";
import type { CollectedStore, GraphStorage } from "./ports";
import { storeName } from "./resolve-owner";

export interface GarbageCollectionPassPorts {
  clock: Clock;
  recorder: Recorder;
  storage: GraphStorage;
  events: Pick<EventRecorder, "report" | "flush">;
  /** every store of the cluster; `store` makes a stub for one call */
  stores: readonly {
    definition: Pick<ResourceDefinition, "group" | "resource" | "versions">;
    store(): LinkedStore & BatchedStore;
  }[];
  /** makes a stub for one call; absent = every store may be used */
  entered?: EnteredNames | undefined;
}

/** The first pass reads the graph from storage. */
export function garbageCollectionPass(ports: GarbageCollectionPassPorts): Pass {
  const { clock, entered, events, recorder, storage, stores } = ports;
  /** A store gives up a write after its deadline. Writes of one moment share a call. */
  const answered = <T>(call: Promise<T>): Promise<T> => withTimeout(clock, OPERATION_DEADLINE_MS, call);
  const used = new UsedStores(clock, entered);
  const collected = stores.map(({ definition, store }): CollectedStore => ({
    name: storeName(definition),
    isUnused: () => used.isUnused(storeName(definition)),
    group: definition.group,
    version: definition.versions[0] ?? "",
    changesSince: (cursor, limit) => answered(store().changesSince(cursor, limit)),
    listMetadata: (after, limit) => answered(store().listMetadata(after, limit)),
    metadataOf: (keys) => answered(store().metadataOf(keys)),
    whereabouts: (sought, after) => answered(store().whereabouts(sought, after)),
    write: gathered<WriteRequest, WriteResult>({
      call: (requests) => answered(writeAllOf(store, requests)),
      weightMax: WRITES_AT_ONCE,
      weigh: () => 1,
    }),
  }));
  return madeOnce(() => {
    const collector = new GarbageCollector({ clock, storage, stores: collected, recorder, events });
    return hearing(
      (isPoked) => collector.run(isPoked),
      () => collector,
    );
  });
}
