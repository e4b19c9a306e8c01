/** The store of one resource that needs nothing but keeping: namespaces, nodes, pods, endpoints, events, leases, endpointslices. */
import { closingNamespaces } from "../src/controllers/namespaces/namespace-closing";
import { isExpired } from "../src/controllers/event-expiry";
import type { CoreEvent } from "../src/api/meta/kubernetes";
import type { EventsStoreRpc } from "../src/api/rpc/store";
import { matchingKeys } from "../src/api/store/collection";
import { namespaceRange } from "../src/api/store/keys";
import type { CommittedChange, StoreExtension } from "../src/api/store/extension";
import type { Env } from "./env";
import { contentStores, controller, type ControllerName } from "./peers";
import { openStore, STORE_MIGRATIONS, StoreObject, type StoreSetting } from "./store-object";

/** The controllers that want to hear of changes, by resource. */
const FOLLOWERS: Readonly<Record<string, readonly ControllerName[]>> = { namespaces: ["namespaces"] };

export class ResourceStore extends StoreObject<undefined> implements EventsStoreRpc {
  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, STORE_MIGRATIONS);
    super(ctx, env, setting, extensionOf(setting, env));
  }

  async expire(): Promise<number> {
    if (this.store.definition.resource !== "events") return 0;
    const now = this.store.clock.now();
    const keys = matchingKeys(this.store, { range: namespaceRange(""), matches: (event) => isExpired(event as CoreEvent, now) });
    await this.deleteKeys(keys);
    return keys.length;
  }
}

function extensionOf({ resource, cluster, clock }: StoreSetting, env: Env): StoreExtension<undefined> | undefined {
  const followers = FOLLOWERS[resource];
  if (!followers) return undefined;
  const poke = poking(() => followers.map((name) => controller(env, cluster, name)));
  if (resource !== "namespaces") return poke;
  return closingNamespaces(
    { clock, close: ({ name, uid }) => Promise.all(contentStores(env, cluster).map(({ store }) => store().closeNamespace(name, uid))) },
    poke,
  );
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
