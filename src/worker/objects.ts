/** Whom the Worker calls, beyond what every peer calls (durable-objects/peers). */
import type { Env } from "../../durable-objects/env";
import { type Remote, type StoredResource, storeStub } from "../../durable-objects/peers";
import type { ResourceDefinition } from "../registry/resource";
import type { MaintainedStore, StoreRpc } from "../rpc/store";

/** The resource whose store keeps the objects of `definition`: itself unless it is another representation. */
export function storedResource(definition: ResourceDefinition): StoredResource {
  return definition.representationOf ?? definition;
}

export interface EventsStoreRpc extends StoreRpc, MaintainedStore {
  /** deletes events older than their lifetime */
  expire(): Promise<void>;
}

export function eventsStore(env: Env, cluster: string): Remote<EventsStoreRpc> {
  return storeStub<EventsStoreRpc>(env, cluster, { group: "", resource: "events" });
}
