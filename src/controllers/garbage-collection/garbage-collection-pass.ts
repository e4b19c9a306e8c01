/** The pass of the controller "garbage-collection", on the stores of a cluster: each call gets a timeout. */
import { OPERATION_DEADLINE_MS } from "../../core/base/limits";
import { gathered } from "../../core/base/gathered";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { EventRecorder } from "../../api/events/event-recorder";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { LinkedStore } from "../../api/rpc/object-links";
import { writeAllOf } from "../../api/rpc/older-release";
import type { BatchedStore, WriteRequest, WriteResult } from "../../api/rpc/store";
import type { Pass } from "../frame/controller";
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
}

/** The first pass reads the graph from storage. */
export function garbageCollectionPass(ports: GarbageCollectionPassPorts): Pass {
  const { clock, events, recorder, storage, stores } = ports;
  /** A store gives up a write after its deadline. Writes of one moment share a call. */
  const answered = <T>(call: Promise<T>): Promise<T> => withTimeout(clock, OPERATION_DEADLINE_MS, call);
  const collected = stores.map(({ definition, store }): CollectedStore => ({
    name: storeName(definition),
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
  let collector: GarbageCollector | undefined;
  return async () => (collector ??= new GarbageCollector({ clock, storage, stores: collected, recorder, events })).run();
}
