/** The store of one resource that needs nothing but keeping: namespaces, nodes, pods, endpoints, events, leases, endpointslices. */
import type { CommittedChange, StoreExtension } from "../src/store/extension";
import type { Env } from "./env";
import { controller } from "./peers";
import { openStore, STORE_MIGRATIONS, StoreObject } from "./store-object";

/** The controllers that want to hear of changes, by resource. */
const FOLLOWERS: Readonly<Record<string, readonly string[]>> = { namespaces: ["namespaces"] };

export class ResourceStore extends StoreObject<undefined> {
  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, STORE_MIGRATIONS);
    const followers = FOLLOWERS[setting.resource] ?? [];
    super(ctx, env, setting, followers.length > 0 ? poking(() => followers.map((name) => controller(env, setting.cluster, name))) : undefined);
  }
}

/** Pokes after every turn that changed a stored object; a lost poke is made up for by cron. */
function poking(followers: () => { poke(): Promise<void> }[]): StoreExtension<undefined> {
  let changed = false;
  return {
    committed(change: CommittedChange) {
      changed ||= change.before !== undefined;
    },
    turnCommitted() {
      if (!changed) return;
      changed = false;
      for (const follower of followers()) void follower.poke().catch(() => undefined);
    },
    turnLost() {
      changed = false;
    },
  };
}
