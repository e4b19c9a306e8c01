/** The store of one resource that needs nothing but keeping: namespaces, nodes, pods, endpoints, events, leases, endpointslices. */
import type { Env } from "./env";
import { openStore, STORE_MIGRATIONS, StoreObject } from "./store-object";

export class ResourceStore extends StoreObject<undefined> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, openStore(ctx, env, STORE_MIGRATIONS));
  }
}
