/** The pass of the controller "garbage-collection": what ownerReferences and the finalizers of a deletion ask for. */
import { OPERATION_DEADLINE_MS } from "../src/core/base/limits";
import { withTimeout } from "../src/core/base/timeout";
import { GarbageCollector } from "../src/controllers/garbage-collection/collector";
import type { CollectedStore } from "../src/controllers/garbage-collection/ports";
import { storeName } from "../src/controllers/garbage-collection/resolve-owner";
import type { ControllerPass, ControllerSetting } from "./controller";
import { allStores } from "./peers";
import { systemClock } from "./ports";
import { sqlGraphStorage } from "./sql/garbage-collection-sql";

export function garbageCollectionPass({ env, cluster, storage, recorder }: ControllerSetting): ControllerPass {
  const stores = allStores(env, cluster).map(({ definition, store }): CollectedStore => {
    const { group, versions } = definition;
    return {
      name: storeName(definition),
      group,
      version: versions[0] ?? "",
      changesSince: (cursor, limit) => answered(store().changesSince(cursor, limit)),
      listMetadata: (after, limit) => answered(store().listMetadata(after, limit)),
      metadataOf: (keys) => answered(store().metadataOf(keys)),
      write: (request) => answered(store().write(request)),
    };
  });
  let collector: GarbageCollector | undefined;
  return () => {
    collector ??= new GarbageCollector({ storage: sqlGraphStorage(storage), stores, recorder });
    return collector.run();
  };
}

/** A store gives a write up after its deadline. */
function answered<T>(call: Promise<T>): Promise<T> {
  return withTimeout(systemClock, OPERATION_DEADLINE_MS, call);
}
